// Made by types.mjs from schemas/asyncapi.json: change it there.
/**
 * @minItems 2
 * @maxItems 2
 */
export type Place = [unknown, unknown];

/**
 * The one context of a trigger for a consumer.
 */
export interface AgentContextV1 {
  assembly: Assembly;
  /**
   * UUIDv5 of workspace, session, trigger and consumer
   */
  id: string;
  schema_name?: string;
  workspace: string;
  consumer_id: string;
  /**
   * the agent that answers: its `creator.agent_id`; missing = the consumer's name
   */
  agent_id?: string | null;
  session_id: string;
  trigger_event_id: string;
  /**
   * stream sequence of the trigger: the order of a session's contexts
   */
  trigger_seq: number;
  /**
   * id of the context of an earlier message, if nothing had answered it: this page answers both
   */
  supersedes?: string | null;
  /**
   * ids of the messages of people that an answer to this context answers, oldest first
   */
  questions?: string[];
  /**
   * true = built again on request, with what came since
   */
  refreshed?: boolean | null;
  /**
   * of a refreshed context: stream sequence up to which it has what came since
   */
  as_of?: number | null;
  /**
   * true = leave it: all that it answers was answered or deleted, or a later context answers it
   */
  is_over?: boolean | null;
  /**
   * stream time of the trigger, so that a redelivery gives the same bytes
   */
  assembled_at: string;
  /**
   * RCRT's name for token_count
   */
  token_estimate: number;
  /**
   * true tokens of `content`
   */
  token_count: number;
  /**
   * tokens of the pictures in `messages`, by the provider's formula; they are in the budget, too
   */
  picture_tokens?: number | null;
  token_budget: number;
  /**
   * the page: markdown, ready for the prompt
   */
  content: string;
  /**
   * RCRT's name for content; dropped when the event would be too large
   */
  formatted_context?: string | null;
  breadcrumb_count: number;
  sources_assembled: number;
  sections: SectionV1[];
  /**
   * in page order; Anthropic's cache_control belongs there
   */
  breakpoints?: BreakpointV1[];
  omissions: Omissions;
  /**
   * tool results that were folded; missing when none were
   */
  compaction?: CompactionV1 | null;
  /**
   * Anthropic's `system`, beside its `messages`
   */
  system?: TextBlock[] | null;
  /**
   * the same fragments for a chat API, if the profile asks for it; what was written is a text part of its own, what the builder adds is another. Texts, results and the arguments of calls stay within the budget, what the API adds and what images cost is the profile's `reserve`. Images are dropped first when the event would be too large, then all of it
   */
  messages?: MessageOpenAI[] | MessageAnthropic[] | (MessageItem | FunctionCallItem | FunctionOutputItem)[] | null;
}
/**
 * How the page was made. ASCII, because a reader of RCRT cuts the first 200 bytes.
 */
export interface Assembly {
  /**
   * revision of the profile
   */
  profile: string;
  /**
   * revision of the templates
   */
  templates: string;
  /**
   * hash of the sections that are not per-turn: equal hash, equal prompt prefix
   */
  prefix: string;
  /**
   * encoding that the tokens are counted in
   */
  tokenizer: string;
  /**
   * most tokens of the page
   */
  budget: number;
  /**
   * share of them kept free
   */
  margin?: number;
  /**
   * engine and weights of the vectors; none when the service runs without an engine
   */
  model: string;
  /**
   * what was out of the ordinary. degraded: no engine was there for the trigger, words and fields alone were asked. vectors_missing: some breadcrumbs in scope had no vectors yet. hint_failed: something is shown by the generic hint, its omission says why. page_failed: a bundled page template stepped in. no_user: the profile looks into the memory of a person, and the trigger has no user_id. No second context follows a flagged one
   */
  flags?: string[];
  /**
   * with `debounce`: stream sequence of the last message within the quiet time; the page has what came up to it
   */
  as_of?: number | null;
}
/**
 * One section of the page.
 */
export interface SectionV1 {
  name: string;
  /**
   * static, slow or turn
   */
  class: string;
  tokens: number;
  /**
   * breadcrumbs in it, in page order
   */
  ids: string[];
  /**
   * tokens that it shows of each; headings and date lines are nobody's
   */
  tokens_by_id?: {
    [k: string]: number;
  };
  /**
   * of what was found: the probability that it answers the trigger, by which it was chosen
   */
  probability_by_id?: {
    [k: string]: number;
  } | null;
}
/**
 * Where a prompt cache may cut the page: equal hash, equal beginning.
 */
export interface BreakpointV1 {
  /**
   * static, slow: behind the sections of this class; recent: behind the recent conversation
   */
  name: string;
  /**
   * characters of `content` in front of it
   */
  characters: number;
  /**
   * tokens of them
   */
  tokens: number;
  /**
   * hash of them
   */
  prefix: string;
}
/**
 * What is on the page in part, the 50 most relevant of what is not on it, and all of both counted by reason.
 */
export interface Omissions {
  /**
   * cut, folded, neutralised, or shown by another hint
   */
  partial?: OmissionV1[];
  most_relevant: OmissionV1[];
  /**
   * how many breadcrumbs are not on the page, or in part, by reason
   */
  by_reason: {
    [k: string]: number;
  };
  /**
   * how many breadcrumbs are not on the page; those in part are not counted
   */
  count?: number;
  /**
   * tokens of them, by stored counts
   */
  tokens?: number;
}
/**
 * What is not on the page, or not all of it, and why.
 */
export interface OmissionV1 {
  id: string;
  reason: string;
  /**
   * tokens of all of it, by stored counts where nothing of it was rendered
   */
  tokens: number;
  /**
   * tokens of them on the page
   */
  shown?: number;
  /**
   * that it answers the trigger; missing where no search asked
   */
  probability?: number | null;
}
/**
 * Tool results that were folded to one line each, because the conversation does not fit.
 */
export interface CompactionV1 {
  /**
   * tokens that the conversation on the page would have without folding
   */
  original_tokens: number;
  /**
   * tokens that it has with the results folded
   */
  compacted_tokens: number;
  /**
   * breadcrumbs whose results were folded, oldest first
   */
  folded: string[];
  /**
   * tokens that the page may have
   */
  budget: number;
}
/**
 * Text for Anthropic.
 */
