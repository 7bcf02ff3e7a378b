import { PlantStoreError } from "../domain/errors.ts";

/** What is wrong with a file as a whole, and what to do. */
export class TableError extends PlantStoreError {
  constructor(message: string) {
    super("unreadable_file", { message });
    this.name = "TableError";
  }
}

/** A likely encoding, and words of the file as it reads them. */
export type Likely = Readonly<{ encoding: string; words: string }>;

/** The encoding of a text was not said, and is not clear. */
export class UnclearEncoding extends PlantStoreError {
  /** The likeliest first. */
  readonly likely: readonly Likely[];

  constructor(likely: readonly Likely[]) {
    const names = likely.map(({ encoding }) => encoding);
    const message = `The encoding of the file is not clear, it may be ${names.join(", ")}: say it, as in \`reading={"encoding":"${names[0]}"}\`, or save the file as UTF-8.`;
    super("unclear_encoding", { message });
    this.likely = likely;
  }
}
