/** `connect`, and a client that sends, asks, serves and searches within one workspace. */

import { wsconnect, type ConnectionOptions, type Msg } from "@nats-io/nats-core";
import { readContext, type Context } from "./context.js";
import { serve, type Handler, type ServeOptions } from "./serve.js";
import { pause, Streams, translated } from "./stream.js";
import type { Bodies, SearchResult, Requests } from "./types.js";
import { canonical, checkToken, contextId, prefixes, Rejected, sessionText, sessionToken, Unavailable, type Json } from "./wire.js";

const REQUEST_MS = 60_000;
const LOOK_MS = 1_000;

/** Of nats.js; `name` is the installation's `CONTEXT_BUILDER_NAME`. */
export type ConnectOptions = Omit<ConnectionOptions, "servers"> & { workspace?: string };

export interface MessageOptions {
  /** Default new; repeating one is safe. */
  id?: string;
  /** Your id of the person. */
  userId?: string;
  tags?: string[];
  /** Seconds, or the end; default by kind. */
  ttl?: number | Date;
  createdAt?: Date;
  /** false = not in the person's memory. */
  memory?: boolean;
}

/** session: any text, `_` = none. version: last + 1 replaces, only the first triggers. to: agents, default everybody. */
export type SendOptions = MessageOptions & { session: string; version?: number; to?: string[] };

/** timeout: milliseconds. */
export type AskOptions = MessageOptions & { consumer?: string; speaker?: string; timeout?: number };

/** Without session and user, the workspace. before: a stream sequence. schemas: default those of the profile `default`. */
export type SearchOptions = { session?: string; userId?: string; limit?: number; before?: number; schemas?: string[] };

/** Connected, then reconnecting without limit; by WebSocket where the URLs are `ws:` or `wss:`. Throws `Unavailable`, `Rejected`. */
export async function connect(servers: string | string[] = "nats://127.0.0.1:4222", options: ConnectOptions = {}): Promise<Client> {
  const { workspace = "default", name = "context-builder", ...rest } = options;
  const prefix = prefixes(name);
  checkToken(workspace, "workspace");
  const settings = { maxReconnectAttempts: -1, reconnectTimeWait: 250, timeout: 2_500, ...rest, servers };
  const isWeb = [servers].flat().every((server) => /^wss?:/.test(server));
  const connection = await translated(`no connection to ${servers}`, "does a broker run there?", async () =>
    isWeb ? wsconnect(settings) : (await import("@nats-io/transport-node")).connect(settings),
  );
  return new Client(new Streams(connection, workspace, prefix));
}

export class Client {
  constructor(readonly streams: Streams) {}

  async close(): Promise<void> {
    await this.streams.connection.close();
  }

  /** Publish a breadcrumb of any schema; returns its id after the stream's acknowledgement. */
  async send<S extends string>(schema: S, body: S extends keyof Bodies ? Bodies[S] : Json, options: SendOptions): Promise<string> {
    const record = await makeRecord(schema, body, options);
    await this.streams.publish(record, options.createdAt === undefined);
    return record["id"];
  }

  /** Publish a `note.v1`; returns its id. Without a session every session finds it. */
  async remember(note: string, options: Partial<SendOptions> = {}): Promise<string> {
    return this.send("note.v1", { content: note }, { ...options, session: options.session ?? "_" });
  }

