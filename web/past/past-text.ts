import type { PastChange } from "../../src/client/client.ts";
import { quote } from "../notices.ts";
import { minuteOf } from "../time.ts";

const KINDS = { created: "Added", replaced: "Changed", deleted: "Deleted" } as const satisfies Record<PastChange["change"], string>;

/** "Changed 28 Nov 2026, 14:03 by “office”, in an import" */
export function pastText({ change, at, by, import: inImport }: PastChange): string {
  return `${KINDS[change]} ${minuteOf(at)}${byText(by)}${inImport === undefined ? "" : ", in an import"}`;
}

/** Of a time in RFC 3339: the day and the second. */
export function secondOf(time: string): string {
  return new Date(time).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "medium" });
}

/** Who did it, if the service says so: null is a command on its own machine. */
export function byText(by: string | null | undefined): string {
  if (by === undefined) return "";
  return by === null ? " by a command of the service" : ` by ${quote(by)}`;
}

/** In the place of a list that is on its way, or that has nothing. */
export function statusText(list: readonly unknown[] | undefined, problem: string | undefined, none: string): string {
  if (list === undefined) return problem === undefined ? "Loading…" : "";
  return list.length === 0 ? none : "";
}
