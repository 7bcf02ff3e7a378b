import { parseArgs } from "node:util";
import { CONTENDERS } from "./contenders.ts";
import type { ContenderName } from "./contenders.ts";

const PARTS = ["compare", "cost-of-a-create", "reads", "transfer", "postgres", "size", "start"] as const;
export type PartName = (typeof PARTS)[number];

export type Settings = Readonly<{
  parts: readonly PartName[];
  only: readonly ContenderName[];
  rounds: number;
  seconds: number;
  plants: number;
  importPlants: number;
}>;

/** What each part gets. */
export type Bench = Settings &
  Readonly<{
    /** Aborts when the user stops the bench. */
    signal: AbortSignal;
    /** Reports progress. */
    note: (line: string) => void;
  }>;

const CONTENDER_NAMES = Object.keys(CONTENDERS) as ContenderName[];

export const HELP = `Usage: npm run bench -- [options]

  --part NAME,NAME         parts to run: ${PARTS.join(", ")} (all)
  --only NAME,NAME         contenders to compare: ${CONTENDER_NAMES.join(", ")} (all)
  --rounds NUMBER          rounds of each contender (5), and of each size of store, there at most 3
  --seconds NUMBER         length of a round (10)
  --plants NUMBER          plants in the large store (10000000)
  --import-plants NUMBER   plants in the file of the transfer part (1000000)
  --help                   this text
`;

/** Reads the command line. Undefined if the user asked for help. */
export function parseSettings(args: readonly string[]): Settings | undefined {
  const { values } = parseArgs({
    args: [...args],
    options: {
      part: { type: "string", default: PARTS.join() },
      only: { type: "string", default: CONTENDER_NAMES.join() },
      rounds: { type: "string", default: "5" },
      seconds: { type: "string", default: "10" },
      plants: { type: "string", default: "10000000" },
      "import-plants": { type: "string", default: "1000000" },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return undefined;
  return {
    parts: parseNames("--part", { text: values.part, choices: PARTS }),
    only: parseNames("--only", { text: values.only, choices: CONTENDER_NAMES }),
    rounds: parseCount("--rounds", values.rounds),
    seconds: parseCount("--seconds", values.seconds),
    plants: parseCount("--plants", values.plants),
    importPlants: parseCount("--import-plants", values["import-plants"]),
  };
}

/** The choices named, in their usual order. */
function parseNames<Name extends string>(flag: string, { text, choices }: { text: string; choices: readonly Name[] }): Name[] {
  const names = text.split(",");
  const isKnown = names.every((name) => choices.some((choice) => choice === name));
  if (!isKnown) throw new Error(`${flag} takes any of ${choices.join(",")}.`);
  return choices.filter((choice) => names.includes(choice));
}

function parseCount(flag: string, text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new Error(`${flag} takes a whole number from 1 to 999999999.`);
  return Number(text);
}
