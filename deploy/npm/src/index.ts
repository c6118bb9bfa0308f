/** The client of agents: `connect`, then `send`, `ask`, `serve`, `search`. */

export { Client, connect, type AskOptions, type ConnectOptions, type MessageOptions, type SearchOptions, type SendOptions } from "./client.js";
export type { Context } from "./context.js";
export type { Tools } from "./replies.js";
export type { Handler, ServeOptions } from "./serve.js";
export type * from "./types.js";
/** The former name, for one release. */
export type { Requests as Verbs } from "./types.js";
export { Rejected, Unavailable } from "./wire.js";
