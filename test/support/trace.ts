/**
 * One system call in the output of `strace -f -yy`. Times are lines of that output: strace stops a thread before and
 * after each call.
 */
export type Call = Readonly<{
  thread: string;
  name: string;
  /** The arguments as strace prints them. */
  text: string;
  /** What it returned, with what strace adds; empty if it never did. */
  result: string;
  began: number;
  /** Infinity if it never ended. */
  ended: number;
}>;

const WAL = "plants.db-wal";

const WHOLE = /^(\w+)\((.*)\) += (.*)$/;
const BEGIN = /^(\w+)\((.*) <unfinished \.\.\.>$/;
const END = /^<\.\.\. (\w+) resumed>(.*)\) += (.*)$/;

/** The calls in the order in which they began. */
export function parseTrace(text: string): Call[] {
  const calls: Call[] = [];
  const open = new Map<string, number>();
  for (const [line, content] of text.split("\n").entries()) {
    const [, thread = "", rest = ""] = /^(\d+) +(.*)$/.exec(content) ?? [];
    const [, ended, more = "", endResult = ""] = END.exec(rest) ?? [];
    const at = open.get(thread);
    // The process was killed in the middle of it.
    if (endResult.startsWith("?")) continue;
    if (ended !== undefined && at !== undefined) {
      const call = calls[at]!;
      calls[at] = { ...call, text: call.text + more, result: endResult, ended: line };
      open.delete(thread);
      continue;
    }
    const [, begun, begunText = ""] = BEGIN.exec(rest) ?? [];
    if (begun !== undefined) {
      open.set(thread, calls.length);
      calls.push({ thread, name: begun, text: begunText, result: "", began: line, ended: Number.POSITIVE_INFINITY });
      continue;
    }
    const [, name, args = "", result = ""] = WHOLE.exec(rest) ?? [];
    if (name === undefined) continue;
    const hasEnded = !result.startsWith("?");
    calls.push({
      thread,
      name,
      text: args,
      result: hasEnded ? result : "",
      began: line,
      ended: hasEnded ? line : Number.POSITIVE_INFINITY,
    });
  }
  return calls;
}

/** The syncs of a file of the data folder, in order. */
export function syncsOf(calls: readonly Call[], file: string): Call[] {
  return calls.filter((call) => isSync(call) && isOn(call, file));
}

/** Whether it makes a file survive a power cut. */
export function isSync({ name }: Call): boolean {
  return name === "fsync" || name === "fdatasync";
}

/** The path of the open file of a call; undefined if it has none, or if the file has been removed. */
export function openPathOf({ text }: Call): string | undefined {
  return /^\d+<(\/[^>]*)>(?!\(deleted\))/.exec(text)?.[1];
}

/** The strings among the arguments of a call, such as the bytes of a write or the path of a file. */
export function stringsOf({ text }: Call): Buffer[] {
  return Array.from(text.matchAll(/"((?:[^"\\]|\\.)*)"/g), ([, escaped = ""]) => Buffer.from(unescape(escaped), "latin1"));
}

/** Each response in the trace that names its request (X-Request-Id), and when its sending began. */
export function answersIn(calls: readonly Call[]): ReadonlyArray<Readonly<{ request: string; status: number; began: number }>> {
  return calls.filter(isSend).flatMap(({ text, began }) =>
    text.split("HTTP/1.1 ").flatMap((answer) => {
      const request = /\\r\\nX-Request-Id: ([\w.-]+)\\r\\n/i.exec(answer)?.[1];
      return request === undefined ? [] : [{ request, status: Number(answer.slice(0, 3)), began }];
    }),
  );
}

/** The names whose response 200 is in the trace. */
export function answeredIn(calls: readonly Call[], names: readonly string[]): string[] {
  const sent = calls.filter(isSend200);
  return names.filter((name) => sent.some((call) => answers(call, name)));
}

/**
 * Those names, of plants that were answered 200, for which the trace does not show this: the plant's first write to the
 * WAL ended, then a sync of the WAL began and succeeded, and only then the response was sent. Once a sync has failed,
 * none counts any more.
 */
export function findUnsynced(calls: readonly Call[], names: readonly string[]): string[] {
  const writes = calls.filter((call) => call.name === "pwrite64" && isOn(call, WAL));
  const failed = calls.find((call) => isSync(call) && call.result.startsWith("-1"))?.began ?? Number.POSITIVE_INFINITY;
  const syncs = syncsOf(calls, WAL).filter(({ result, ended }) => result === "0" && ended < failed);
  const sent = calls.filter(isSend200);
  return names.filter((name) => {
    const write = writes.find(({ text }) => text.includes(name));
    const sync = write && syncs.find(({ began }) => began > write.ended);
    const answer = sent.find((call) => answers(call, name));
    return !(sync && answer && answer.began > sync.ended);
  });
}

function isSend({ name, text }: Call): boolean {
  return name !== "pwrite64" && text.includes("HTTP/1.1 ");
}

function isSend200(call: Call): boolean {
  return isSend(call) && call.text.includes("HTTP/1.1 200");
}

function isOn(call: Call, file: string): boolean {
  return openPathOf(call)?.endsWith(`/${file}`) ?? false;
}

/** One call may send several responses. */
function answers({ text }: Call, name: string): boolean {
  return text.split("HTTP/1.1 ").some((answer) => answer.startsWith("200") && answer.includes(name));
}

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", v: "\v", f: "\f" };

/** strace writes bytes as C does: all but printable ASCII in octal, as short as possible. */
function unescape(escaped: string): string {
  return escaped.replaceAll(/\\([0-7]{1,3}|.)/g, (_, code: string) =>
    /^[0-7]/.test(code) ? String.fromCodePoint(Number.parseInt(code, 8)) : (ESCAPES[code] ?? code),
  );
}