export interface TextBlock {
  /**
   * at the named breakpoints
   */
  cache_control?: CacheControl | null;
  type?: "text";
  text: string;
}
/**
 * Marks the end of a prefix that Anthropic may cache.
 */
export interface CacheControl {
  type?: "ephemeral";
}
/**
 * A message of OpenAI's chat completions.
 */
export interface MessageOpenAI {
  role: "system" | "user" | "assistant" | "tool";
  /**
   * null when there is nothing but calls
   */
  content?: string | (TextPart | ImagePart)[] | null;
  /**
   * each is answered by one of the next messages
   */
  tool_calls?: ToolCallOpenAI[] | null;
  /**
   * of a tool's answer: the call
   */
  tool_call_id?: string | null;
}
/**
 * Text of a message of several parts.
 */
export interface TextPart {
  type?: "text";
  text: string;
}
/**
 * An image for OpenAI.
 */
export interface ImagePart {
  type?: "image_url";
  image_url: ImageUrl;
}
/**
 * Where OpenAI finds an image.
 */
export interface ImageUrl {
  /**
   * https address or data URL
   */
  url: string;
}
/**
 * A call of the assistant.
 */
export interface ToolCallOpenAI {
  id: string;
  type?: "function";
  function: FunctionOpenAI;
}
/**
 * What is called.
 */
export interface FunctionOpenAI {
  name: string;
  /**
   * a JSON object as text
   */
  arguments: string;
}
/**
 * A message of Anthropic's API; `system` is beside them.
 */
export interface MessageAnthropic {
  role: "user" | "assistant";
  /**
   * @minItems 1
   */
  content: [
    TextBlock | ImageBlock | ToolUseBlock | ToolResultBlock,
    ...(TextBlock | ImageBlock | ToolUseBlock | ToolResultBlock)[]
  ];
}
/**
 * An image for Anthropic.
 */
export interface ImageBlock {
  /**
   * at the named breakpoints
   */
  cache_control?: CacheControl | null;
  type?: "image";
  source: ImageSource;
}
/**
 * Where Anthropic finds an image.
 */
export interface ImageSource {
  type: "base64" | "url";
  media_type?: string | null;
  data?: string | null;
  url?: string | null;
}
/**
 * A call of the assistant.
 */
export interface ToolUseBlock {
  /**
   * at the named breakpoints
   */
  cache_control?: CacheControl | null;
  type?: "tool_use";
  id: string;
  name: string;
  input: {
    [k: string]: unknown;
  };
}
/**
 * The answer to a call of the message before.
 */
export interface ToolResultBlock {
  /**
   * at the named breakpoints
   */
  cache_control?: CacheControl | null;
  type?: "tool_result";
  tool_use_id: string;
  content: (TextBlock | ImageBlock)[];
  /**
   * true when the call failed
   */
  is_error?: boolean | null;
}
/**
 * A message of somebody; the assistant's is a text.
 */
export interface MessageItem {
  type?: "message";
  role: "system" | "user" | "assistant";
  content: string | (InputText | InputImage)[];
}
/**
 * Text of an item of several parts.
 */
export interface InputText {
  type?: "input_text";
  text: string;
}
/**
 * An image of an item.
 */
export interface InputImage {
  type?: "input_image";
  /**
   * https address or data URL
   */
  image_url: string;
  detail?: "auto";
}
/**
 * A call of the assistant.
 */
export interface FunctionCallItem {
  type?: "function_call";
  /**
   * one of the next items has its output
   */
  call_id: string;
  name: string;
  /**
   * a JSON object as text
   */
  arguments: string;
}
/**
 * The output of a call.
 */
export interface FunctionOutputItem {
  type?: "function_call_output";
  call_id: string;
  output: string | (InputText | InputImage)[];
}
/**
 * An agent's definition; speaks under its `agent_id`. In session `_` its `context_trigger` makes the agent a consumer.
 */
export interface AgentDefV1 {
  /**
   * session; the subject decides, a contradiction is rejected
   */
  session_id?: string | null;
  /**
   * name shown in front of the message
   */
  speaker?: string | null;
  /**
   * {type, agent_id, name} of who wrote it
   */
  creator?: {
    [k: string]: unknown;
  } | null;
  /**
   * the task that it belongs to; its tag `task:ID` says the same
   */
  task_id?: string | null;
  /**
   * id of the breadcrumb that it answers, or that made somebody send it
   */
  trigger_event_id?: string | null;
  /**
   * the consumer that it defines
   */
  agent_id: string;
  /**
   * shown on its pages in the section with source system
   */
  system_prompt?:
    | string
    | (
        | string
        | {
            [k: string]: unknown;
          }
      )[]
    | {
        [k: string]: unknown;
      };
  /**
   * what asks for a context: {schema_name, none_tags, all_tags, any_tags}; all_tags make any_tags void
   */
  context_trigger?: {
    [k: string]: unknown;
  };
  /**
   * what stands on the page and what is searched: {always: [{type: schema or tag, schema_name, tag, method: latest, recent or all, limit}], semantic: {enabled, schemas, limit}}
   */
  context_sources?: {
    [k: string]: unknown;
  };
  /**
   * settings of `profile.json` laid over all else that the record says
   */
  context_builder?: {
    [k: string]: unknown;
  };
}
/**
 * Something an agent said, with the tool calls it makes; calls need no text.
 */
export interface AgentResponseV1 {
  /**
   * session; the subject decides, a contradiction is rejected
   */
  session_id?: string | null;
  /**
   * name shown in front of the message
   */
  speaker?: string | null;
  /**
   * {type, agent_id, name} of who wrote it
   */
  creator?: {
    [k: string]: unknown;
  } | null;
  /**
   * the task that it belongs to; its tag `task:ID` says the same
   */
  task_id?: string | null;
  /**
   * id of the breadcrumb that it answers, or that made somebody send it
   */
  trigger_event_id?: string | null;
  /**
   * what was said
   */
  content?:
    | string
    | (
        | string
        | {
            [k: string]: unknown;
          }
      )[]
    | {
        [k: string]: unknown;
      }
    | null;
  /**
   * the same under its other name
   */
  message?:
    | string
    | (
        | string
        | {
            [k: string]: unknown;
          }
      )[]
    | {
        [k: string]: unknown;
      }
    | null;
  /**
   * the same under its third name
   */
  text?:
    | string
    | (
        | string
        | {
            [k: string]: unknown;
          }
      )[]
    | {
        [k: string]: unknown;
      }
    | null;
  /**
   * tool calls made by this response
   */
  tool_requests?: ToolCall[];
  /**
   * what the model thought; it is said to nobody, and pages mark it as a thought
   */
  reasoning?: string;
  /**
   * calls that the model's vendor ran itself, with their results
   */
  server_tools?: ServerTool[];
  /**
   * number of this response among those of the agent to its trigger, 1 and up
   */
  step?: number | null;
  /**
   * ids of the messages of people that it answers, as the context names them
   */
  questions?: {
    [k: string]: unknown;
  };
}
/**
 * One call inside an agent's response.
 */
