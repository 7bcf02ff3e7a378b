import { readFileSync } from "node:fs";
import type { Edit } from "../mutants.ts";

/** An edit in the text of a test, unless its file or one of its texts is in a variable. */
const LITERAL = String.raw`("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|\`(?:[^\`$\\]|\\.)*\`)`;
const WRITTEN = new RegExp(String.raw`\bfile:\s*"([^"]+)",\s*from:\s*${LITERAL},\s*to:\s*${LITERAL}`, "g");

/** The edits that tests and the bench write down themselves, each with the file that has it. Those of test/mutants.ts are not among them. */
export function writtenEdits(): (Edit & { place: string })[] {
  return Array.from(new Bun.Glob("{test,bench}/**/*.ts").scanSync())
    .filter((file) => !file.includes("node_modules") && file !== "test/mutants.ts")
    .flatMap((place) =>
      Array.from(readFileSync(place, "utf8").matchAll(WRITTEN), ([, file = "", from = "", to = ""]) => ({
        place,
        file,
        from: textOf(from),
        to: textOf(to),
      })),
    );
}

/** What a literal means: JSON, but for its quotes and line ends. */
function textOf(literal: string): string {
  if (literal.startsWith('"')) return JSON.parse(literal) as string;
  const inside = literal.slice(1, -1).replaceAll(/\\([`'])/g, "$1");
  return JSON.parse(`"${inside.replaceAll('"', String.raw`\"`).replaceAll("\n", String.raw`\n`)}"`) as string;
}
