/** Answers to contexts: each is stored once, and each tool call has one result, whoever repeats or crashes. */

import { makeRecord, type Client } from "./client.js";
import type { Context } from "./context.js";
import { patiently } from "./stream.js";
import { Conflict, Rejected, responseId, resultId, Unavailable, type Json } from "./wire.js";

/** Name → function of the call's arguments; what it throws becomes the call's error. */
export type Tools = { [name: string]: (input: any, context: Context) => unknown };
type Call = { tool: string; input: unknown; requestId: string };
/** done: ids of the calls that have a result. */
type Response = { id: string; calls: Call[]; done: Set<string> };

/** tools: none = calls are published, and run by somebody else. speaker: name on pages. */
export type ReplyOptions = { tools?: Tools; speaker?: string; tags?: string[] };

/** A part of the context's questions was answered on another one. */
export class AnsweredMeanwhile extends Rejected {}

const MAX_ATTEMPTS = 50;
export const MAX_ERROR_CHARS = 10_000;

/** Store an answer once, or find the stored one; then run its open calls. */
export async function sendReply(client: Client, context: Context, reply: unknown, options: ReplyOptions): Promise<void> {
  const { body: said, calls } = readReply(reply);
  const body: Json = {
    ...said, trigger_event_id: context.event.trigger_event_id, creator: { type: "agent", agent_id: context.agent },
    speaker: options.speaker ?? "Assistant", step: 1,
    ...(calls.length ? { tool_requests: calls } : {}), ...(context.questions.length ? { questions: context.questions } : {}),
  };
  const id = await responseId(context.id);
  const record = await makeRecord("agent.response.v1", body, { session: context.session, id, tags: options.tags });
  const response = await store(client, context, record);
  if (response && options.tools) await runTools(client, context, response, options.tools);
}

/** null = everything was answered on another context. Throws `AnsweredMeanwhile` where a part was. */
async function store(client: Client, context: Context, record: Json): Promise<Response | null> {
  const trigger = context.event.trigger_event_id;
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const { own, others, forgotten, last } = await readAnswers(client, context);
    if (own) return own;
    const [answered, all] = [context.questions.filter((id) => others.has(id)).length, context.questions.length];
    if (answered && answered === all) return null;
    if (answered) throw new AnsweredMeanwhile(`${answered} of the ${all} messages that context ${context.id} answers were answered meanwhile`);
    if (forgotten.has(trigger)) throw new Rejected(`the message ${trigger} was deleted meanwhile; nothing answers it`);
    try {
      await client.streams.publish(record, true, last);
      return { id: record["id"], calls: record["context"].tool_requests ?? [], done: new Set() };
    } catch (error) {
      if (!(error instanceof Conflict)) throw error;
    }
  }
  throw new Unavailable(
    `the response to ${trigger} was not stored in ${MAX_ATTEMPTS} attempts, because other responses come in session ` +
      `'${context.session}' all the time; send it again`,
  );
}

/** The agent's answer to a context, the messages that it answered on others, what was forgotten, and the session's end. */
export async function readAnswers(client: Client, { event, agent }: Context) {
  const answer = await client.request("responses", {
    agent, consumer: event.consumer_id, session: event.session_id, trigger: event.trigger_event_id, trigger_seq: event.trigger_seq,
  });
  const [first] = answer.responses;
  const own: Response | undefined = first && { id: first.id, calls: first.tool_requests as Call[], done: new Set(Object.keys(first.results ?? {})) };
  return {
    own, others: new Set(Object.keys(answer.others)), forgotten: new Set(answer.forgotten), last: answer.last,
    isAnsweredByOthers: answer.is_answered_by_others, hasGoneOn: answer.has_gone_on,
  };
}

/** Run the calls of a response that have no result, side by side, and publish each result once. */
export async function runTools(client: Client, context: Context, response: Response, tools: Tools): Promise<void> {
  const open = response.calls.filter((call) => !response.done.has(call.requestId));
  await Promise.all(open.map(async ({ tool, input, requestId }) => {
    const options = { session: context.session, id: await resultId(response.id, requestId) };
    const send = (ending: Json) =>
      patiently(() => client.send("tool.response.v1", { tool, request_id: requestId, ...ending }, options));
    try {
      await send({ status: "success", output: (await run(tools, tool, input, context)) ?? null });
    } catch (error) {
      if ((await readAnswers(client, context)).own?.done.has(requestId)) return;
      await send({ status: "error", error: String(error).slice(0, MAX_ERROR_CHARS) });
    }
  }));
}

