// What the tests share: the client as it is packed, ajv over the schemas of the repository, and everything that goes over the wire.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import { connect } from "breadcrumb-context-builder";

export const URLS = { tcp: process.env.NATS_URL, websocket: process.env.NATS_WEBSOCKET };
const folder = new URL(`file://${process.env.SCHEMAS}/`);
const read = (name) => JSON.parse(readFileSync(new URL(name, folder), "utf8"));
const ajv = new Ajv2020({ strict: false, allErrors: true });
formats.default(ajv);
const bodies = new Map(
  readdirSync(folder).filter((name) => !["asyncapi.json", "profile.json"].includes(name)).map((name) => [name.slice(0, -5), ajv.compile(read(name))]),
);
const { components, channels } = read("asyncapi.json");

function valid(check, value, what) {
  assert.ok(check(value), `${what}: ${ajv.errorsText(check.errors)}`);
}

/** Each message that is heard must be as `schemas/` says. */
export async function watched(url) {
  const client = await connect(url, { workspace: "node" });
  const heard = [];
  const note = (_, message) => heard.push(message);
  for (const subject of ["breadcrumbs.node.>", "contexts.node.>", "requests.node.>"]) client.streams.connection.subscribe(subject, { callback: note });
  await client.streams.connection.flush();
  return {
    client,
    async checked(least) {
      await until(() => heard.length >= least, `${least} messages`);
      for (const message of heard) {
        const [head, , , ...schema] = message.subject.split(".");
        const value = message.json();
        if (head === "requests") {
          valid(ajv.compile({ components, ...channels[message.subject.split(".")[2]].messages.request.payload }), value, message.subject);
        } else if (head === "contexts") {
          valid(bodies.get("agent.context.v1"), value, message.subject);
        } else {
          valid(bodies.get("record"), value, message.subject);
          const body = bodies.get(schema.join("."));
          if (body) valid(body, value.context, message.subject);
        }
      }
      return heard.length;
    },
  };
}

/** An answer of the service must be as the AsyncAPI document says. */
export function checkAnswer(verb, answer) {
  valid(ajv.compile({ components, ...channels[`${verb}.reply`].messages.answer.payload }), answer, verb);
}

/** Waits for a condition. */
export async function until(condition, what) {
  for (let looks = 0; !(await condition()); looks++) {
    assert.ok(looks < 3000, `waited for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** The records of a session, by a request. */
export async function history(client, session) {
  const answer = await client.request("history", { session });
  checkAnswer("history", answer);
  return answer.breadcrumbs;
}
