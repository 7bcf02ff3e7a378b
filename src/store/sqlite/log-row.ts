import type { ChangeKind } from "../../domain/change.ts";
import type { Owner } from "../../runtime/fair-shares.ts";

/** A plant as it is stored. */
export type PlantRow = { id: bigint; name: string; tag: string | null; added: bigint | null };

/** A change of a plant. `before`: what it was, unless it is new. */
export type Change = Readonly<{ id: bigint; kind: ChangeKind; by: Owner; before?: PlantRow }>;

/**
 * Changes as a row of the table has them, some of one commit. `at`: when, in microseconds; null in rows from before the log,
 * which only the index reads. `kinds`: a letter for each; null if all were created. `writers`: see `toWriters`. `before`: what
 * those were that are not new, in order; null if there are none, or all were erased.
 */
export type LogRow = { ids: Uint8Array; at: number | null; kinds: string | null; writers: string | null; before: string | null };

/** The letter of each kind. */
const LETTERS = { created: "c", replaced: "r", deleted: "d" } as const satisfies Record<ChangeKind, string>;
const KINDS = Object.fromEntries(Object.entries(LETTERS).map(([kind, letter]) => [letter, kind])) as Record<string, ChangeKind>;

/** What is stored of each plant before: its id alone once the rest was erased. Numbers of JSON are too small for ids and times. */
type Before = readonly [id: string, name?: string, tag?: string | null, added?: string | null];

export function toIds(changes: readonly Change[]): Uint8Array {
  return new Uint8Array(BigInt64Array.from(changes, ({ id }) => id).buffer);
}

/** How the ids of a row have one. */
export function toBytes(id: bigint): Uint8Array {
  return new Uint8Array(BigInt64Array.of(id).buffer);
}

export function fromIds(ids: Uint8Array): BigInt64Array {
  return new BigInt64Array(ids.slice().buffer);
}

export function toKinds(changes: readonly Change[]): string | null {
  return changes.every(({ kind }) => kind === "created") ? null : changes.map(({ kind }) => LETTERS[kind]).join("");
}

/** The kind of the change with this index in its row. */
export function kindAt(kinds: string | null, index: number): ChangeKind {
  return (kinds === null ? undefined : KINDS[kinds[index]!]) ?? "created";
}

/** Whether a row of so many changes may have these, if so many plants were there before. */
export function kindsFit(kinds: string | null, { count, before }: Readonly<{ count: number; before: number }>): boolean {
  if (kinds === null) return before === 0;
  return /^[crd]*$/.test(kinds) && kinds.length === count && kinds.replaceAll(LETTERS.created, "").length === before;
}

/** One line for each, or one for all of them. */
export function toWriters(owners: readonly Owner[]): string {
  const [first = ""] = owners;
  return owners.every((owner) => owner === first) ? first : owners.join("\n");
}

/** Returns who made the change with an index. */
export function fromWriters(writers: string | null): (index: number) => Owner {
  if (writers === null || !writers.includes("\n")) return () => writers ?? "";
  const owners = writers.split("\n");
  return (index) => owners[index] ?? "";
}

export function toBefore(changes: readonly Change[]): string | null {
  const rows = changes.flatMap(({ before }) => before ?? []);
  return rows.length === 0 ? null : JSON.stringify(rows.map(toStored));
}

function toStored({ id, name, tag, added }: PlantRow): Before {
  return [String(id), name, tag, added === null ? null : String(added)];
}

/** What those were that are not new, in order. Undefined is a plant that was erased. */
export function fromBefore({ kinds, before }: Pick<LogRow, "kinds" | "before">): ReadonlyArray<PlantRow | undefined> {
  if (before !== null) return (JSON.parse(before) as Before[]).map(fromStored);
  return Array.from((kinds ?? "").replaceAll(LETTERS.created, ""), () => undefined);
}

function fromStored([id, name, tag = null, added = null]: Before): PlantRow | undefined {
  return name === undefined ? undefined : { id: BigInt(id), name, tag, added: added === null ? null : BigInt(added) };
}

/** The same text without what a plant was, but that it was; and how often it was there. */
export function withoutPlant(before: string, id: bigint): Readonly<{ before: string; erased: number }> {
  const rows = JSON.parse(before) as Before[];
  const isErased = ([of, name]: Before) => name !== undefined && of === String(id);
  return { before: JSON.stringify(rows.map((row) => (isErased(row) ? [row[0]] : row))), erased: rows.filter(isErased).length };
}
