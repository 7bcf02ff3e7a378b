import type { Client } from "../../src/client/client.ts";
import { TableError } from "../../src/files/table-error.ts";
import { checkFile } from "./check-file.ts";
import type { CheckedFile } from "./check-file.ts";
import { findFirstId } from "./first-id.ts";

/** Reads a file without ids with numbers for its rows. `isKnown`: it is already there under them. */
export async function numberRows(
  { file, format, faults, csv }: CheckedFile,
  { client, signal }: Readonly<{ client: Client; signal: AbortSignal }>,
): Promise<Readonly<{ checked: CheckedFile; isKnown: boolean }>> {
  const counted = await checkFile(file, { format, faults, csv: { ...csv, ids: { kind: "from", first: 1n } }, signal });
  const first = await findFirstId(client, counted, signal);
  if (!first) throw new TableError("No number below 1,000,000,000 is free behind the others: let ids be made at random.");
  return {
    checked: await checkFile(file, { format, faults, csv: { ...csv, ids: { kind: "from", first: first.id } }, signal }),
    isKnown: first.isKnown,
  };
}