export interface ToolCall {
  /**
   * name of the tool
   */
  tool: string;
  /**
   * its arguments
   */
  input?: {
    [k: string]: unknown;
  };
  /**
   * joins the call with its result
   */
  requestId?: string | null;
}
/**
 * One call that the model's vendor ran.
 */
export interface ServerTool {
  /**
   * name of the tool
   */
  tool: string;
  /**
   * its arguments
   */
  input?: {
    [k: string]: unknown;
  };
  /**
   * what it returned
   */
  output?: {
    [k: string]: unknown;
  };
  /**
   * whether it failed
   */
  failed?: boolean;
}
/**
 * A tombstone: from its place on, the named breadcrumb is gone.
 */
export interface BreadcrumbDeletedV1 {
  /**
   * session; the subject decides, a contradiction is rejected
   */
  session_id?: string | null;
  /**
   * name shown in front of the message
   */
  speaker?: string | null;
  /**
   * {type, agent_id, name} of who wrote it
   */
  creator?: {
    [k: string]: unknown;
  } | null;
  /**
   * the task that it belongs to; its tag `task:ID` says the same
   */
  task_id?: string | null;
  /**
   * id of the breadcrumb that it answers, or that made somebody send it
   */
  trigger_event_id?: string | null;
  /**
   * id of the breadcrumb to remove
   */
  breadcrumb_id: string;
  /**
   * secret = the service closes the id of a secret, under which nothing readable stood
   */
  reason?: string;
}
/**
 * In session `_`: from its place on, the named breadcrumb stands in another session. The service alone writes it.
 */
export interface BreadcrumbMovedV1 {
  /**
   * session; the subject decides, a contradiction is rejected
   */
  session_id?: string | null;
  /**
   * name shown in front of the message
   */
  speaker?: string | null;
  /**
   * {type, agent_id, name} of who wrote it
   */
  creator?: {
    [k: string]: unknown;
  } | null;
  /**
   * the task that it belongs to; its tag `task:ID` says the same
   */
  task_id?: string | null;
  /**
   * id of the breadcrumb that it answers, or that made somebody send it
   */
  trigger_event_id?: string | null;
  /**
   * id of the breadcrumb that moved
   */
  breadcrumb_id: string;
  /**
   * token of the session in which its later versions stand
   */
  session: string;
}
/**
 * A breadcrumb as the service has stored it.
 */
export interface BreadcrumbRecord {
  id: string;
  version: number;
  schema_name: string;
  workspace: string;
  session: string;
  seq: number;
  speaker: string;
  user_id: string | null;
  created_at: string;
  expires_at: string | null;
  tags: string[];
  to?: string[];
  text: string;
  context: {
    [k: string]: unknown;
  };
}
/**
 * A page of a history.
 */
export interface Breadcrumbs {
  breadcrumbs: BreadcrumbRecord[];
  next: string | null;
}
/**
 * The page that the user looks at.
 */
export interface BrowserPageContextV1 {
  /**
   * session; the subject decides, a contradiction is rejected
   */
  session_id?: string | null;
  /**
   * name shown in front of the message
   */
  speaker?: string | null;
  /**
   * {type, agent_id, name} of who wrote it
   */
  creator?: {
    [k: string]: unknown;
  } | null;
  /**
   * the task that it belongs to; its tag `task:ID` says the same
   */
  task_id?: string | null;
  /**
   * id of the breadcrumb that it answers, or that made somebody send it
   */
  trigger_event_id?: string | null;
  /**
   * title of the page
   */
  title?: string;
  /**
   * address of the page
   */
  url: string;
  /**
   * {mainText, headings, links}
   */
  content?: {
    [k: string]: unknown;
  } | null;
  /**
   * {interactiveCount, …}
   */
  dom?: {
    [k: string]: unknown;
  } | null;
}
/**
 * The active tab, as RCRT's extension sends it.
 */
export interface BrowserTabContextV1 {
  /**
   * session; the subject decides, a contradiction is rejected
   */
  session_id?: string | null;
  /**
   * name shown in front of the message
   */
  speaker?: string | null;
  /**
   * {type, agent_id, name} of who wrote it
   */
  creator?: {
    [k: string]: unknown;
  } | null;
  /**
   * the task that it belongs to; its tag `task:ID` says the same
   */
  task_id?: string | null;
  /**
   * id of the breadcrumb that it answers, or that made somebody send it
   */
  trigger_event_id?: string | null;
  /**
   * title of the page
   */
  title?: string;
  /**
   * address of the page
   */
  url: string;
  /**
   * {mainText, headings, links}
   */
  content?: {
    [k: string]: unknown;
  } | null;
  /**
   * {interactiveCount, …}
   */
  dom?: {
    [k: string]: unknown;
  } | null;
}
/**
 * A breadcrumb of the session.
 */
export interface Cell {
  id: string;
  state: "whole" | "part" | "line" | "found" | "not";
  tokens: number;
  tokens_shown: number;
}
/**
 * Summarise all but the tail of a session at once.
 */
export interface CompactRequest {
  /**
   * the session
   */
  session: string;
  /**
   * profile whose `summaries` hold
   */
  profile?: string;
  /**
   * what people said stays word for word
   */
  keep_user?: boolean;
}
/**
 * The result of `compact`.
 */
export interface CompactionResult {
  units: number;
  covered: number;
  tokens_before: number;
  tokens_after: number;
  summary: string;
  reason?: string;
}
/**
 * A context as it was and as it is built now, and templates that failed.
 */