  /** Publish a `user.message.v1` and return the consumer's context, which its agent gets, too. To wait again, repeat the id. */
  async ask(session: string, content: string, options: AskOptions = {}): Promise<Context> {
    const { consumer = "default", timeout = REQUEST_MS, speaker, ...rest } = options;
    const record = await makeRecord("user.message.v1", { content, ...(speaker ? { speaker } : {}) }, { ...rest, session });
    await this.checkTriggers(checkToken(consumer, "consumer"));
    const { workspace, connection, prefix } = this.streams;
    const id = await contextId(workspace, record["session"], record["id"], consumer);
    const subject = `${prefix.subject}contexts.${workspace}.${consumer}.${record["session"]}.${id}`;
    const arrival = new AbortController();
    let heard: Msg | undefined;
    const subscription = connection.subscribe(subject, { callback: (_, message) => ((heard = message), arrival.abort()) });
    try {
      if (!options.id || !(await this.isThere(record))) await this.streams.publish(record, options.createdAt === undefined);
      for (const end = Date.now() + timeout; Date.now() < end; await pause(Math.min(LOOK_MS, end - Date.now()), arrival.signal)) {
        const stored = heard ? null : await this.streams.context(subject);
        const message = stored ? { data: stored.data, headers: stored.header } : heard;
        if (message) return await readContext(message.data, message.headers, workspace, consumer);
      }
    } finally {
      subscription.unsubscribe();
    }
    throw new Unavailable(
      `${record["id"]} was sent, and no context for '${consumer}' came within ${timeout / 1_000} s; look at \`context-builder ` +
        "dead-letters list` and `context-builder doctor`",
    );
  }

  /** Passages of a session, of what was said by and to a user, or of the workspace; the most probable first. */
  async search(text: string, options: SearchOptions = {}): Promise<SearchResult[]> {
    const { session, userId: user_id, limit, before, schemas } = options;
    const scope = { session: session ? await sessionToken(session) : "", user_id };
    const { passages } = await this.request("search", { text, ...scope, limit, before, schemas });
    return Promise.all(passages.map(async (each) => ({ ...each, session: await sessionText(each.session) })));
  }

  /** Answer a consumer's contexts, each once, until the signal; unanswered ones go to another process. */
  async serve(consumer: string, handler: Handler, options: ServeOptions = {}): Promise<void> {
    await serve(this, consumer, handler, options);
  }

  /** Any request of the protocol; sessions in it and in its answer are tokens. */
  async request<N extends keyof Requests>(name: N, body: Requests[N]["request"], timeout?: number): Promise<Requests[N]["answer"]> {
    return this.streams.request(name, body, timeout);
  }

  private async isThere(record: Json): Promise<boolean> {
    try {
      const there = await this.request("fetch", { id: record["id"], version: 1 });
      return there.session === record["session"] && canonical(there.context) === canonical(record["context"]);
    } catch (error) {
      if (error instanceof Rejected) return false;
      throw error;
    }
  }

  private async checkTriggers(name: string): Promise<void> {
    const { consumers } = await this.request("consumers", {}, 5_000);
    const triggers = consumers.find((consumer) => consumer.name === name)?.triggers;
    const known = consumers.map((consumer) => consumer.name).sort().join(", ") || "none";
    if (!triggers) {
      throw new Rejected(`no profile of the service names the consumer '${name}'; known are ${known}: add a profile, or take one`);
    }
    if (triggers.some((trigger) => typeof trigger === "object" || trigger === "user.message.v1")) return;
    if (!triggers.length) throw new Rejected(`no contexts come for '${name}': its profile has no triggers; add one`);
    const names = triggers.join(", ");
    throw new Rejected(`no context comes for '${name}' on a user.message.v1: its profile has the triggers ${names}; add it there`);
  }
}

/** A breadcrumb's record. Throws `Rejected` for an invalid session. */
export async function makeRecord(schema: string, body: Json, options: SendOptions): Promise<Json> {
  const { id = crypto.randomUUID(), version = 1, userId, tags, ttl, createdAt = new Date(), memory = true, to } = options;
  return {
    id, schema_name: schema, version, session: await sessionToken(options.session), context: body, created_at: createdAt.toISOString(),
    ...(userId ? { user_id: userId } : {}), ...(tags?.length ? { tags } : {}), ...(memory ? {} : { memory }), ...(to?.length ? { to } : {}),
    ...(ttl === undefined ? {} : { ttl: ttl instanceof Date ? ttl.toISOString() : ttl }),
  };
}
