/** A table as an owner has it, and what it is to become. */
export type OwnedTable = Readonly<{
  what: string;
  file: string | Uint8Array;
  /** As `id|name|tag`, in the order of the file. An id that is made is `*`. */
  plants: readonly string[];
  /** How many rows are no plants: blank ones, titles, repeated headings. */
  skipped?: number;
  /** The lines of rows that are refused. */
  refused?: readonly number[];
  /** What is said to be doubtful, by some of its words; nothing else is. */
  doubts?: readonly string[];
}>;
