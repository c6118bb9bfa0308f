// The commands of builder/docs/plain-clients.md, run with plain nats.js in the place of the nats command; prints a JSON list of answers.
import { parseArgs } from "node:util";
import { jetstream, jetstreamManager } from "@nats-io/jetstream";
import { connect, headers as emptyHeaders, nanos } from "@nats-io/transport-node";

const connection = await connect({ servers: process.env.NATS_URL });
const js = jetstream(connection);
const jsm = await jetstreamManager(connection);
const text = { type: "string" };
const flag = { type: "boolean" };

const COMMANDS = {
  "consumer add": {
    options: { pull: flag, filter: text, ack: text, deliver: text, wait: text, "max-deliver": text, replay: text, defaults: flag },
    run: ([stream, name], { pull, filter, ack, deliver, wait, "max-deliver": most, replay, defaults }) => {
      if (!pull || !defaults) throw new Error("the nats command would ask");
      const seconds = /^(\d+)s$/.exec(wait)[1];
      const config = { filter_subject: filter, ack_policy: ack, deliver_policy: deliver, replay_policy: replay, max_deliver: Number(most) };
      return jsm.consumers.add(stream, { durable_name: name, ...config, ack_wait: nanos(seconds * 1_000) });
    },
  },
  "consumer next": {
    options: { raw: flag },
    run: async ([stream, name]) => {
      const message = await (await js.consumers.get(stream, name)).next();
      await message.ackAck();
      return message.json();
    },
  },
  pub: {
    options: { header: { ...text, multiple: true }, jetstream: flag },
    run: ([subject, body], { header, jetstream: isAcknowledged }) => {
      const headers = emptyHeaders();
      for (const [, name, value] of header.map((each) => /^([^:]+):(.*)$/.exec(each))) headers.append(name, value);
      if (!isAcknowledged) throw new Error("the nats command would not wait for the stream");
      return js.publish(subject, body, { headers });
    },
  },
  request: {
    options: { raw: flag },
    run: async ([subject, body]) => (await connection.request(subject, body, { timeout: 30_000 })).json(),
  },
  "service info": { options: {}, run: async ([name]) => (await connection.request(`$SRV.INFO.${name}`)).json() },
  "service stats": { options: {}, run: async ([name]) => (await connection.request(`$SRV.STATS.${name}`)).json() },
};

/** Words as a POSIX shell splits them, with single quotes alone. */
const words = (line) => [...line.matchAll(/(?:'[^']*'|[^\s'])+/g)].map(([word]) => word.replaceAll("'", ""));

const answers = [];
for (const line of process.argv.slice(2)) {
  const [, ...rest] = words(line);
  const name = Object.keys(COMMANDS).find((each) => rest.join(" ").startsWith(`${each} `));
  const { options, run } = COMMANDS[name];
  const { values, positionals } = parseArgs({ args: rest.slice(name.split(" ").length), options, allowPositionals: true, strict: true });
  answers.push(await run(positionals, values));
}
await connection.close();
console.log(JSON.stringify(answers));
