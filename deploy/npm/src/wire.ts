/** Subjects, ids and records, as `builder/wire` has them. */

/** Malformed, too large, unknown: fix it. */
export class Rejected extends Error {
  override name = "Rejected";
}

/** Broker or service are away, or busy: try again. */
export class Unavailable extends Error {
  override name = "Unavailable";
}

/** Another message came on the subject since the last read. */
export class Conflict extends Unavailable {}

export type Json = { [name: string]: any };

const HEADS = ["breadcrumbs", "contexts", "deadletters", "probes", "compactions", "requests"];
const CONTEXTS_NAMESPACE = "5b0f1d0e-6f0f-5f0b-9a55-0d6f7b1c8e21";
const OID_NAMESPACE = "6ba7b812-9dad-11d1-80b4-00c04fd430c8";
const utf8 = new TextEncoder();
const isToken = (text: string) => /^[A-Za-z0-9_-]{1,128}$/.test(text);

export function checkToken(value: string, what: string): string {
  if (isToken(value)) return value;
  const shown = `${what} '${value.slice(0, 140)}'`;
  throw new Rejected(`${shown} does not fit a NATS subject; use 1 to 128 of the characters A-Z, a-z, 0-9, '_' and '-'`);
}

export function checkSchema(value: string): string {
  if (/^[A-Za-z0-9_-]{1,64}(\.[A-Za-z0-9_-]{1,64}){0,7}$/.test(value)) return value;
  const shown = `schema name '${value.slice(0, 140)}'`;
  throw new Rejected(`${shown} does not fit a NATS subject; use words joined by dots, like user.message.v1`);
}

/** What an installation's subjects and streams begin with; with the default name, nothing. */
export function prefixes(name: string): { subject: string; stream: string } {
  if (name === "context-builder") return { subject: "", stream: "" };
  if (/^[a-z0-9][a-z0-9_-]{0,31}$/.test(name) && !HEADS.includes(name)) return { subject: `${name}.`, stream: `${name}-` };
  throw new Rejected(
    `installation name '${name.slice(0, 40)}' cannot be used; take 1 to 32 of the characters a-z, 0-9, '_' and '-', beginning with ` +
      `a letter or a digit, and none of ${[...HEADS].sort().join(", ")}`,
  );
}

/** Any text as one token of a subject, by the three rules of the protocol. */
export async function sessionToken(text: string): Promise<string> {
  if (isToken(text) && (await sessionText(text)) === text) return text;
  if (!text) throw new Rejected("session is an empty text; give the conversation a name, or _ for none");
  if (!text.isWellFormed()) throw new Rejected("session holds half of a surrogate pair; give whole characters");
  const bytes = utf8.encode(text);
  const quote = (byte: number) => (/[A-Za-z0-9-]/.test(String.fromCharCode(byte)) ? String.fromCharCode(byte) : `_${hex([byte])}`);
  const quoted = `_x-${[...bytes].map(quote).join("")}`;
  return quoted.length <= 128 ? quoted : `_h-${hex(await digest("SHA-256", bytes)).slice(0, 40).toLowerCase()}`;
}

/** The text of a session; any other token as it is. */
export async function sessionText(token: string): Promise<string> {
  if (!/^_x-([A-Za-z0-9-]|_[0-9A-F]{2})*$/.test(token)) return token;
  try {
    const text = decodeURIComponent(token.slice(3).replaceAll("_", "%"));
    return text && (await sessionToken(text)) === token ? text : token;
  } catch {
    return token; // no UTF-8
  }
}

/** `Nats-Msg-Id` of a breadcrumb: percent-encoded, because headers are ASCII. */
export function messageId(workspace: string, id: string, version: number): string {
  const quoted = encodeURIComponent(`${workspace}:${id}:${version}`.toWellFormed()).replaceAll("%3A", ":");
  return quoted.replace(/[!*'()]/g, (sign) => `%${hex([sign.charCodeAt(0)])}`);
}

export const contextId = (workspace: string, session: string, trigger: string, consumer: string): Promise<string> =>
  uuid5(CONTEXTS_NAMESPACE, [workspace, session, trigger, consumer].join("\u001f"));

export const responseId = (context: string): Promise<string> => uuid5(context, "agent.response.v1 1");

export const resultId = (response: string, request: string): Promise<string> => uuid5(OID_NAMESPACE, `${response} ${request}`);

/** Equal texts for equal values. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_, part) => (part && typeof part === "object" && !Array.isArray(part) ? sorted(part) : part));
}

const sorted = (part: Json) => Object.fromEntries(Object.keys(part).sort().map((name) => [name, part[name]]));

async function uuid5(namespace: string, name: string): Promise<string> {
  const space = namespace.replaceAll("-", "").match(/../g)!.map((pair) => parseInt(pair, 16));
  const bytes = (await digest("SHA-1", new Uint8Array([...space, ...utf8.encode(name)]))).slice(0, 16);
  bytes[6] = (bytes[6]! & 0x0f) | 0x50;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  return hex(bytes).toLowerCase().replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

const digest = async (kind: string, data: Uint8Array<ArrayBuffer>) => new Uint8Array(await crypto.subtle.digest(kind, data));

const hex = (bytes: Iterable<number>) => [...bytes].map((byte) => byte.toString(16).padStart(2, "0").toUpperCase()).join("");
