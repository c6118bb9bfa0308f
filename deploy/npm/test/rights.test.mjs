// An agent and a front end with the rights of the page about permissions, and not one more.
import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { connect } from "breadcrumb-context-builder";
import { history, until } from "./support.mjs";

const as = (user, options = {}) => connect(process.env.NATS_URL, { workspace: "acme", user, pass: "secret", inboxPrefix: `_INBOX.${user}`, ...options });

test("an agent with the printed rights serves, by a durable that the service makes for it", async () => {
  const administrator = await connect(process.env.NATS_URL, { workspace: "acme", user: "administrator", pass: "secret" });
  const [agent, web, stop] = [await as("weather"), await as("web"), new AbortController()];
  const refused = [];
  (async () => {
    for await (const { type, error } of agent.streams.connection.status()) if (type === "error") refused.push(String(error));
  })();
  const tools = { sky: () => "grey" };
  const call = { id: "call-1", type: "function", function: { name: "sky", arguments: "{}" } };
  const reply = ({ content }) => (content.includes("And now?") ? "It rains." : { choices: [{ message: { content: null, tool_calls: [call] } }] });
  const serving = agent.serve("weather", reply, { signal: stop.signal, tools });
  const texts = async () => (await history(administrator, "s1")).map(({ text }) => text);
  await web.send("user.message.v1", { content: "Is it raining?" }, { session: "s1", id: "n1" });
  await until(async () => (await texts()).includes("sky grey"), "the tool's result");
  await web.send("user.message.v1", { content: "And now?" }, { session: "s1", id: "n2" });
  await until(async () => (await texts()).includes("It rains."), "the answer");
  const { consumers } = await administrator.streams.manager;
  const { config } = await consumers.info("CONTEXTS", "acme=weather");
  assert.deepEqual([config.filter_subject, config.deliver_subject], ["contexts.acme.weather.>", undefined]);
  const own = await agent.streams.manager;
  await assert.rejects(own.consumers.add("CONTEXTS", { durable_name: "acme=weather", filter_subject: "contexts.acme.weather.>" }), /[Pp]ermission/);
  assert.deepEqual(refused.filter((each) => !each.includes("CONSUMER")), []);
  stop.abort();
  await serving;
  await Promise.all([agent, web, administrator].map((each) => each.close()));
});

test("without a service an agent waits, says so once, and ends with its signal", async () => {
  const [stop, warn] = [new AbortController(), mock.method(console, "warn", () => {})];
  const agent = await as("administrator", { name: "nobody" });
  const serving = agent.serve("weather", () => "", { signal: stop.signal });
  await until(() => warn.mock.callCount(), "a warning");
  assert.match(warn.mock.calls[0].arguments[0], /^the agent 'weather' waits: could not subscribe to nobody\.contexts\.acme\.weather\.>/);
  stop.abort();
  await assert.rejects(serving, /has the service run once on this broker/);
  assert.equal(warn.mock.callCount(), 1);
  warn.mock.restore();
  await agent.close();
});
