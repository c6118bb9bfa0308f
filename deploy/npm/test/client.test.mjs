// The package against the real service, over TCP and over WebSocket.
import assert from "node:assert/strict";
import { test } from "node:test";
import { connect, Rejected, Unavailable } from "breadcrumb-context-builder";
import { sendReply } from "../dist/replies.js";
import { responseId } from "../dist/wire.js";
import { checkAnswer, history, until, URLS, watched } from "./support.mjs";

for (const [transport, url] of Object.entries(URLS)) {
  test(`a message is sent, asked about, answered once and found over ${transport}`, async () => {
    const { client, checked } = await watched(url);
    const session = `${transport} talk@example.com`;
    await client.remember("The kiln is K-4711.", { tags: ["kiln"] });
    const id = await client.send("user.message.v1", { content: "We bake rye bread." }, { session, userId: "ada", id: `${transport}-1` });
    assert.equal(await client.send("user.message.v1", { content: "We bake rye bread." }, { session, userId: "ada", id }), id);
    await assert.rejects(client.send("user.message.v1", { content: "Another text." }, { session, id }), /user_id, context\.content differ; take/);
    const context = await client.ask(session, "At what heat?", { id: `${transport}-2`, speaker: "Ada" });
    assert.match(context.content, /We bake rye bread\./);
    assert.equal(context.omitted.filter(({ shown }) => !shown).length, context.event.omissions.count);
    assert.ok(context.omitted.every(({ id, tokens }) => id && tokens > 0));
    assert.deepEqual([context.session, context.event.trigger_event_id], [session, `${transport}-2`]);
    assert.deepEqual((await client.ask(session, "At what heat?", { id: `${transport}-2`, speaker: "Ada" })).event, context.event);

    const found = (await client.search("Which rye bread?", { session, limit: 3 })).find((each) => each.id === id);
    assert.deepEqual([found.session, found.text, found.user_id], [session, "We bake rye bread.", "ada"]);
    for (const [verb, request] of [["fetch", { id }], ["consumers", {}], ["explain", { trigger: `${transport}-2` }], ["strip", { trigger: `${transport}-2` }]]) {
      checkAnswer(verb, await client.request(verb, request));
    }
    assert.ok((await checked(10)) >= 10);
    await client.close();
  });
}

test("every context is answered once by several agents at once, in the order of its session, also when the durable is lost", async () => {
  const { client, checked } = await watched(URLS.tcp);
  const agents = await Promise.all([1, 2].map(() => connect(URLS.tcp, { workspace: "node" })));
  const [stop, seen, sessions] = [new AbortController(), [], ["a", "b", "c", "d"]];
  const reply = (context) => {
    seen.push(context.event.trigger_event_id);
    if (context.content.includes("Hello 1.") && seen.length < 4) throw new Error("no model");
    return `You said: ${context.event.trigger_event_id}`;
  };
  const serving = agents.map((agent) => agent.serve("default", reply, { signal: stop.signal, parallel: 2, ackWait: 5_000 }));
  const { consumers } = await client.streams.manager;
  const isThere = () => consumers.info("CONTEXTS", "node=default").then(() => true, () => false);
  await until(isThere, "the durable");
  for (const number of [1, 2, 3]) {
    for (const session of sessions) {
      await client.send("user.message.v1", { content: `Hello ${number}.` }, { session: `once-${session}`, id: `${session}${number}` });
    }
    for (const session of sessions) {
      await until(async () => (await answers(client, `once-${session}`)).length >= number, `the answer to ${session}${number}`);
    }
    if (number === 2) {
      await consumers.delete("CONTEXTS", "node=default");
      await until(isThere, "the durable to be made again");
    }
  }
  for (const session of sessions) {
    const said = (await history(client, `once-${session}`)).map(({ text }) => text);
    assert.deepEqual(said, [1, 2, 3].flatMap((number) => [`Hello ${number}.`, `You said: ${session}${number}`]));
  }
  stop.abort();
  await Promise.all(serving);
  await checked(20);
  await Promise.all([client, ...agents].map((each) => each.close()));
});

test("of two answers to one context that are sent at once, and repeated, one is stored", async () => {
  const agents = await Promise.all([1, 2, 3].map(() => connect(URLS.tcp, { workspace: "node" })));
  const context = await agents[0].ask("race", "Who answers?", { id: "race-1" });
  for (const round of [1, 2]) await Promise.all(agents.map((agent, number) => sendReply(agent, context, `Agent ${number}, ${round}.`, {})));
  const said = await answers(agents[0], "race");
  assert.deepEqual(said.map(({ id, version }) => [id, version]), [[await responseId(context.id), 1]]);
  await Promise.all(agents.map((each) => each.close()));
});

