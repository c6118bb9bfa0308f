// src/types.ts out of schemas/asyncapi.json, which has every schema of the wire. `--check` writes nothing and fails if it is stale.
import { readFileSync, writeFileSync } from "node:fs";
import { compile } from "json-schema-to-typescript";

const text = readFileSync(new URL("../../schemas/asyncapi.json", import.meta.url), "utf8");
// "One of these fields is there" is a rule for validators; as types, its branches would contradict the fields.
const plain = (key, value) => (key === "anyOf" && value.every(({ required }) => required) ? undefined : value);
const { channels, components } = JSON.parse(text.replaceAll("#/components/schemas/", "#/definitions/"), plain);
const name = (payload) => payload.$ref.split("/").at(-1);
const requests = Object.values(channels)
  .filter(({ address }) => address?.startsWith("requests."))
  .map(({ address, messages }) => {
    const request = address.split(".")[2];
    return `  ${request}: { request: ${name(messages.request.payload)}; answer: ${name(channels[`${request}.reply`].messages.answer.payload)} };`;
  });
const bodies = Object.entries(channels.breadcrumbs.messages)
  .filter(([, { payload }]) => payload.allOf)
  .map(([schema, { payload }]) => `  "${schema}": ${name(payload.allOf[1].properties.context)};`);
const types = await compile({ title: "Unused", definitions: components.schemas }, "Unused", {
  additionalProperties: false, unreachableDefinitions: true, bannerComment: "", format: true, style: { printWidth: 130 },
});
const own = types
  .replace(/export (?:interface|type) Unused[^}]*}\n/, "")
  .replaceAll(/(?: \*\n)? \* This interface was referenced by `Unused`'s JSON-Schema\n \* via the `definition` "\w+".\n/g, "")
  .replaceAll("/**\n */\n", "");
const file = new URL("src/types.ts", import.meta.url);
const source = `// Made by types.mjs from schemas/asyncapi.json: change it there.
${own}
/** Name of a request → its body and its answer. */
export interface Requests {
${requests.join("\n")}
}

/** Schema of a breadcrumb → its body. */
export interface Bodies {
${bodies.join("\n")}
}
`;
if (!process.argv.includes("--check")) writeFileSync(file, source);
else if (readFileSync(file, "utf8") !== source) throw new Error("src/types.ts is stale: run `npm run types`");