export interface Comparison {
  context: string;
  trigger: string;
  session: string;
  consumer: string;
  tokens: number;
  is_same: boolean | null;
  notes: string[];
  before: AgentContextV1;
  after: AgentContextV1;
  failures: string[];
}
/**
 * An agent that a profile of the service names.
 */
export interface Consumer {
  name: string;
  triggers: (string | Selector)[];
  audience?: Selector | null;
  origin?: string;
  agent?: string;
}
/**
 * Which breadcrumbs are meant: every condition that is given must hold.
 */
export interface Selector {
  /**
   * one of these schemas
   */
  schemas?: string[];
  /**
   * one of these ids
   */
  ids?: string[];
  /**
   * at least one of these tags
   */
  any_tags?: string[];
  /**
   * all of these tags
   */
  all_tags?: string[];
  /**
   * none of these tags
   */
  none_tags?: string[];
}
/**
 * All consumers, and what is wrong with the records that make some.
 */
export interface Consumers {
  consumers: Consumer[];
  findings: {
    [k: string]: unknown;
  }[];
}
/**
 * All consumers; an empty object.
 */
export interface ConsumersRequest {}
/**
 * What is neither searched nor part of any conversation, from its place on; the latest one holds.
 *
 * One that names nothing is rejected: the one before it holds on. To lift a blacklist, delete it (breadcrumb.deleted.v1).
 */
export interface ContextBlacklistV1 {
  /**
   * session; the subject decides, a contradiction is rejected
   */
  session_id?: string | null;
  /**
   * name shown in front of the message
   */
  speaker?: string | null;
  /**
   * {type, agent_id, name} of who wrote it
   */
  creator?: {
    [k: string]: unknown;
  } | null;
  /**
   * the task that it belongs to; its tag `task:ID` says the same
   */
  task_id?: string | null;
  /**
   * id of the breadcrumb that it answers, or that made somebody send it
   */
  trigger_event_id?: string | null;
  /**
   * schemas that are left out
   */
  excluded_schemas?: ExcludedSchema[];
  /**
   * breadcrumbs with one of these tags are left out
   */
  excluded_tags?: string[];
  /**
   * these breadcrumbs are left out
   */
  excluded_ids?: string[];
}
/**
 * One line of a blacklist.
 */
export interface ExcludedSchema {
  /**
   * schema that is left out
   */
  schema_name: string;
  /**
   * why, for people
   */
  reason?: string | null;
}
/**
 * Says that a context was compacted: sent by core NATS once the context is published, best effort, kept by nobody.
 */
export interface ContextCompactedV1 {
  /**
   * tokens that the conversation on the page would have without folding
   */
  original_tokens: number;
  /**
   * tokens that it has with the results folded
   */
  compacted_tokens: number;
  /**
   * breadcrumbs whose results were folded, oldest first
   */
  folded: string[];
  /**
   * tokens that the page may have
   */
  budget: number;
  schema_name?: string;
  /**
   * id of the context
   */
  context_id: string;
  workspace: string;
  consumer_id: string;
  session_id: string;
  trigger_event_id: string;
}
/**
 * What a consumer wants on its page. In session `_` it makes the consumer, and wins over the agent's definition.
 */
export interface ContextConfigV1 {
  /**
   * session; the subject decides, a contradiction is rejected
   */
  session_id?: string | null;
  /**
   * name shown in front of the message
   */
  speaker?: string | null;
  /**
   * {type, agent_id, name} of who wrote it
   */
  creator?: {
    [k: string]: unknown;
  } | null;
  /**
   * the task that it belongs to; its tag `task:ID` says the same
   */
  task_id?: string | null;
  /**
   * id of the breadcrumb that it answers, or that made somebody send it
   */
  trigger_event_id?: string | null;
  /**
   * the consumer; 1 to 128 of the characters A-Z, a-z, 0-9, _ and -
   */
  consumer_id?: {
    [k: string]: unknown;
  };
  /**
   * what asks for a context: [{schema_name, any_tags, all_tags, none_tags}]
   */
  update_triggers?: {
    [k: string]: unknown;
  };
  /**
   * what stands on the page and what is searched: [{schema_name, method: recent, latest, all, tagged or vector, limit, nn, filters: {tag}}]
   */
  sources?: {
    [k: string]: unknown;
  };
  /**
   * {max_tokens}: the budget
   */
  formatting?: {
    [k: string]: unknown;
  };
  /**
   * settings of `profile.json` laid over all else that the record says
   */
  context_builder?: {
    [k: string]: unknown;
  };
}
/**
 * A consumer's last context in a session, or that of `trigger`.
 */
export interface ContextRequest {
  /**
   * the agent
   */
  consumer?: string;
  /**
   * the session; the trigger's own when a trigger is named
   */
  session?: string;
  /**
   * id of the breadcrumb that asked for it
   */
  trigger?: string;
}
/**
 * A message that was rejected, or that an agent gave up, and why.
 */
export interface DeadLetter {
  reason: string;
  consumer?: string;
  subject: string;
  sequence: number;
  incarnation: number;
  replay: boolean;
  received_at: string;
  bytes: number;
  data: string;
}
/**
 * Fields in which two records differ, in one text; "" = none. is_there: whether the stream has one under that id.
 */
export interface Difference {
  is_there: boolean;
  fields: string;
  subject: string;
}
/**
 * In which fields a record differs from the one under its id that the stream has.
 */
export interface DifferenceRequest {
  /**
   * as it was published
   */
  record: {
    [k: string]: unknown;
  };
  /**
   * of the stored message, as the stream's acknowledgement names it
   */
  sequence: number;
  /**
   * `created_at` is the client's clock and is not compared
   */
  own_clock?: boolean;
}
/**
 * Stream and name of a durable, and when it was made by the broker's clock; null = it was there.
 */
export interface Durable {
  stream: string;
  name: string;
  made_at: string | null;
}
/**
 * Make the durable of a consumer, by which an agent fetches its contexts; an existing one stays where it is.
 */
export interface DurableRequest {
  /**
   * the agent
   */
  consumer: string;
  /**
   * of the durable; none = `{workspace}={consumer}`
   */
  name?: string;
  /**
   * contexts of a new one from this time on; null = from the next one on
   */
  since?: string | null;
  /**
   * in place of a time: from so many seconds ago, by the broker's clock
   */
  seconds?: number | null;
  /**
   * seconds until a context that nobody settles comes again
   */
  ack_wait?: number;
}
/**
 * The information of an endpoint.
 */
