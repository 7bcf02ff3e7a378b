import type { LlhttpReading } from "./llhttp.ts";
import type { Understood } from "../understand.ts";

/** A request that we accept and llhttp does not, or not as the same, and the one before it. */
export type Difference = Readonly<{ what: string; text: string; before: string }>;

/** Compares what we accepted with what llhttp understood. We may refuse or close where it goes on. */
export function findDifference(stream: string, ours: readonly Understood[], { requests, refusal }: LlhttpReading): Difference | undefined {
  let [start, before] = [0, ""];
  for (const [number, request] of ours.entries()) {
    const theirs = requests[number];
    const what = theirs ? compare(request, theirs, refusal) : `refused: ${refusal}`;
    const text = stream.slice(start, request.end);
    if (what !== undefined) return { what, text, before };
    before = text;
    start = request.end ?? stream.length;
  }
  return undefined;
}

function compare(ours: Understood, theirs: LlhttpReading["requests"][number], refusal: string | undefined): string | undefined {
  if (ours.method !== theirs.method) return `method ${theirs.method}`;
  if (toTarget(ours) !== toTheirTarget(ours.method, theirs.target)) return `target ${theirs.target}`;
  // We have not accepted what has not arrived completely.
  if (theirs.end === undefined && refusal !== undefined) return ours.end === undefined ? undefined : `refused: ${refusal}`;
  if (ours.end !== theirs.end) return `end ${theirs.end}`;
  if (ours.body !== theirs.body) return `body ${JSON.stringify(theirs.body)}`;
  const fields = joinFields(theirs.fields);
  const wrong = [...fields.keys()].find((name) => ours.headers.get(name) !== fields.get(name));
  return wrong === undefined ? undefined : `field ${wrong}`;
}

/** Several fields of one name are one list. */
function joinFields(pairs: readonly string[]): Map<string, string> {
  const fields = new Map<string, string>();
  for (let at = 0; at < pairs.length; at += 2) {
    const [name, value] = [pairs[at]!.toLowerCase(), pairs[at + 1]!];
    const before = fields.get(name);
    fields.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  return fields;
}

function toTarget({ authority, path, query }: Understood): string {
  return JSON.stringify([authority, path, query]);
}

/** A target as sent, in its parts: all that llhttp says about it. */
function toTheirTarget(method: string, target: string): string {
  if (method === "CONNECT") return JSON.stringify([undefined, undefined, ""]);
  const [, authority, path, query] = /^(?:https?:\/\/([^/?#]*))?([^?]*)\??(.*)$/is.exec(target)!;
  return JSON.stringify([authority, decode(path || "/"), query]);
}

function decode(path: string): string | undefined {
  // An encoded slash, or no UTF-8: no resource.
  if (/%2f/i.test(path)) return undefined;
  if (!path.includes("%")) return path;
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}
