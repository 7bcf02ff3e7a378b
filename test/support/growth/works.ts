import { BlockList } from "node:net";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { loadContract } from "../../../src/domain/contract.ts";
import { toByteText } from "../../../src/files/encoding/encodings.ts";
import { openCellDecoder } from "../../../src/files/encoding/cell-decoder.ts";
import { gunzip } from "../../../src/files/gunzip.ts";
import { importFile } from "../../../src/files/import.ts";
import type { ImportSummary } from "../../../src/files/import.ts";
import { csvWriter } from "../../../src/files/csv-writer.ts";
import { openFile } from "../../../src/files/open-file.ts";
import type { FileFormat, FileSource } from "../../../src/files/read-file.ts";
import { PLAIN } from "../../../src/files/row.ts";
import type { ReadOptions } from "../../../src/files/row.ts";
import type { Bytes } from "../../../src/files/bytes.ts";
import { PlantStoreError } from "../../../src/domain/errors.ts";
import { createSharedPauses } from "../../../src/runtime/event-loop.ts";
import { clientAddress, networkOf } from "../../../src/http/client-address.ts";
import { ChunkedDecoder } from "../../../src/http/wire/chunked.ts";
import { parseFields } from "../../../src/http/wire/fields.ts";
import type { Fields } from "../../../src/http/wire/fields.ts";
import { createHeadParser } from "../../../src/http/wire/head.ts";
import { decodeBody, parseInt64, parseJson } from "../../../src/domain/json.ts";
import { createLog } from "../../../src/runtime/log.ts";
import { asPlantId } from "../../../src/domain/plant.ts";
import type { NewPlant } from "../../../src/domain/plant.ts";
import { searchableColumnsOf, toQuery } from "../../../src/store/postgres/plant-columns.ts";
import { fromColumn, toColumn } from "../../../src/store/postgres/engine/text.ts";
import { nameKey } from "../../../src/domain/name-order.ts";
import { normalize } from "../../../src/domain/normalization.ts";
import { WordIndex } from "../../../src/store/sqlite/search/word-index.ts";
import { isFound, wordsOfName, wordsOfSearch } from "../../../src/domain/terms.ts";
import { findParent } from "../../../src/tracing/trace-context.ts";
import { checkBody, parsePlant } from "../../../src/domain/validation.ts";
import { findRepeats } from "../../../web/import/repeats.ts";
import { makeZip } from "../shelf/workbook.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import type { Input, Work } from "./growth.ts";

type Table = NonNullable<ReadOptions["table"]>;

const GUESSING: Table = { asked: {} };
const CHOOSING: Table = { plain: { ...PLAIN, columns: { tag: "column 3" } } };
const contract = loadContract();
const parseHead = createHeadParser();
const folder = temporaryFolder();

/** Lines like those of a request, but of any characters. */
function fieldsOf(...lines: readonly string[]): Fields {
  return parseFields(lines) as Fields;
}

function field(name: string, text: string): Fields {
  return fieldsOf(`${name}: ${text}`);
}

function parseLines(text: string): void {
  parseHead(`GET / HTTP/1.1\r\nHost: a\r\n${text}`);
}

/** So many that they take measurable time, each from another host, so that none is known. */
function parseShortHeads(text: string): void {
  for (let host = 0; host < 200; host += 1) {
    parseHead(`GET / HTTP/1.1\r\nHost: ${host}\r\n${text.replace(/\r\n$/, "")}`);
  }
}

/** Decodes a chunked body that arrives in pieces of `size` bytes. */
function readChunks(text: string, size: number): void {
  const decoder = new ChunkedDecoder(() => {});
  const bytes = Buffer.from(text, "latin1");
  for (let at = 0; at < bytes.length; at += size) decoder.feed(bytes.subarray(at, at + size));
}

function plantOf(name: string): NewPlant {
  return { id: asPlantId(1n), name, tag: name };
}