test("a session has one context in work at a time, and a reply that was stored before its process died is found", async () => {
  const client = await connect(URLS.tcp, { workspace: "node" });
  const [stop, steps] = [new AbortController(), []];
  const { consumers } = await client.streams.manager;
  const inHand = async () => (await consumers.info("CONTEXTS", "node=default")).num_ack_pending;
  for (const user of ["ada", "ben"]) await client.ask("turns", `I am ${user}.`, { id: user, userId: user });
  const serving = client.serve("default", async (context) => {
    const name = context.event.trigger_event_id;
    steps.push(`${name} begins`);
    if (name === "ada") await until(async () => (await inHand()) >= 2, "both contexts");
    for (let looks = 0; looks < 10; looks++) await inHand();
    steps.push(`${name} ends`);
    await sendReply(client, context, `Hello ${name}.`, {});
    throw new Error("the process died");
  }, { signal: stop.signal });
  await until(async () => (await answers(client, "turns")).length === 2 && (await inHand()) === 0, "both answers to be settled");
  assert.deepEqual(steps, ["ada begins", "ada ends", "ben begins", "ben ends"]);
  stop.abort();
  await serving;
  await client.close();
});

test("what was asked while no agent ran is answered on one page", async () => {
  const client = await connect(URLS.tcp, { workspace: "node" });
  const [stop, pages] = [new AbortController(), []];
  for (const number of [1, 2]) await client.ask("behind", `Question ${number}?`, { id: `behind-${number}` });
  const serving = client.serve("default", (context) => (pages.push(context), "Both."), { signal: stop.signal });
  await until(async () => (await answers(client, "behind")).length, "the answer");
  await client.send("user.message.v1", { content: "Thank you." }, { session: "behind", id: "behind-3" });
  await until(async () => (await answers(client, "behind")).length === 2, "the answer to what came after");
  assert.deepEqual(pages.map(({ questions }) => questions), [["behind-1", "behind-2"], ["behind-3"]]);
  stop.abort();
  await serving;
  await client.close();
});

const answers = async (client, session) => (await history(client, session)).filter((each) => each.schema_name === "agent.response.v1");

test("a tool call has one result, and what a tool throws is the call's error", async () => {
  const { client, checked } = await watched(URLS.tcp);
  const stop = new AbortController();
  const calls = ["weather", "broken", "absent"].map((name, number) => ({
    id: `call-${number}`, type: "function", function: { name, arguments: '{"city": "Rome"}' },
  }));
  const tools = { weather: ({ city }) => `Rain in ${city}.`, broken: () => { throw new Error("no fuse"); } };
  const serving = client.serve("default", () => ({ choices: [{ message: { content: null, tool_calls: calls } }] }), { tools, signal: stop.signal });
  await client.send("user.message.v1", { content: "Does it rain?" }, { session: "tools", id: "t1" });
  const results = async () => (await history(client, "tools")).filter((each) => each.schema_name === "tool.response.v1");
  await until(async () => (await results()).length === 3, "three results");
  const endings = (await results()).map(({ context }) => [context.request_id, context.output ?? context.error]).sort();
  assert.deepEqual(endings, [
    ["call-0", "Rain in Rome."], ["call-1", "Error: no fuse"], ["call-2", "Rejected: there is no tool 'absent'; there are weather, broken"],
  ]);
  stop.abort();
  await serving;
  await checked(5);
  await client.close();
});

test("a context that fails too often is given up with a dead letter", async () => {
  const client = await connect(URLS.tcp, { workspace: "node" });
  const [stop, letters] = [new AbortController(), []];
  client.streams.connection.subscribe("deadletters.>", { callback: (_, message) => letters.push(message.json()) });
  const serving = client.serve("default", () => Promise.reject(new Error("no model")), { signal: stop.signal, attempts: 1 });
  await client.send("user.message.v1", { content: "Is there anybody?" }, { session: "failing", id: "f1" });
  await until(() => letters.length, "the dead letter");
  assert.match(letters[0].reason, /the agent 'default' gave up context .* of message 'f1': Error: no model/);
  stop.abort();
  await serving;
  await client.close();
});

test("what is wrong is said in the sentences of the Python client", async () => {
  const client = await connect(URLS.tcp, { workspace: "node" });
  await assert.rejects(client.ask("s", "Hello", { consumer: "nobody" }), (error) => error instanceof Rejected && /names the consumer 'nobody'; known are default/.test(error.message));
  await assert.rejects(client.send("no schema", {}, { session: "s" }), /schema name 'no schema' does not fit a NATS subject/);
  await assert.rejects(client.send("note.v1", { content: "x" }, { session: "" }), /session is an empty text/);
  await assert.rejects(client.send("note.v1", { content: "x" }, { session: "s", id: "two words" }), /id is 'two words'/);
  await assert.rejects(client.send("note.v1", { content: "x".repeat(2 ** 20) }, { session: "s" }), /bytes, allowed are 1048576/);
  await assert.rejects(client.search("x", { session: "s", userId: "u" }), /name one of `session` and `user_id`/);
  await assert.rejects(client.serve("default", () => "", { parallel: 0 }), /parallel is 0/);
  await assert.rejects(connect(URLS.tcp, { workspace: "a b" }), Rejected);
  await assert.rejects(connect(URLS.tcp, { name: "requests" }), /installation name 'requests' cannot be used/);
  await assert.rejects(connect("nats://127.0.0.1:1"), (error) => error instanceof Unavailable && /does a broker run there/.test(error.message));
  const other = await connect(URLS.tcp, { name: "other" });
  await assert.rejects(other.search("x"), /nobody answers on other\.requests\.default\.search; is the service up/);
  await Promise.all([client.close(), other.close()]);
});