export interface EndpointInfo {
  name: string;
  subject: string;
  queue_group: string;
  metadata?: {
    [k: string]: unknown;
  };
}
/**
 * Statistics about a specific service endpoint
 */
export interface EndpointStats {
  name: string;
  subject: string;
  queue_group: string;
  num_requests: number;
  num_errors: number;
  processing_time: number;
  average_processing_time: number;
  last_error?: string | null;
  data?: unknown;
}
/**
 * Why the page of a context looks as it does: its receipt.
 */
export interface ExplainRequest {
  /**
   * id of the breadcrumb that asked for it; none = the session's last context
   */
  trigger?: string;
  /**
   * the agent; may be left out where the trigger asks for one context only
   */
  consumer?: string;
  /**
   * the session, without a trigger or where several have a breadcrumb of this id
   */
  session?: string;
  /**
   * with what came up to this stream sequence and has no context of its own; 0 = as it was published
   */
  as_of?: number;
  /**
   * breadcrumbs that are named of those not on the page; null = all
   */
  most?: number | null;
}
/**
 * The page with its receipt, and the milliseconds of its parts.
 */
export interface Explanation {
  context: string;
  trigger: string;
  session: string;
  consumer: string;
  tokens: number;
  is_same: boolean | null;
  notes: string[];
  content: string;
  receipt: {
    [k: string]: unknown;
  };
  times: {
    [k: string]: number;
  };
}
/**
 * An agent gives up a context: a dead letter with the reason.
 */
export interface FailRequest {
  /**
   * the agent
   */
  consumer: string;
  /**
   * id of the breadcrumb that asked for the context
   */
  trigger: string;
  /**
   * the session of the context
   */
  session: string;
  /**
   * why it was given up
   */
  error: string;
}
/**
 * In place of an answer: what happened, the value, what to do.
 */
export interface Failure {
  error: string;
  kind: "rejected" | "unavailable";
}
/**
 * Full text and body of a breadcrumb, by default its newest version.
 */
export interface FetchRequest {
  /**
   * id of the breadcrumb
   */
  id: string;
  /**
   * an earlier version
   */
  version?: number | null;
}
/**
 * Erase breadcrumbs, all that was said by and to a person, or a session, and all that was made from it.
 */
export interface ForgetRequest {
  /**
   * your id of a person
   */
  user_id?: string;
  /**
   * id of a breadcrumb
   */
  id?: string;
  /**
   * ids of breadcrumbs
   *
   * @maxItems 1000
   */
  ids?: string[];
  /**
   * a whole session; beside ids theirs, needed only when the store does not know it, as with a secret
   */
  session?: string;
  /**
   * who asks, for the receipt
   */
  by?: string;
}
/**
 * Breadcrumbs of a session, or of a person in any session, in stream order, in pages.
 */
export interface HistoryRequest {
  /**
   * your id of a person, in place of a session
   */
  user_id?: string;
  /**
   * the session
   */
  session?: string;
  /**
   * begin at the end, the newest first
   */
  newest?: boolean;
  /**
   * breadcrumbs of a page
   */
  limit?: number;
  /**
   * `next` of the page before, or a sequence of the stream
   */
  after?: string;
}
/**
 * Id → what stands under it, of the ids that are known.
 */
export interface Identities {
  identities: {
    [k: string]: Identity;
  };
}
/**
 * The versions and marks that are stored under an id.
 */
export interface Identity {
  first?: Version | null;
  spoken?: Version | null;
  marks?: Mark[];
}
/**
 * The facts of a version that the rule compares.
 */
export interface Version {
  place: Place;
  session: string;
  schema: string;
  role: "user" | "assistant" | "system" | "tool" | "standing" | "other";
  user_id: string;
  expires_at: string | null;
}
/**
 * A tombstone or a secret, which closes the id, or a note that its breadcrumb moved.
 */
export interface Mark {
  place: Place;
  session: string;
  to?: string;
  secret?: Version | null;
}
/**
 * Which of these ids are taken, and by what, or closed. `import` asks before it publishes.
 */
export interface IdentitiesRequest {
  /**
   * ids of breadcrumbs
   *
   * @maxItems 20000
   */
  ids: string[];
}
/**
 * How many processes fetch a consumer's contexts now.
 */
export interface Listeners {
  listening: number;
}
/**
 * How many processes fetch a consumer's contexts now. Who only subscribes without a durable is not seen.
 */
export interface ListenersRequest {
  /**
   * the agent
   */
  consumer: string;
}
/**
 * A note that an agent or a person keeps.
 */
export interface NoteV1 {
  /**
   * session; the subject decides, a contradiction is rejected
   */
  session_id?: string | null;
  /**
   * name shown in front of the message
   */
  speaker?: string | null;
  /**
   * {type, agent_id, name} of who wrote it
   */
  creator?: {
    [k: string]: unknown;
  } | null;
  /**
   * the task that it belongs to; its tag `task:ID` says the same
   */
  task_id?: string | null;
  /**
   * id of the breadcrumb that it answers, or that made somebody send it
   */
  trigger_event_id?: string | null;
  /**
   * the note
   */
  content:
    | string
    | (
        | string
        | {
            [k: string]: unknown;
          }
      )[]
    | {
        [k: string]: unknown;
      };
  title?: string | null;
  url?: string | null;
}
/**
 * It is done.
 */
export interface Nothing {}
/**
 * The results of a search, the most probable first.
 */
export interface Passages {
  passages: SearchResult[];
}
/**
 * A passage that answers a search.
 */
export interface SearchResult {
  id: string;
  schema_name: string;
  session: string;
  seq: number;
  speaker: string;
  user_id: string | null;
  created_at: string;
  text: string;
  probability: number;
}
/**
 * Why a breadcrumb is on the page, or not.
 */
export interface Reason {
  context: string;
  trigger: string;
  session: string;
  consumer: string;
  tokens: number;
  is_same: boolean | null;
  notes: string[];
  sentence: string;
}
/**
 * The account of one erasure: one breadcrumb in one session.
 */