/** Parses JSON as a body, and checks it against the body of every operation, of which one must take it. */
function readJson(text: string): void {
  const value = parseJson(decodeBody(Buffer.from(text)));
  const bodies = contract.operations.map(({ body }) => body).filter((body) => body.kind === "json");
  const refusals = bodies.map((body) => {
    try {
      return void checkBody(body, value);
    } catch (error) {
      return error;
    }
  });
  if (refusals.every((refusal) => refusal !== undefined)) throw refusals[0];
}

/** A sender that drips sends so few bytes at a time. */
const FEW = 32;

/** A file in pieces: as from a socket, or a sender that drips. */
async function* drip(text: string, size = 65_536, encoding: BufferEncoding = "utf8"): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text, encoding);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function* inOne(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/** Reads a file as an import does, but stores nothing. */
function importNowhere(source: FileSource, table: Table, pauses = openPauses()): Promise<ImportSummary> {
  const how = { table, parsePlant, lineBytesMax: LINE, pauses, isReplacing: false, isDryRun: false };
  return importFile(nowhere, source, how);
}

/** Throws the first refusal of a line. */
async function readAll(format: FileFormat, bytes: Bytes, table: Table = { plain: PLAIN }): Promise<void> {
  const { problems } = await importNowhere({ format, bytes }, table);
  if (problems[0]) throw new PlantStoreError("malformed_row", { message: problems[0].message });
}

function csv(text: string, size?: number): Promise<void> {
  return readAll("csv", drip(text, size));
}

/** Rows of cells that all differ, and are as long as headings may be. */
function inCells(text: string): string {
  const cells = text.replaceAll(/[\r\n",;|\t]/g, "").match(/.{1,90}/gsu) ?? [];
  return cells.map((cell, at) => `${cell}${at}${at % 40 === 39 ? "\n" : ","}`).join("");
}

function guess(text: string, size?: number): Promise<void> {
  return readAll("csv", drip(text, size), GUESSING);
}

/** For a file with lines that are refused. */
async function guessRefused(text: string): Promise<void> {
  await importNowhere({ format: "csv", bytes: drip(text) }, GUESSING);
}

function ndjson(text: string): Promise<void> {
  return readAll("ndjson", drip(text));
}

/** For a file of which each line must be refused. */
async function refuseAll(format: FileFormat, bytes: Bytes): Promise<void> {
  const { created, refused } = await importNowhere({ format, bytes }, { plain: PLAIN });
  if (created > 0 || refused === 0) throw new PlantStoreError("id_in_use");
}

/** A cell in quotes. */
function quoted(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}

/** Reads a workbook with this below the first row of its only sheet. */
function drainSheet(inner: string): Promise<void> {
  return drain({
    "xl/workbook.xml": '<workbook><sheets><sheet name="x" r:id="r1"/></sheets></workbook>',
    "xl/_rels/workbook.xml.rels": '<Relationships><Relationship Id="r1" Target="worksheets/a.xml"/></Relationships>',
    "xl/worksheets/a.xml": `<worksheet><row><c t="str"><v>Name</v></c><c t="str"><v>Tag</v></c></row>${inner}</worksheet>`,
  });
}

/** Reads a spreadsheet of OpenDocument with this below the first row of its only sheet. */
function drainOds(inner: string): Promise<void> {
  const cells = ["Name", "Tag"].map((name) => `<table:table-cell><text:p>${name}</text:p></table:table-cell>`);
  const rows = `<table:table-row>${cells.join("")}</table:table-row>${inner}`;
  return drain({
    mimetype: "application/vnd.oasis.opendocument.spreadsheet",
    "content.xml": `<office:document-content><table:table table:name="x">${rows}</table:table></office:document-content>`,
  });
}

async function drain(files: Readonly<Record<string, string>>): Promise<void> {
  const bytes = makeZip(files);
  const pauses = openPauses();
  const whole = () => Promise.resolve(new Blob([bytes]));
  await importNowhere(await openFile({ bytes: inOne(bytes), whole, gunzip, pause: () => pauses() }), GUESSING, pauses);
}

const FAR_ROW = '<row><c t="str"><v>a</v></c><c r="XFD"><v>1</v></c></row>';

/** A text in a format of its own for each comma. */
function inRuns(text: string): string {
  return `<row><c t="inlineStr"><is>${text.replaceAll(",", "<r><t>a</t></r>")}</is></c></row>`;
}

/** A cell with a note for each comma. */
function withNotes(text: string): string {
  const notes = text.replaceAll(",", "<office:annotation/>a");
  return `<table:table-row><table:table-cell>${notes}<text:p>a</text:p></table:table-cell></table:table-row>`;
}

/** Ids whose halves differ in the same bits, which were made to meet in a table. */
export function meetingIds(length: number): string {
  return Array.from({ length: length / 20 }, (_, at) => String((BigInt(at) << 32n) | BigInt(at ^ 5))).join("\n");
}

/** Looks for rows with the id of an earlier one, as the page does. */
export function findRepeated(ids: string): void {
  const repeats = findRepeats();
  for (const [at, id] of ids.split("\n").entries()) repeats.see({ id: asPlantId(BigInt(id)), name: "a" }, at);
}

const openPauses = createSharedPauses(() => performance.now());
const nowhere = { import: (plants: readonly NewPlant[]) => Promise.resolve(plants.map(() => "created" as const)) };

const log = createLog({ level: "debug", isTerminal: false, write: () => {}, now: Date.now });
const proxies = new BlockList();
proxies.addAddress("127.0.0.1");
const SPAN = "4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
const terminalLog = createLog({ level: "debug", isTerminal: true, write: () => {}, now: Date.now });
const index = new WordIndex(join(folder, "index"));

function forwarded(header: "forwarded" | "x-forwarded-for", text: string): void {
  clientAddress({ proxies, header })("127.0.0.1", field(header, text));
}

function findState(text: string): void {
  findParent(fieldsOf(`traceparent: 00-${SPAN}`, `tracestate: ${text}`));
}

function putIntoIndex(text: string): void {
  index.transaction(() => index.put({ id: 1n, name: text, tag: text, added: 1n }));
}

function findInIndex(text: string): void {
  index.find({ words: wordsOfSearch(text).slice(0, 32), tag: text, from: 0n, limit: 100 });
}

/** As many words as a search may have. */
function lastOf(text: string): Parameters<typeof isFound>[1] {
  return { words: wordsOfSearch(text).slice(-32), tag: undefined };
}

const EIGHT_WORDS = wordsOfSearch("a b c d e f g h");

/** The most that the limits let in, in bytes. A file may have any length, so more than a line. */
const BODY = 65_536;
const HEAD = 16_384;
const LINE = 2 * BODY + 100;
const FILE = LINE + 20_000;
const CHUNK_LINE = 4096;
const TRAILERS = 8192;
const SEARCH = 1000;
const TABLE: ReadonlyArray<readonly [what: string, bytes: number, meant: string | undefined, work: Work]> = [
  ["text in a form of Unicode", BODY, "marks of seven classes", (text) => normalize(text, "NFKD")],
  ["words of a name", BODY, "marks of seven classes", wordsOfName],
  ["words of a search", SEARCH, "marks of seven classes", wordsOfSearch],
  ["a look whether a plant is found", BODY, "ligatures of eighteen", (text) => isFound(plantOf(text), { words: EIGHT_WORDS, tag: text })],
  ["a look whether a plant is found by all", SEARCH, "ligatures of eighteen", (text) => isFound(plantOf(text), lastOf(text))],
  ["a body", BODY, undefined, readJson],
  ["a name in JSON", BODY, "U+0001", (text) => readJson(`{"id":1,"name":${JSON.stringify(text)}}`)],
  ["a name as it stands", BODY, "backslashes", (text) => readJson(`{"id":1,"name":"${text}","scopes":[]}`)],
  ["an id", BODY, undefined, (text) => readJson(`{"id":${text},"name":"a"}`)],
  ["members", BODY, "keys that are numbers", (text) => readJson(`{${text}"id":1,"name":"a","scopes":["admin"]}`)],
  ["a member that is unknown", BODY, "nines", (text) => readJson(`{"id":1,"name":"a","more":${text}}`)],
  ["a list of scopes", BODY, "empty texts", (text) => readJson(`{"name":"a","scopes":[${text}"admin"]}`)],
  ["a whole number", BODY, "zeros behind a point", parseInt64],
  ["a head", HEAD, undefined, parseHead],
  ["an absolute target", HEAD, "the same key", (text) => parseHead(`GET http://${text} HTTP/1.1\r\nHost: a`)],
  ["a version", HEAD, undefined, (text) => parseHead(`GET / HTTP/${text}\r\nHost: a`)],
  ["fields", HEAD, undefined, parseLines],
  ["fields of a head that may be remembered", 700, "empty fields", parseShortHeads],
  ["Content-Length", HEAD, "zeros before a nine", (text) => parseLines(`Content-Length: ${text}`)],
  ["chunks", BODY, "chunks of a byte", (text) => readChunks(text, text.length)],
  ["an extension of a chunk", CHUNK_LINE, "bearers", (text) => readChunks(`1;${text}`, 1)],
  ["trailers", TRAILERS, "empty fields", (text) => readChunks(`0\r\n${text}`, text.length)],
  ["a trailer that drips", TRAILERS, "sheets of XML", (text) => readChunks(`0\r\na:${text}`, 1)],
  ["traceparent", HEAD, "stars", (text) => findParent(field("traceparent", text))],
  ["traceparent of a version to come", HEAD, "nines", (text) => findParent(field("traceparent", `01-${SPAN}-${text}`))],
  ["tracestate", HEAD, "spaces", findState],
  // As long as it may be: a longer one is not looked at.
  ["tracestate that is short", 512, "byte order marks", (text) => findState(text.slice(0, 512))],
  ["X-Forwarded-For before a proxy", HEAD, "digits and points", (text) => forwarded("x-forwarded-for", `${text}, 127.0.0.1`)],
  ["an address with a port in X-Forwarded-For", HEAD, "stars", (text) => forwarded("x-forwarded-for", `[::${text}]:1`)],
  ["Forwarded before a proxy", HEAD, "second halves of surrogates", (text) => forwarded("forwarded", `${text}, for=127.0.0.1`)],
  ["a quoted text in Forwarded", HEAD, "letters beyond U+FFFF", (text) => forwarded("forwarded", `for="${text}"`)],
  ["the network of an address", HEAD, "ports of hosts", (text) => networkOf(`::${text}`)],
  ["a line of the log", BODY, "low quotes and another one of Windows-1252", (text) => log.debug("event", { text })],
  // Escaped, a character is six, and more than a processor's cache holds would take longer for that alone.
  ["a line of the log on a terminal", HEAD, "U+0001", (text) => terminalLog.debug("event", { text })],
  ["a cell of Windows-1252", BODY, "chunks of a byte", (text) => openCellDecoder("windows-1252")(toByteText(Buffer.from(text)))],
  ["a file of CSV", FILE, undefined, csv],
  ["a file of CSV that drips", LINE, undefined, (text) => csv(text, FEW)],
  ["header cells of CSV", LINE - 20, "commas", (text) => csv(`id,name,${text}\n1,a\n`)],
  ["header cells of CSV, guessed", LINE - 20, "commas", (text) => guess(`id,name,${text}\n1,a\n`)],
  ["a header cell of CSV, guessed", LINE - 20, "two marks", (text) => guess(`id,name,${quoted(text)}\n1,a\n`)],
  ["a header cell of CSV that drips, guessed", LINE - 20, "two marks", (text) => guess(`id,name,${quoted(text)}\n1,a\n`, FEW)],
  ["header cells of CSV, chosen", LINE - 20, "commas", (text) => readAll("csv", drip(`id,name,${text}\n1,a\n`), CHOOSING)],
  ["rows of many columns of CSV", LINE - 20, "commas", (text) => csv(`id,name,${text}\n${"1,a\n".repeat(20)}`)],
  ["cells of CSV that may be headings, guessed", BODY, "a letter", (text) => guessRefused(`id,name\n1,a\n${inCells(text)}`)],
  ["a cell of CSV", BODY - 20, "quotes", (text) => csv(`id,name\n1,${quoted(text)}\n`)],
  ["a cell of CSV that drips", BODY - 20, "quotes", (text) => csv(`id,name\n1,${quoted(text)}\n`, FEW)],
  ["a cell of CSV in an unknown encoding", BODY - 20, "composed letters", (text) => guess(`id,name\n1,${quoted(text)}\n`)],
  ["a cell of CSV from which an id is made", BODY - 20, "two marks", (text) => guess(`name\n${quoted(text)}\n`)],
  ["a cell of CSV that is not imported", LINE - 20, "quotes", (text) => csv(`id,name,x\n1,a,${quoted(text)}\n`)],
  ["an id in CSV", LINE - 20, "zeros", (text) => csv(`id,name\n${quoted(text)},a\n`)],
  ["rows of CSV", BODY, "lines of a letter", (text) => refuseAll("csv", drip(`id,name,tag\n${text}`))],
  ["rows of CSV behind a quote that stays open", FILE, "lines of a letter", (text) => refuseAll("csv", drip(`id,name,tag\n1,"${text}`))],
  ["rows of CSV behind a quote that drip", HEAD, "lines of a letter", (text) => refuseAll("csv", drip(`id,name,tag\n1,"${text}`, FEW))],
  ["CSV in UTF-16 that drips", HEAD, "lines of a letter", (text) => refuseAll("csv", drip(`\ufeffid,name\n${text}`, FEW, "utf16le"))],
  ["a line of NDJSON", LINE - 100, "composed letters", (text) => ndjson(`{"id":1,"name":"a","x":${JSON.stringify(text)}}`)],
  ["members of a line of NDJSON", LINE - 20, "other keys", (text) => ndjson(`{${text}"id":1,"name":"a"}`)],
  ["a name in NDJSON", BODY - 20, "composed letters", (text) => ndjson(`{"id":1,"name":${JSON.stringify(text)}}`)],
  ["lines of NDJSON", BODY, "lines of a letter", (text) => refuseAll("ndjson", drip(text))],
  ["lines of NDJSON that drip", HEAD, "lines of a letter", (text) => refuseAll("ndjson", drip(text, FEW))],
  ["gzip of CSV", BODY, "lines of a letter", (text) => refuseAll("csv", gunzip(inOne(gzipSync(`id,name,tag\n${text}`))))],
  ["a sheet of an .xlsx", BODY, "spaces", drainSheet],
  ["a row of an .xlsx", BODY, "spaces", (text) => drainSheet(`<row>${text}</row>`)],
  ["cells of an .xlsx", BODY / 4, "commas", (text) => drainSheet(`<row>${text.replaceAll(",", "<c/>")}</row>`)],
  ["a text of an .xlsx", BODY, "two marks", (text) => drainSheet(`<row><c t="inlineStr"><is><t>${text}</t></is></c></row>`)],
  ["rows of an .xlsx as wide as a sheet", 500, "commas", (text) => drainSheet(text.replaceAll(",", FAR_ROW))],
  ["a rich text of an .xlsx", BODY, "commas", (text) => drainSheet(inRuns(text))],
  ["notes on a cell of an .ods", 40_000, "commas", (text) => drainOds(withNotes(text))],
  ["a row of an export", BODY, "quotes", (text) => csvWriter({ guardFormulas: true })(plantOf(text))],
  ["columns of PostgreSQL", BODY, "ligatures of eighteen", (text) => searchableColumnsOf([plantOf(text)])],
  ["a column of PostgreSQL and back", BODY, "U+0000", (text) => fromColumn(toColumn(text))],
  ["a query of PostgreSQL", SEARCH, "ligatures of eighteen", (text) => toQuery(wordsOfSearch(text))],
  ["the key of a name", BODY, "marks of seven classes", nameKey],
  ["the index of names", BODY, "ligatures of eighteen", putIntoIndex],
  ["a search of the index", SEARCH, "other words", findInIndex],
];

/** What a part of a request reaches. */
export const WORKS: readonly Input[] = TABLE.map(([what, bytes, meant, work]) => ({ what, bytes, meant, work }));
