/** An agent's loop: many sessions at once, one context of each at a time, each answered once. */

import type { ConsumerMessages, JsMsg } from "@nats-io/jetstream";
import type { Client } from "./client.js";
import { contextOf, readContext, type Context } from "./context.js";
import { AnsweredMeanwhile, MAX_ERROR_CHARS, readAnswers, runTools, sendReply, type ReplyOptions } from "./replies.js";
import { patiently, pause } from "./stream.js";
import { Rejected, Unavailable } from "./wire.js";

/** Context → a text, a model's message or completion; nothing = no answer. */
export type Handler = (context: Context) => unknown;

export interface ServeOptions extends ReplyOptions {
  /** Sessions at once. */
  parallel?: number;
  /** Deliveries of a failing context, after growing pauses; then a dead letter. */
  attempts?: number;
  /** Milliseconds until the contexts of a dead process return. */
  ackWait?: number;
  /** Ends the loop: unanswered contexts go to another process. */
  signal?: AbortSignal;
}

const PAUSES = [500, 1_000, 2_000, 4_000, 8_000, 15_000, 30_000];
const REFRESH = [1_000, 2_000, 4_000, 8_000, 16_000, 60_000];
const EXPIRES = 5_000;
/** Contexts in hand, for each session at once. */
const WAITING = 16;

export async function serve(client: Client, consumer: string, handler: Handler, options: ServeOptions): Promise<void> {
  const { parallel = 8, attempts = 8, ackWait = 15_000, signal = new AbortController().signal } = options;
  if (Math.min(parallel, attempts) < 1 || ackWait <= 0) {
    throw new Rejected(`parallel is ${parallel}, attempts ${attempts}, ackWait ${ackWait}; give numbers above 0`);
  }
  const slot = slots(parallel);
  const held = new Map<JsMsg, Promise<void>>();
  const sessions = new Map<string, Promise<void>>();
  const { connection } = client.streams;
  let madeAt: Date | null = null;
  const settle = (how: (message: JsMsg) => void) => connection.isClosed() || held.forEach((_, message) => how(message));
  const beat = setInterval(() => settle((message) => message.working()), ackWait / 3);

  async function take(message: JsMsg): Promise<void> {
    const context = await readContext(message.data, message.headers, client.streams.workspace, consumer).catch(console.warn);
    if (!context) return message.term();
    const before = sessions.get(context.session) ?? Promise.resolve();
    const done = before.then(() => slot(() => answer(message, context))).catch(console.warn).finally(() => {
      held.delete(message);
      if (sessions.get(context.session) === done) sessions.delete(context.session);
    });
    held.set(message, done);
    sessions.set(context.session, done);
  }

  async function answer(message: JsMsg, context: Context): Promise<void> {
    const number = message.info.deliveryCount;
    try {
      if (!signal.aborted) await work(client, context, number > 1, madeAt, handler, { ...options, signal });
    } catch (error) {
      if (signal.aborted) return;
      console.warn(`context ${context.id} failed, attempt ${number} of ${attempts}: ${error}`);
      const giveUp = () => client.request("fail", { ...names(context), error: String(error).slice(0, MAX_ERROR_CHARS) });
      const letter = number < attempts ? undefined : await giveUp().catch(console.warn);
      if (!letter) return message.nak(PAUSES[Math.min(number, PAUSES.length) - 1]);
    }
    if (!signal.aborted) message.ack();
  }

  try {
    for (let since: Date | undefined; !signal.aborted; ) {
      const { pull, madeNow } = await patiently(() => client.streams.durable(consumer, ackWait, since), signal, `the agent '${consumer}'`);
      if (!since) madeAt = madeNow;
      try {
        while (!signal.aborted) {
          since = new Date(); // where a durable begins that is made again
          const free = parallel * WAITING - held.size;
          if (free > 0) await fetched(await pull.fetch({ max_messages: free, expires: EXPIRES }), take, signal);
          else await Promise.race([...held.values(), pause(EXPIRES, signal)]);
        }
      } catch (error) {
        if (connection.isClosed()) {
          throw new Unavailable("the connection to the broker was closed, so no context comes any more; connect again", { cause: error });
        }
        await pause(PAUSES[0]!, signal);
      }
    }
  } finally {
    clearInterval(beat);
    settle((message) => message.nak());
    if (!connection.isClosed()) await connection.flush();
  }
}

async function fetched(messages: ConsumerMessages, take: (message: JsMsg) => Promise<void>, signal: AbortSignal): Promise<void> {
  const stop = () => messages.stop();
  signal.addEventListener("abort", stop);
  if (signal.aborted) stop();
  for await (const message of messages) await take(message);
  signal.removeEventListener("abort", stop);
}

/** madeAt: when the durable was made now; what was asked before is answered where nobody does. */
async function work(client: Client, context: Context, isRepeat: boolean, madeAt: Date | null, handler: Handler, options: ServeOptions): Promise<void> {
  const { signal, tools } = options;
  const isEarlier = madeAt !== null && new Date(context.event.assembled_at) < madeAt;
  if (isEarlier && !context.questions.includes(context.event.trigger_event_id)) return;
  const { own, hasGoneOn, isAnsweredByOthers } = await patiently(() => readAnswers(client, context), signal);
  if (isRepeat && own && tools) await runTools(client, context, own, tools);
  if ((isRepeat && own) || (isEarlier && (own || isAnsweredByOthers))) return;
  let page: Context | null = context;
  if (!page.event.is_over && hasGoneOn) page = await refreshed(client, context, signal);
  while (page && !page.event.is_over) {
    const current: Context = page;
    const reply = await handler(current);
    if (reply === undefined || reply === null || signal?.aborted) return;
    try {
      return await patiently(() => sendReply(client, current, reply, options), signal);
    } catch (error) {
      if (!(error instanceof AnsweredMeanwhile)) throw error;
      page = await refreshed(client, context, signal);
      if (page && String(page.questions) === String(current.questions)) throw error;
    }
  }
}

/** The page with what came since; null = it cannot be built. */
async function refreshed(client: Client, context: Context, signal?: AbortSignal): Promise<Context | null> {
  let number = 0;
  try {
    const build = () => client.request("refresh", names(context), REFRESH[Math.min(number++, REFRESH.length - 1)]);
    return await contextOf(await patiently(build, signal), client.streams.workspace, context.event.consumer_id);
  } catch (error) {
    if (!(error instanceof Rejected)) throw error;
    console.warn(`context ${context.id} is left without an answer: ${error.message}`);
    return null;
  }
}

const names = ({ event: { consumer_id: consumer, trigger_event_id: trigger, session_id: session } }: Context) => ({ consumer, trigger, session });

/** Runs so much work at once; the rest waits in order. */
function slots(free: number): (work: () => Promise<void>) => Promise<void> {
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else free += 1;
    }
  };
}