export interface Receipt {
  id: string;
  workspace: string;
  session: string;
  by: string;
  at: string;
  versions: number;
  summaries: string[];
  messages: number;
  contexts: number;
  dead_letters: number;
  cached: number;
}
/**
 * The receipts of a forgetting; none = it was forgotten before.
 *
 * rest: breadcrumbs of the person or the session that the same request forgets next. dead_letters: of the session, beside those
 * of the receipts.
 */
export interface Receipts {
  receipts: Receipt[];
  rest: number;
  dead_letters: number;
}
/**
 * RCRT's record, as far as this service reads it.
 */
export interface Record {
  /**
   * id of the breadcrumb
   */
  id: string;
  /**
   * schema; the subject decides, a contradiction is rejected
   */
  schema_name?: string | null;
  /**
   * +1 with every update; only version 1 triggers
   */
  version?: number;
  /**
   * title shown by tools
   */
  title?: string | null;
  /**
   * routing, pointer and state tags
   *
   * @maxItems 1000
   */
  tags?: string[];
  /**
   * words that search matches, never shown
   */
  entity_keywords?: string[] | null;
  /**
   * the body; its schema is the file schemas/<schema_name>.json
   */
  context: {
    [k: string]: unknown;
  };
  /**
   * workspace; the subject decides, a contradiction is rejected
   */
  workspace?: string | null;
  /**
   * session; the subject decides, a contradiction is rejected
   */
  session?: string | null;
  /**
   * the sender's clock; default is the stream's. Its offset is kept: +02:00 says the local time, Z says none
   */
  created_at?: string | null;
  /**
   * who the person is; never the display name. Wins over context.user_id of a user.message.v1
   */
  user_id?: string | null;
  /**
   * false keeps it out of the memory of its person, as the tag `private` does: no other session shows it; on the first breadcrumb of a session, the whole session
   */
  memory?: boolean;
  /**
   * when it ends: a moment, or seconds after created_at
   */
  ttl?: number | string | null;
  /**
   * the same under its other name; the earlier one counts
   */
  expires_at?: number | string | null;
  /**
   * how it is shown where a profile trusts its sender; `context.llm_hints` says the same
   */
  llm_hints?: {
    [k: string]: unknown;
  } | null;
  /**
   * id of who wrote it, else `context.creator.agent_id`: a claim, which a profile may ask for
   */
  created_by?: string | null;
  /**
   * the agents that it is addressed to, a name or a list: no other agent's consumer is triggered by it; none = everybody
   *
   * @maxItems 100
   */
  to?: string[];
  /**
   * "secret": nothing of it is stored, embedded, shown or handed out, as with schema secret.v1
   */
  sensitivity?: string | null;
}
/**
 * Rebuild a context with what came since, unpublished. `as_of` 0 = now.
 */
export interface RefreshRequest {
  /**
   * id of the breadcrumb that asked for it; none = the session's last context
   */
  trigger?: string;
  /**
   * the agent; may be left out where the trigger asks for one context only
   */
  consumer?: string;
  /**
   * the session, without a trigger or where several have a breadcrumb of this id
   */
  session?: string;
  /**
   * with what came up to this stream sequence and has no context of its own; 0 = as it was published
   */
  as_of?: number;
}
/**
 * Rebuild a context, also with another profile or files.
 */
export interface ReplayRequest {
  /**
   * id of the breadcrumb that asked for it; none = the session's last context
   */
  trigger?: string;
  /**
   * the agent; may be left out where the trigger asks for one context only
   */
  consumer?: string;
  /**
   * the session, without a trigger or where several have a breadcrumb of this id
   */
  session?: string;
  /**
   * with what came up to this stream sequence and has no context of its own; 0 = as it was published
   */
  as_of?: number;
  /**
   * profile or preset that makes the page in place of the consumer's own
   */
  profile?: string;
  /**
   * profiles and templates by path, e.g. {"hints/note.v1.md.j2": "…"}, laid over those in force
   */
  files?: {
    [k: string]: string;
  };
  /**
   * `files` are laid over the bundled ones alone, as a folder of templates is
   */
  over_bundled?: boolean;
}
/**
 * One `agent.response.v1` to a context as the stream has it.
 */
export interface Response {
  id: string;
  step: number;
  sequence: number;
  message: string;
  tool_requests: {
    [k: string]: unknown;
  }[];
  results?: {
    [k: string]: {
      [k: string]: unknown;
    };
  };
}
/**
 * An agent's responses to a context by step, its answers on others by message, forgotten ids, and the session's end.
 */
export interface Responses {
  responses: Response[];
  others: {
    [k: string]: Response;
  };
  forgotten: string[];
  last: number;
  is_answered_by_others: boolean;
  has_gone_on: boolean;
}
/**
 * An agent's responses to a context, with the results of their calls, and what it answered on others.
 */
export interface ResponsesRequest {
  /**
   * the agent, as `creator.agent_id` of its responses
   */
  agent: string;
  /**
   * the consumer of the context; none = the agent may be any
   */
  consumer?: string;
  /**
   * the session of the context
   */
  session: string;
  /**
   * id of the breadcrumb that asked for the context
   */
  trigger: string;
  /**
   * its sequence: only what came later is read
   */
  trigger_seq: number;
  /**
   * also the results of the calls
   */
  with_results?: boolean;
  /**
   * messages of a subject above which it is refused, with results
   */
  most?: number;
}
/**
 * Passages of a session, of a person's memory, or of the whole workspace when neither is named, the most probable first.
 */
export interface SearchRequest {
  /**
   * your id of a person: what was said by and to them, private sessions left out
   */
  user_id?: string;
  /**
   * the question, in words
   */
  text: string;
  /**
   * the session that is searched
   */
  session?: string;
  /**
   * most passages
   */
  limit?: number;
  /**
   * only what came before this stream sequence; 0 = everything
   */
  before?: number;
  /**
   * schemas that are searched; none = those of the default profile
   *
   * @maxItems 100
   */
  schemas?: string[];
}
/**
 * A section of the page.
 */
export interface SectionSize {
  name: string;
  tokens: number;
}
/**
 * The information of a service.
 */
export interface ServiceInfo {
  name: string;
  id: string;
  version: string;
  description?: string | null;
  endpoints?: EndpointInfo[];
  metadata?: {
    [k: string]: string;
  };
  type?: string;
}
/**
 * The response to a ping message.
 */
