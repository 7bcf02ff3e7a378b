import type { Client, Plant } from "../../src/client/client.ts";
import type { Asked } from "../../src/files/reading/reading.ts";
import { TableError } from "../../src/files/table-error.ts";
import { checkFile } from "./check-file.ts";
import type { CheckedFile } from "./check-file.ts";
import { sendSlice } from "./send-slice.ts";
import { readSlices } from "./slices.ts";

/** How many plants with the name of the first row are looked at. */
const CANDIDATES = 20;

/** Numbers that people use. Longer ids are made at random, and no one wants to count on behind them. */
const NUMBER_MAX = 999_999_999n;

/** Reads a file with numbers for its rows without ids. `isKnown`: it is already there under them. */
export async function numberRows(
  checked: CheckedFile,
  { client, signal }: Readonly<{ client: Client; signal: AbortSignal }>,
): Promise<Readonly<{ checked: CheckedFile; isKnown: boolean }>> {
  const first = await findFirstId(client, checked, signal);
  if (!first) throw new TableError("There is no free number below 1,000,000,000 after the others: generate random ids.");
  return { checked: await checkFile(checked.file, numberedFrom(checked.asked, first.id), { signal }), isKnown: first.isKnown };
}

function numberedFrom(asked: Asked, first: bigint): Asked {
  return { ...asked, ids: { kind: "from", first } };
}

/**
 * Where a file was numbered before, so that importing it again does not double it (`isKnown`); otherwise the first number behind all others.
 * Undefined if no number is free behind the others.
 */
async function findFirstId(client: Client, checked: CheckedFile, signal: AbortSignal) {
  const last = await findLastNumber(client, signal);
  const known = await findKnown(client, { checked, last, signal });
  if (known !== undefined) return { id: known, isKnown: true };
  return last === NUMBER_MAX ? undefined : { id: last + 1n, isKnown: false };
}

type Looking = Readonly<{ checked: CheckedFile; last: bigint; signal: AbortSignal }>;

async function findKnown(client: Client, { checked, last, signal }: Looking): Promise<bigint | undefined> {
  const [first] = checked.plants;
  if (!first) return undefined;
  // Many may have the name: look also where the file is if it was the last to be numbered.
  const place = last - BigInt(checked.lines.length - 1 - first.row);
  const { plants: numbered } = await client.page({ after: place - 1n, limit: 1, signal });
  const { plants: found } = await client.page({ q: wordsOf(first.plant.name), limit: CANDIDATES, signal });
  for (const { id } of [...numbered, ...found].filter((plant) => isAlike(plant, first.plant))) {
    const from = id - BigInt(first.row);
    const { value: slice } = await readSlices({ ...checked, asked: numberedFrom(checked.asked, from) }).next();
    if (!slice) return undefined;
    const { counts } = await sendSlice(slice, { client, onConflict: "refuse", signal, dryRun: true });
    // Some rows may have been changed since, here or there.
    if (counts.unchanged * 2 > counts.read) return from;
  }
  return undefined;
}

/** A search takes at most 32 words. */
function wordsOf(name: string): string {
  return Array.from(name.matchAll(/[\p{L}\p{N}\p{M}]+/gu), ([word]) => word)
    .slice(0, 8)
    .join(" ")
    .slice(0, 500);
}

function isAlike(plant: Plant, other: Plant): boolean {
  return plant.name === other.name && plant.tag === other.tag;
}

/** The largest number that is an id; 0 if there is none. By halves, because pages begin with the smallest. */
async function findLastNumber(client: Client, signal: AbortSignal): Promise<bigint> {
  let last = 0n;
  let end = NUMBER_MAX;
  while (last < end) {
    const middle = (last + end) / 2n;
    const { plants } = await client.page({ after: middle, limit: 1, signal });
    const next = plants[0]?.id;
    if (next === undefined || next > NUMBER_MAX) end = middle;
    else last = next;
  }
  return last;
}
