/** The streams: breadcrumbs published, contexts read, the durable of an agent; requests to the service. */

import { jetstream, JetStreamApiCodes, JetStreamApiError, jetstreamManager } from "@nats-io/jetstream";
import { NoRespondersError, TimeoutError, type NatsConnection } from "@nats-io/nats-core";
import type { Requests } from "./types.js";
import { checkSchema, checkToken, Conflict, messageId, Rejected, Unavailable, type Json } from "./wire.js";

const MAX_BODY_BYTES = 1_048_576;
const HEADER_BYTES = 2_048;
const REQUEST_MS = 60_000;
/** Before an agent's first start: what it answers that nobody answers. */
const RECENT_SECONDS = 300;
/** Requests of an agent: the consumer ends their subject, so that rights name it. */
const OF_AGENT: ReadonlySet<keyof Requests> = new Set(["durable", "fail", "refresh", "responses"]);
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

/** Repeated while broker or service are away, until the signal. who: says once on the console that it waits. */
export async function patiently<T>(work: () => Promise<T>, signal?: AbortSignal, who?: string): Promise<T> {
  for (let number = 0; ; number++) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Unavailable) || signal?.aborted) throw error;
      if (who && number === 0) console.warn(`${who} waits: ${error.message}`);
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
    if (ack.duplicate) checkSame(options.msgID, ack.seq, await this.request("difference", { record, sequence: ack.seq, own_clock: ownClock }));
  }

  /** The newest context on a subject; null = none. */
  async context(subject: string) {
    return translated(`reading ${subject} failed`, "has the service run once on this broker?", async () =>
      (await this.manager).direct.getMessage(this.name("CONTEXTS"), { last_by_subj: subject }),
    );
  }

  /** The pull consumer of an agent's durable, which the service makes. since: where one begins that is made now; none = five minutes ago. */
  async durable(consumer: string, ackWait: number, since?: Date) {
    const [name, stream] = [`${this.workspace}=${checkToken(consumer, "consumer")}`, this.name("CONTEXTS")];
    const filter = `${this.prefix.subject}contexts.${this.workspace}.${consumer}.>`;
    const beginning = since ? { since: since.toISOString() } : { seconds: RECENT_SECONDS };
    const make = () => this.request("durable", { consumer, ack_wait: ackWait / 1_000, ...beginning });
    return translated(`could not subscribe to ${filter}`, "has the service run once on this broker?", async () => {
      const { consumers } = await this.manager;
      const there = await consumers.info(stream, name).catch((error: unknown) => {
        if (!isCode(error, JetStreamApiCodes.ConsumerNotFound)) throw error;
        return null;
      });
      if (there && there.config.filter_subject !== filter) {
        throw new Unavailable(`the durable ${name} hears ${there.config.filter_subject ?? "everything"}, wanted is ${filter}; delete it`);
      }
      const made = !there ? await make() : there.config.ack_wait === ackWait * 1e6 ? null : await make().catch(() => null);
      return { pull: await jetstream(this.connection).consumers.get(stream, name), madeNow: made?.made_at ? new Date(made.made_at) : null };
    });
  }

  /** Any request of the protocol; sessions in it and in its answer are tokens. */
  async request<N extends keyof Requests>(name: N, body: Requests[N]["request"], timeout = REQUEST_MS): Promise<Requests[N]["answer"]> {
    const { connection, prefix, workspace } = this;
    const own = OF_AGENT.has(name) && "consumer" in body && body.consumer ? `.${checkToken(body.consumer, "consumer")}` : "";
    const subject = `${prefix.subject}requests.${workspace}.${name}${own}`;
    const reply = await translated(`asking on ${subject} failed`, "is the service up on this broker?", () =>
      connection.request(subject, JSON.stringify(body), { timeout }).catch((error: Error) => {
        const cause = error.cause ?? error;
        if (cause instanceof NoRespondersError) throw new Unavailable(`nobody answers on ${subject}; is the service up on this broker?`);
        if (!(cause instanceof TimeoutError)) throw error;
        const within = `within ${timeout / 1_000} s`;
        throw new Unavailable(`no answer came on ${subject} ${within}; is the connection to the broker there, is the service busy?`);
      }),
    );
    const answer = reply.json<Json>();
    if ("error" in answer) throw new (answer["kind"] === "rejected" ? Rejected : Unavailable)(answer["error"]);
    return answer as Requests[N]["answer"];
  }
}

function checkSame(identity: string, sequence: number, { is_there, fields, subject }: Requests["difference"]["answer"]): void {
  if (!is_there) {
    throw new Rejected(`${identity} was not published: the stream had a message with this id, which was deleted since; take another id`);
  }
  if (!fields) return;
  throw new Rejected(
    `${identity} was not published: the stream already has a breadcrumb with this id, on ${subject} as sequence ` +
      `${sequence}, and ${fields} differ; take another id, or publish the next version`,
  );
}
