/** The streams: breadcrumbs published and read, contexts read, the durable of an agent. */

import { DeliverPolicy, jetstream, JetStreamApiCodes, JetStreamApiError, jetstreamManager, type MsgRequest } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/nats-core";
import { checkSchema, checkToken, Conflict, differing, messageId, Rejected, Unavailable, type Json } from "./wire.js";

/** A breadcrumb as the stream has it; `record` is empty where it is no JSON object. */
export type Stored = { subject: string; sequence: number; record: Json };

const MAX_BODY_BYTES = 1_048_576;
const HEADER_BYTES = 2_048;
const isCode = (error: unknown, code: number) => error instanceof JetStreamApiError && error.code === code;

/** What else than our errors happens, as `Unavailable`. */
export async function translated<T>(what: string, remedy: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Rejected || error instanceof Unavailable) throw error;
    throw new Unavailable(`${what}: ${error instanceof Error ? error.message : error}; ${remedy}`, { cause: error });
  }
}

/** Repeated while broker or service are away, until the signal. */
export async function patiently<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  for (let number = 0; ; number++) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Unavailable) || signal?.aborted) throw error;
      await pause(Math.min(500 * 2 ** number, 2_000), signal);
    }
  }
}

/** Ends with the time or with the signal. */
export const pause = (milliseconds: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const end = () => (clearTimeout(timer), signal?.removeEventListener("abort", end), resolve());
    const timer = setTimeout(end, milliseconds);
    signal?.addEventListener("abort", end);
    if (signal?.aborted) end();
  });

export class Streams {
  private readonly manager;

  constructor(readonly connection: NatsConnection, readonly workspace: string, readonly prefix: { subject: string; stream: string }) {
    this.manager = jetstreamManager(connection, { checkAPI: false });
  }

  subject(session: string, schema: string): string {
    return `${this.prefix.subject}breadcrumbs.${this.workspace}.${checkToken(session, "session")}.${schema}`;
  }

  name(kind: "BREADCRUMBS" | "CONTEXTS"): string {
    return this.prefix.stream + kind;
  }

  /** Returns after the acknowledgement. last: sequence of the subject's newest message, another one is a `Conflict`. */
  async publish(record: Json, ownClock: boolean, last?: number): Promise<void> {
    const { id, version, session, schema_name } = record;
    if (!/^[^\s\x00-\x1f\x7f]{1,256}$/.test(id)) throw new Rejected(`id is '${id}'; give 1 to 256 characters without spaces`);
    const subject = this.subject(session, checkSchema(schema_name));
    const data = new TextEncoder().encode(JSON.stringify(record));
    const limit = Math.min(MAX_BODY_BYTES, this.connection.info!.max_payload - HEADER_BYTES);
    if (data.length > limit) {
      throw new Rejected(`the breadcrumb has ${data.length} bytes, allowed are ${limit}; send a link to the large part`);
    }
    const expect = { streamName: this.name("BREADCRUMBS"), ...(last === undefined ? {} : { lastSubjectSequence: last }) };
    const options = { msgID: messageId(this.workspace, id, version), expect };
    const ack = await translated(`publishing on ${subject} failed`, "is the service up on this broker?", () =>
      jetstream(this.connection).publish(subject, data, options).catch((error: unknown) => {
        if (!isCode(error, JetStreamApiCodes.StreamWrongLastSequence)) throw error;
        throw new Conflict(`another message came on ${subject} meanwhile; send it again`);
      }),
    );
    if (ack.duplicate) checkSame(options.msgID, record, subject, await this.get({ seq: ack.seq }), ownClock);
  }

  async get(query: { seq: number } | { last_by_subj: string } | { seq: number; next_by_subj: string }): Promise<Stored | null> {
    const stream = this.name("BREADCRUMBS");
    return translated(`reading ${stream} failed`, "has the service run once on this broker?", async () => {
      const message = await (await this.manager).streams.getMessage(stream, query as MsgRequest);
      return message && { subject: message.subject, sequence: message.seq, record: object(message.data) };
    });
  }

  /** Sequence of the newest message of a subject, of the stream without one; 0 = none. */
  async last(subject = ""): Promise<number> {
    if (subject) return (await this.get({ last_by_subj: subject }))?.sequence ?? 0;
    return (await (await this.manager).streams.info(this.name("BREADCRUMBS"))).state.last_seq;
  }

  /** First versions on a subject after a sequence, in order. */
  async *after(subject: string, sequence: number): AsyncGenerator<Stored> {
    for (let there; (there = await this.get({ seq: sequence + 1, next_by_subj: subject })); sequence = there.sequence) {
      if ((there.record["version"] ?? 1) === 1) yield there;
    }
  }

  /** The newest context on a subject; null = none. */
  async context(subject: string) {
    return translated(`reading ${subject} failed`, "has the service run once on this broker?", async () =>
      (await this.manager).direct.getMessage(this.name("CONTEXTS"), { last_by_subj: subject }),
    );
  }

  /** The pull consumer of an agent's durable. since: where one begins that is made now; none = with new contexts. */
  async durable(consumer: string, ackWait: number, since?: Date) {
    const [name, stream] = [`${this.workspace}=${checkToken(consumer, "consumer")}`, this.name("CONTEXTS")];
    const filter = `${this.prefix.subject}contexts.${this.workspace}.${consumer}.>`;
    const start = since ? { deliver_policy: DeliverPolicy.StartTime, opt_start_time: since.toISOString() } : { deliver_policy: DeliverPolicy.New };
    const kept = { filter_subject: filter, ack_policy: "explicit" as const, ack_wait: ackWait * 1e6, max_deliver: -1 };
    return translated(`could not subscribe to ${filter}`, "has the service run once on this broker?", async () => {
      const { consumers } = await this.manager;
      const { config } = await consumers.info(stream, name).catch((error: unknown) => {
        if (!isCode(error, JetStreamApiCodes.ConsumerNotFound)) throw error;
        return consumers.add(stream, { durable_name: name, ...kept, ...start });
      });
      if (config.filter_subject !== filter) {
        throw new Unavailable(`the durable ${name} hears ${config.filter_subject ?? "everything"}, wanted is ${filter}; delete it`);
      }
      if (config.ack_wait !== kept.ack_wait) await consumers.update(stream, name, { ack_wait: kept.ack_wait });
      return jetstream(this.connection).consumers.get(stream, name);
    });
  }
}

function checkSame(identity: string, record: Json, subject: string, there: Stored | null, ownClock: boolean): void {
  if (!there) {
    throw new Rejected(`${identity} was not published: the stream had a message with this id, which was deleted since; take another id`);
  }
  const fields = there.subject === subject ? differing(record, there.record, ownClock ? ["created_at"] : []) : ["the subject"];
  if (!fields.length) return;
  throw new Rejected(
    `${identity} was not published: the stream already has a breadcrumb with this id, on ${there.subject} as sequence ` +
      `${there.sequence}, and ${fields.join(", ")} differ; take another id, or publish the next version`,
  );
}

function object(data: Uint8Array): Json {
  try {
    return Object(JSON.parse(new TextDecoder().decode(data)));
  } catch {
    return {};
  }
}
