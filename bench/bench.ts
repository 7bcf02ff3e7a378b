import { parseArgs } from "node:util";
import { CONTENDERS } from "./contenders.ts";
import type { ContenderName } from "./contenders.ts";

/** What each part gets. */
export type Bench = Readonly<{
  only: readonly ContenderName[];
  rounds: number;
  seconds: number;
  plants: number;
  importPlants: number;
  /** Aborts when the user stops the bench. */
  signal: AbortSignal;
  /** Reports progress. */
  note: (line: string) => void;
}>;

export function helpFor(parts: readonly string[]): string {
  return `Usage: npm run bench -- [options]

  --part NAME,NAME         parts to run: ${parts.join(", ")} (all)
  --only NAME,NAME         contenders to compare: ${CONTENDERS.join(", ")} (all)
  --rounds NUMBER          rounds of each contender (5), and of each size of store, there at most 3
  --seconds NUMBER         length of a round (10)
  --plants NUMBER          plants in the large store (10000000)
  --import-plants NUMBER   plants in each file of the transfer part (1000000)
  --help                   this text
`;
}

/** Reads the command line. Undefined if the user asked for help. */
export function parseSettings<Part extends string>(args: readonly string[], parts: readonly Part[]) {
  const text = (value: string) => ({ type: "string", default: value }) as const;
  const { values } = parseArgs({
    args: [...args],
    options: {
      part: text(parts.join()),
      only: text(CONTENDERS.join()),
      rounds: text("5"),
      seconds: text("10"),
      plants: text("10000000"),
      "import-plants": text("1000000"),
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return undefined;
  return {
    parts: parseNames("--part", values.part, parts),
    only: parseNames("--only", values.only, CONTENDERS),
    rounds: parseCount("--rounds", values.rounds),
    seconds: parseCount("--seconds", values.seconds),
    plants: parseCount("--plants", values.plants),
    importPlants: parseCount("--import-plants", values["import-plants"]),
  };
}

/** The choices named, in their usual order. */
function parseNames<Name extends string>(flag: string, text: string, choices: readonly Name[]): Name[] {
  const names = text.split(",");
  if (!names.every((name) => choices.some((choice) => choice === name))) throw new Error(`${flag} takes any of ${choices.join(",")}.`);
  return choices.filter((choice) => names.includes(choice));
}

function parseCount(flag: string, text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new Error(`${flag} takes a whole number from 1 to 999999999.`);
  return Number(text);
}