async function run(tools: Tools, name: string, input: unknown, context: Context): Promise<unknown> {
  const tool = Object.hasOwn(tools, name) ? tools[name] : undefined;
  if (!tool) throw new Rejected(`there is no tool '${name}'; there are ${Object.keys(tools).join(", ") || "none"}`);
  if (!input || typeof input !== "object") throw new Rejected(`the arguments of ${name} are ${JSON.stringify(input)}; send one JSON object`);
  return tool(input, context);
}

type Reply = { body: Json; calls: Call[] };

/**
 * A text, or a message or whole answer of any vendor. Its own shape is sent, and the service reads it; here only the calls are read that
 * run here: those without a result.
 */
function readReply(reply: any): Reply {
  if (typeof reply === "string") return { body: { message: reply }, calls: [] };
  const message = reply?.choices?.[0]?.message ?? reply?.candidates?.[0]?.content ?? reply?.output?.message ?? reply?.message ?? reply;
  const content = message?.parts ?? message?.content ?? message?.output ?? message?.text;
  const beside = Object.fromEntries(BESIDE.filter((name) => message?.[name]).map((name) => [name, message[name]]));
  const done = new Set((message?.toolResults ?? []).map((each: Json) => each["toolCallId"]));
  const functions = [message?.tool_calls ?? message?.toolCalls ?? [], message?.function_call ?? []].flat().filter((call) => !done.has(call.toolCallId));
  if (done.size) beside["toolCalls"] = message.toolCalls?.filter((call: Json) => done.has(call["toolCallId"]));
  if (content === undefined && !functions.length && !Object.keys(beside).length) {
    throw new Rejected(`the reply is ${JSON.stringify(reply)?.slice(0, 200)}; give a message or a whole answer of a model, or a text`);
  }
  const parts: Json[] = Array.isArray(content) ? content.flatMap((part) => (part?.type === "message" ? part.content : [part])) : [];
  const own = parts.map(readCall).filter((call) => call !== undefined);
  const listed = functions.map(readCall).filter((call) => call !== undefined && !own.some(({ requestId }) => requestId && requestId === call.requestId));
  const words = Array.isArray(content) ? parts.filter((part) => !readCall(part)) : (content ?? "");
  return { body: { message: words, ...beside }, calls: withOwnIds([...own, ...(listed as Call[])]) };
}

/** A call without an id, and a second one under an id, gets its own. */
function withOwnIds(calls: Call[]): Call[] {
  const ids = new Set<string>();
  return calls.map((call, number) => {
    const requestId = call.requestId && !ids.has(call.requestId) ? call.requestId : `${call.requestId || "call"}-${number + 1}`;
    ids.add(requestId);
    return { ...call, requestId };
  });
}

/** Fields beside the content that say something. */
const BESIDE = ["refusal", "audio", "reasoning_content", "images", "toolResults"];
const CALLS = new Set(["tool_use", "function_call", "custom_tool_call", "tool-call", "tool_call", "function", "custom"]);

/** A call in the shape of any vendor. */
function readCall(part: any): Call | undefined {
  const inner = part?.functionCall ?? part?.toolUse ?? part?.function ?? part?.custom ?? part;
  if (!inner || typeof inner !== "object" || (inner === part && !CALLS.has(part.type) && !part.toolName)) return undefined;
  const input = inner.arguments ?? inner.input ?? inner.args ?? {};
  const id = part.call_id ?? part.toolCallId ?? inner.toolUseId ?? part.id ?? inner.id ?? "";
  const tool = inner.name ?? inner.toolName;
  return tool ? { tool, input: typeof input === "string" ? readArguments(input) : input, requestId: id } : undefined;
}

function readArguments(text: string): unknown {
  try {
    return JSON.parse(text || "{}");
  } catch {
    return text; // the call gets an error
  }
}