export interface ServicePing {
  id: string;
  name: string;
  version: string;
  metadata?: {
    [k: string]: string;
  };
  type?: string;
}
/**
 * The statistics of a service.
 */
export interface ServiceStats {
  id: string;
  name: string;
  version: string;
  started: string;
  endpoints?: EndpointStats[];
  metadata?: {
    [k: string]: string;
  };
  type?: string;
}
/**
 * A session, by its newest breadcrumb.
 */
export interface SessionEnd {
  session: string;
  seq: number;
  created_at: string;
}
/**
 * The session in cells, beside the page.
 */
export interface SessionStrip {
  context: string;
  trigger: string;
  session: string;
  consumer: string;
  tokens: number;
  is_same: boolean | null;
  notes: string[];
  content: string;
  budget: number;
  sections: SectionSize[];
  cells: Cell[];
  earlier: number;
}
/**
 * A page of sessions.
 */
export interface Sessions {
  sessions: SessionEnd[];
  next: string | null;
}
/**
 * Sessions of the workspace, or those in which a person has a breadcrumb, in pages; the one that spoke last comes first.
 */
export interface SessionsRequest {
  /**
   * your id of a person; none = all sessions
   */
  user_id?: string;
  /**
   * sessions of a page
   */
  limit?: number;
  /**
   * `next` of the page before
   */
  after?: string;
}
/**
 * How much of each breadcrumb of a session is on a context's page.
 */
export interface StripRequest {
  /**
   * id of the breadcrumb that asked for it; none = the session's last context
   */
  trigger?: string;
  /**
   * the agent; may be left out where the trigger asks for one context only
   */
  consumer?: string;
  /**
   * the session, without a trigger or where several have a breadcrumb of this id
   */
  session?: string;
  /**
   * with what came up to this stream sequence and has no context of its own; 0 = as it was published
   */
  as_of?: number;
  /**
   * most cells, the newest
   */
  most?: number;
}
/**
 * One line of a summary.
 */
export interface SummaryLine {
  /**
   * what is kept, the speaker's name in front
   */
  text: string;
  /**
   * day on which its episode began
   */
  day?: string;
  /**
   * breadcrumbs that it was made from
   *
   * @minItems 1
   */
  ids: [string, ...string[]];
  /**
   * their versions: an edited or deleted source hides the line
   *
   * @minItems 1
   */
  versions: [number, ...number[]];
  /**
   * kept word for word, outside the cap
   */
  verbatim?: boolean;
  /**
   * 0 = tells most; on a page without room for all, the highest go first
   */
  rank?: number;
  /**
   * of an observation, which a model wrote: its id; "" = it is none
   */
  id?: string;
  /**
   * of an observation: what it is about
   */
  subject?: string;
  /**
   * of an observation: id of an earlier one that holds no more because of it
   */
  replaces?: string;
}
/**
 * What stands for older breadcrumbs of a session. The service writes it; it never triggers. Its observations may be found.
 */
export interface SummaryV1 {
  /**
   * session; the subject decides, a contradiction is rejected
   */
  session_id?: string | null;
  /**
   * name shown in front of the message
   */
  speaker?: string | null;
  /**
   * {type, agent_id, name} of who wrote it
   */
  creator?: {
    [k: string]: unknown;
  } | null;
  /**
   * the task that it belongs to; its tag `task:ID` says the same
   */
  task_id?: string | null;
  /**
   * id of the breadcrumb that it answers, or that made somebody send it
   */
  trigger_event_id?: string | null;
  /**
   * in place order; of those kept word for word, and of observations, only what it newly covers
   */
  lines: SummaryLine[];
  /**
   * ids that it stands for, in versions that no earlier summary does, in order
   *
   * @minItems 1
   */
  covered: [string, ...string[]];
  /**
   * versions of the ids covered, one for each; empty = all are first ones
   */
  versions?: number[];
  /**
   * id of the summary that it continues; "" for the first
   */
  previous?: string;
  /**
   * id of the breadcrumb that heads the last unit it covers
   */
  last: string;
  /**
   * hash of the settings it was made with; so does the tag recipe:…
   */
  recipe: string;
  /**
   * extractive, or the name of the model
   */
  by?: string;
  /**
   * ISO 639-1 code, und when nobody knows
   */
  language?: string;
  /**
   * made on demand: shown at once, not when the beginning of the conversation on the page moves next
   */
  at_once?: boolean;
}
/**
 * The tools an agent may use; the latest one stands.
 */
export interface ToolCatalogV1 {
  /**
   * session; the subject decides, a contradiction is rejected
   */
  session_id?: string | null;
  /**
   * name shown in front of the message
   */
  speaker?: string | null;
  /**
   * {type, agent_id, name} of who wrote it
   */
  creator?: {
    [k: string]: unknown;
  } | null;
  /**
   * the task that it belongs to; its tag `task:ID` says the same
   */
  task_id?: string | null;
  /**
   * id of the breadcrumb that it answers, or that made somebody send it
   */
  trigger_event_id?: string | null;
  /**
   * the tools
   */
  tools: ToolSpec[];
}
/**
 * One tool of a catalog.
 */
export interface ToolSpec {
  /**
   * name that calls use
   */
  name: string;
  category?: string | null;
  description?: string | null;
}
/**
 * A tool call that failed.
 */
export interface ToolErrorV1 {
  /**
   * session; the subject decides, a contradiction is rejected
   */
  session_id?: string | null;
  /**
   * name shown in front of the message
   */
  speaker?: string | null;
  /**
   * {type, agent_id, name} of who wrote it
   */
  creator?: {
    [k: string]: unknown;
  } | null;
  /**
   * the task that it belongs to; its tag `task:ID` says the same
   */
  task_id?: string | null;
  /**
   * id of the breadcrumb that it answers, or that made somebody send it
   */
  trigger_event_id?: string | null;
  /**
   * joins the call with its result
   */
  request_id?: string | null;
  /**
   * the same under RCRT's other name
   */
  requestId?: string | null;
  /**
   * name of the tool
   */
  tool_name: string;
  /**
   * what went wrong
   */
  error_message?:
    | string
    | (
        | string
        | {
            [k: string]: unknown;
          }
      )[]
    | {
        [k: string]: unknown;
      };
  /**
   * the same under its other name
   */
  error?: {
    [k: string]: unknown;
  };
  /**
   * what the call printed
   */
  output?: {
    [k: string]: unknown;
  };
  /**
   * kind of the error
   */
  error_type?: string | null;
  /**
   * whether trying again may help
   */
  retryable?: boolean | null;
}
/**
 * A tool call.
 */
