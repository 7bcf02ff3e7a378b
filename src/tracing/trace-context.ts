/** The span of a caller, as W3C Trace Context 2 passes it on. */
export type RemoteParent = Readonly<{
  traceId: string;
  spanId: string;
  /** Whether the caller records its part of the trace, and so wishes that we record ours. */
  isSampled: boolean;
  /** What tracing systems on the way have added, as it was sent. */
  state: string | undefined;
}>;

/** `00-<trace>-<span>-<flags>`. Later versions may add to the end (3.2.4), and only ff is none. */
const TRACEPARENT = /^(?!ff)([\da-f]{2})-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(-.*)?$/;

const SAMPLED = 1;

/** A member of a list: a key, or a tenant, `@` and a system; then its value, which does not end with a space (3.3.1.3). */
const MEMBER =
  /^[\t ]*(?:[a-z][\da-z_\-*/]{0,255}|[\da-z][\da-z_\-*/]{0,240}@[a-z][\da-z_\-*/]{0,13})=[ -+\--<>-~]{0,255}[!-+\--<>-~][\t ]*$/;

/** As many characters as everyone has to pass on (3.3.1.5), and how many members there may be (3.3.1.1). */
const STATE_LENGTH_MAX = 512;
const MEMBERS_MAX = 32;

/** The caller's span. Undefined if there is none, or it is not valid: then the trace begins here (3.2). */
export function findParent(headers: Readonly<{ get(name: string): string | null }>): RemoteParent | undefined {
  const [, version, traceId, spanId, flags = "", more] = TRACEPARENT.exec(headers.get("traceparent") ?? "") ?? [];
  if (traceId === undefined || spanId === undefined || (version === "00" && more !== undefined)) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & SAMPLED) !== 0, state: parseState(headers.get("tracestate")) };
}

/** A state that is not valid is dropped, and the trace goes on without it (4.3). */
function parseState(text: string | null): string | undefined {
  if (text === null || text.length > STATE_LENGTH_MAX) return undefined;
  const members = text.split(",").filter((member) => /[^\t ]/.test(member));
  const isValid = members.length > 0 && members.length <= MEMBERS_MAX && members.every((member) => MEMBER.test(member));
  return isValid ? text : undefined;
}
