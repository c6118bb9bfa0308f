/** A received context. */

import type { MsgHdrs } from "@nats-io/nats-core";
import type { AgentContextV1, OmissionV1 } from "./types.js";
import { Rejected, sessionText } from "./wire.js";

/** An `agent.context.v1`; `content` is the markdown for the prompt. */
export interface Context {
  event: AgentContextV1;
  id: string;
  content: string;
  /** As it was given to the client. */
  session: string;
  /** Responses are sent in its name. */
  agent: string;
  /** Ids of the messages of people that an answer answers, oldest first. */
  questions: string[];
  /** What the page leaves out, the 50 most relevant first, and then what it cuts. */
  omitted: OmissionV1[];
  /** The page for the SDK of a model, where the profile has a `chat_format`: with `responses` the `input`; `system` is Anthropic's, beside them. */
  messages: any[];
  system: any[];
}

/** Throws `Rejected` for what is none, is for somebody else, or was forgotten. */
export async function readContext(data: Uint8Array, headers: MsgHdrs | undefined, workspace: string, consumer: string): Promise<Context> {
  if (headers?.has("Context-Builder-Forgotten")) {
    throw new Rejected("the context was taken away, because what it showed was forgotten; ask again");
  }
  try {
    return await contextOf(JSON.parse(new TextDecoder().decode(data)), workspace, consumer);
  } catch (error) {
    if (error instanceof Rejected) throw error;
    throw new Rejected(`this is no agent.context.v1: ${error}; see schemas/agent.context.v1.json`, { cause: error });
  }
}

export async function contextOf(event: AgentContextV1, workspace: string, consumer: string): Promise<Context> {
  const { id, content, agent_id, questions = [], messages, system } = event;
  if (event.workspace !== workspace || event.consumer_id !== consumer) {
    const theirs = `('${event.workspace}', '${event.consumer_id}')`;
    throw new Rejected(`this context is for ${theirs}, not for ('${workspace}', '${consumer}'); look at who publishes on that subject`);
  }
  const session = await sessionText(event.session_id);
  const { most_relevant = [], partial = [] } = event.omissions ?? {};
  const omitted = [...most_relevant, ...partial.filter(({ shown = 0, tokens }) => shown < tokens)];
  return { event, id, content, session, agent: agent_id || consumer, questions, omitted, messages: messages ?? [], system: system ?? [] };
}
