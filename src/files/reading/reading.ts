/** What may stand between the cells of a text; "" where each line is one cell. */
export const SEPARATORS = [",", ";", "\t", "|", ""] as const;
export type Separator = (typeof SEPARATORS)[number];

/** Whether quotes around a cell belong to the text: "double" if they do not, and two inside mean one (RFC 4180). */
export type Quotes = "double" | "none";

/** Where rows without an id get one: nowhere, so that they are refused; from their content; or they are numbered from here on. */
export type Ids = Readonly<{ kind: "file" | "content" }> | Readonly<{ kind: "from"; first: bigint }>;

/** How people want a table to be read. What they leave out is guessed from its first rows. */
export type Asked = Readonly<{
  /** A name of the Encoding Standard (encoding.spec.whatwg.org). A byte order mark counts more. */
  encoding?: string;
  separator?: Separator;
  quotes?: Quotes;
  /** The line on which the row begins that names the columns; 0 if none does. Rows above it are no plants. */
  heading?: number;
  /** The sheet of a workbook, by its name. */
  sheet?: string;
  /** A column, by its name, or its position as in `column 4`; empty for none. */
  id?: string;
  /** The columns that make the name, in this order. */
  name?: readonly string[];
  tag?: string;
  ids?: Ids;
  /** Whether a row without a name is a plant. */
  emptyNames?: boolean;
}>;

/** How a table is read: asked for again, it gives the same plants. A sheet has no encoding, separator or quotes. */
export type Reading = Asked & Readonly<Required<Pick<Asked, "heading" | "id" | "name" | "tag" | "ids" | "emptyNames">>>;

/** What is probably not meant: of the whole table, or of the row that begins on this line. */
export type Doubt = Readonly<{ line?: number; message: string }>;

/** How many rows a guess is made from. */
export const SAMPLE_ROWS = 300;
/** Or so many cells: a row may have a hundred thousand. */
export const SAMPLE_CELLS = 20_000;

/** The heading is one of so many rows, blank ones not counted. */
export const HEADING_ROWS = 20;