export interface ToolRequestV1 {
  /**
   * session; the subject decides, a contradiction is rejected
   */
  session_id?: string | null;
  /**
   * name shown in front of the message
   */
  speaker?: string | null;
  /**
   * {type, agent_id, name} of who wrote it
   */
  creator?: {
    [k: string]: unknown;
  } | null;
  /**
   * the task that it belongs to; its tag `task:ID` says the same
   */
  task_id?: string | null;
  /**
   * id of the breadcrumb that it answers, or that made somebody send it
   */
  trigger_event_id?: string | null;
  /**
   * joins the call with its result
   */
  request_id?: string | null;
  /**
   * the same under RCRT's other name
   */
  requestId?: string | null;
  /**
   * name of the tool
   */
  tool: string;
  /**
   * its arguments
   */
  input?: {
    [k: string]: unknown;
  };
}
/**
 * What a tool answered.
 */
export interface ToolResponseV1 {
  /**
   * session; the subject decides, a contradiction is rejected
   */
  session_id?: string | null;
  /**
   * name shown in front of the message
   */
  speaker?: string | null;
  /**
   * {type, agent_id, name} of who wrote it
   */
  creator?: {
    [k: string]: unknown;
  } | null;
  /**
   * the task that it belongs to; its tag `task:ID` says the same
   */
  task_id?: string | null;
  /**
   * id of the breadcrumb that it answers, or that made somebody send it
   */
  trigger_event_id?: string | null;
  /**
   * joins the call with its result
   */
  request_id?: string | null;
  /**
   * the same under RCRT's other name
   */
  requestId?: string | null;
  /**
   * name of the tool
   */
  tool: string;
  /**
   * whether the call worked
   */
  status?: "success" | "ok" | "completed" | "error" | "failed";
  /**
   * what it returned, any JSON; also what a call printed that failed
   */
  output?: {
    [k: string]: unknown;
  };
  /**
   * what went wrong; without status and output it says that the call failed
   */
  error?: {
    [k: string]: unknown;
  };
}
/**
 * Something a person said.
 */
export interface UserMessageV1 {
  /**
   * session; the subject decides, a contradiction is rejected
   */
  session_id?: string | null;
  /**
   * name shown in front of the message
   */
  speaker?: string | null;
  /**
   * {type, agent_id, name} of who wrote it
   */
  creator?: {
    [k: string]: unknown;
  } | null;
  /**
   * the task that it belongs to; its tag `task:ID` says the same
   */
  task_id?: string | null;
  /**
   * id of the breadcrumb that it answers, or that made somebody send it
   */
  trigger_event_id?: string | null;
  /**
   * what was said
   */
  content?:
    | string
    | (
        | string
        | {
            [k: string]: unknown;
          }
      )[]
    | {
        [k: string]: unknown;
      }
    | null;
  /**
   * the same under its other name
   */
  message?:
    | string
    | (
        | string
        | {
            [k: string]: unknown;
          }
      )[]
    | {
        [k: string]: unknown;
      }
    | null;
  /**
   * the same under its third name
   */
  text?:
    | string
    | (
        | string
        | {
            [k: string]: unknown;
          }
      )[]
    | {
        [k: string]: unknown;
      }
    | null;
  /**
   * who the person is, for senders that cannot set the record's `user_id`, which wins; never the display name
   */
  user_id?: string | null;
}
/**
 * Why a breadcrumb is on a context's page, or not.
 */
export interface WhyRequest {
  /**
   * id of the breadcrumb that asked for it; none = the session's last context
   */
  trigger?: string;
  /**
   * the agent; may be left out where the trigger asks for one context only
   */
  consumer?: string;
  /**
   * the session, without a trigger or where several have a breadcrumb of this id
   */
  session?: string;
  /**
   * with what came up to this stream sequence and has no context of its own; 0 = as it was published
   */
  as_of?: number;
  /**
   * id of the breadcrumb
   */
  id: string;
}

/** Name of a request → its body and its answer. */
export interface Requests {
  fetch: { request: FetchRequest; answer: BreadcrumbRecord };
  history: { request: HistoryRequest; answer: Breadcrumbs };
  sessions: { request: SessionsRequest; answer: Sessions };
  identities: { request: IdentitiesRequest; answer: Identities };
  context: { request: ContextRequest; answer: AgentContextV1 };
  consumers: { request: ConsumersRequest; answer: Consumers };
  fail: { request: FailRequest; answer: Nothing };
  forget: { request: ForgetRequest; answer: Receipts };
  responses: { request: ResponsesRequest; answer: Responses };
  difference: { request: DifferenceRequest; answer: Difference };
  durable: { request: DurableRequest; answer: Durable };
  listeners: { request: ListenersRequest; answer: Listeners };
  search: { request: SearchRequest; answer: Passages };
  refresh: { request: RefreshRequest; answer: AgentContextV1 };
  explain: { request: ExplainRequest; answer: Explanation };
  strip: { request: StripRequest; answer: SessionStrip };
  why: { request: WhyRequest; answer: Reason };
  replay: { request: ReplayRequest; answer: Comparison };
  compact: { request: CompactRequest; answer: CompactionResult };
}

/** Schema of a breadcrumb → its body. */
export interface Bodies {
  "user.message.v1": UserMessageV1;
  "agent.response.v1": AgentResponseV1;
  "tool.request.v1": ToolRequestV1;
  "tool.response.v1": ToolResponseV1;
  "tool.error.v1": ToolErrorV1;
  "tool.catalog.v1": ToolCatalogV1;
  "note.v1": NoteV1;
  "browser.page.context.v1": BrowserPageContextV1;
  "browser.tab.context.v1": BrowserTabContextV1;
  "breadcrumb.deleted.v1": BreadcrumbDeletedV1;
  "breadcrumb.moved.v1": BreadcrumbMovedV1;
  "agent.def.v1": AgentDefV1;
  "context.config.v1": ContextConfigV1;
  "context.blacklist.v1": ContextBlacklistV1;
  "summary.v1": SummaryV1;
}
