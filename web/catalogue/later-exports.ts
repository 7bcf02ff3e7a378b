import { PROBLEM_MS } from "../notices.ts";
import type { Notices } from "../notices.ts";
import { LOST_CODE } from "../ui/later.tsx";

type Code = typeof import("./export-to-file.ts");

/** Saves files with code that most visits do not need. */
export function withExports(notices: Notices, act: (code: Code) => unknown): void {
  import("./export-to-file.ts").then(act, () => notices.add({ kind: "problem", text: LOST_CODE, lastsMs: PROBLEM_MS }));
}
