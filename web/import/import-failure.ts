import { PlantStoreError } from "../../src/domain/errors.ts";
import { TableError } from "../../src/files/table-error.ts";
import { failureText } from "../failure-text.ts";

/** What a browser throws when it cannot read a file (W3C File API, 7.1). */
const UNREADABLE: ReadonlySet<string> = new Set(["NotFoundError", "NotReadableError"]);

/** What went wrong with an import, as a sentence for people: with its file, or else as anywhere. */
export function importFailureText(thrown: unknown): string {
  if (thrown instanceof TableError || thrown instanceof PlantStoreError) return thrown.message;
  if (thrown instanceof DOMException && UNREADABLE.has(thrown.name))
    return "It is a folder, or the file was moved or changed meanwhile: choose a file again.";
  return failureText(thrown);
}
