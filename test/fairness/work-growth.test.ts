import { mkdirSync, writeFileSync } from "node:fs";
import { BlockList } from "node:net";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "bun:test";
import { createAuthenticator } from "../../src/auth/authenticate.ts";
import { loadContract } from "../../src/contract.ts";
import { exportPlants } from "../../src/transfer/export.ts";
import { toByteText } from "../../src/transfer/byte-text.ts";
import { openCellDecoder } from "../../src/transfer/cell-decoder.ts";
import { readCsv } from "../../src/transfer/csv.ts";
import { csvWriter } from "../../src/transfer/csv-writer.ts";
import { readNdjson } from "../../src/transfer/ndjson.ts";
import { openSheet } from "../../src/transfer/xlsx.ts";
import { toCsv } from "../../src/transfer/sheet.ts";
import { TableError } from "../../src/transfer/table-error.ts";
import { openZip } from "../../src/transfer/zip.ts";
import { PLAIN } from "../../src/transfer/csv-reading.ts";
import type { CsvReading } from "../../src/transfer/csv-reading.ts";
import type { Rows } from "../../src/transfer/row.ts";
import { PlantStoreError } from "../../src/errors.ts";
import { chooseType } from "../../src/http/accept.ts";
import { clientAddress, networkOf } from "../../src/http/client-address.ts";
import { createCrossOrigin } from "../../src/http/cross-origin.ts";
import { parseCursor, toCursor } from "../../src/http/cursor.ts";
import { checkBodyHeaders, openBody, readBody } from "../../src/http/request-body.ts";
import { checkIfMatch, etagOf, isRuledOut } from "../../src/http/preconditions.ts";
import { checkHost } from "../../src/http/host.ts";
import { loadStatic } from "../../src/http/static.ts";
import { listHandlers } from "../../src/http/plant-lists.ts";
import { createRepresent } from "../../src/http/representation.ts";
import { parseQuery } from "../../src/http/query.ts";
import { createRouter } from "../../src/http/router.ts";
import type { Handlers } from "../../src/http/router.ts";
import { tokenHandlers } from "../../src/http/tokens.ts";
import { createBody } from "../../src/http/wire/body.ts";
import { createChunkedDecoder } from "../../src/http/wire/chunked.ts";
import { parseFields } from "../../src/http/wire/fields.ts";
import type { Fields } from "../../src/http/wire/fields.ts";
import { createHeadParser } from "../../src/http/wire/head.ts";
import { decodeBody, parseInt64, parseJson } from "../../src/json.ts";
import { createLog } from "../../src/log.ts";
import { asPlantId, toText } from "../../src/plant.ts";
import type { NewPlant } from "../../src/plant.ts";
import { searchableColumnsOf, toQuery } from "../../src/store/postgres/plant-columns.ts";
import { fromColumn, toColumn } from "../../src/store/postgres/engine/text.ts";
import { nameKey } from "../../src/name-order.ts";
import { openWordIndex } from "../../src/store/sqlite/search/word-index.ts";
import { createAudit } from "../../src/auth/audit.ts";
import { createFairQueue } from "../../src/store/fair-queue.ts";
import { queuePlants } from "../../src/store/queued-plants.ts";
import { isFound, tokenize } from "../../src/tokenizer.ts";
import { findParent } from "../../src/tracing/trace-context.ts";
import { checkBody, parsePlant } from "../../src/validation.ts";
import { findRepeats } from "../../web/import/repeats.ts";
import { makeZip } from "../support/shelf/workbook.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { ALPHABETS, GROWTH_MAX, growthOf, worstOf } from "../support/growth.ts";
import type { Growth, Work } from "../support/growth.ts";
import { tell } from "../support/run-form.ts";

const GUESSING: CsvReading = { ...PLAIN, ids: { kind: "content" }, encoding: undefined, isGuessing: true };
const LIST_CALL = { parameters: { limit: 1, sort: "id", q: "a" }, headers: headersOf({}), principal: { token: undefined, address: "" } };
const turns = createFairQueue({ slots: 1, ownerSlots: 1, waitingMax: 1, waitMs: 1000 });
const contract = loadContract();
const parseHead = createHeadParser();
const folder = temporaryFolder();
mkdirSync(join(folder, "web"));
writeFileSync(join(folder, "web", "index.html"), "<p>");

/** Fields like those of a request, but of any characters. */
function headersOf(values: Readonly<Record<string, string>>): Fields {
  return parseFields(Object.entries(values).map(([name, value]) => `${name}: ${value}`)) as Fields;
}

/** So many that they take measurable time, each from another host, so that none is known. */
function parseShortHeads(text: string): void {
  for (let host = 0; host < 200; host += 1) {
    try {
      parseHead(`GET / HTTP/1.1\r\nHost: ${host}\r\n${text.replace(/\r\n$/, "")}`);
    } catch (error) {
      if (!(error instanceof PlantStoreError)) throw error;
    }
  }
}

/** Reads a body of one byte that arrives after its head. */
function readLate(headers: Fields): unknown {
  const body = createBody({
    isExpecting: false,
    framing: { kind: "length", length: 1 },
    onFull: () => {},
    onRoom: () => {},
    onWanted: () => {},
  });
  const read = readBody({ headers, body } as never, BODY);
  body.feed(new Uint8Array(1));
  return read;
}

/** Decodes a chunked body that arrives in pieces of `size` bytes. */
function readChunks(text: string, size: number): void {
  const { feed } = createChunkedDecoder(() => {});
  const bytes = Buffer.from(text, "latin1");
  for (let at = 0; at < bytes.length; at += size) feed(bytes.subarray(at, at + size));
}

function plantOf(name: string): NewPlant {
  return { id: asPlantId(1n), name, tag: name };
}

/** Parses JSON as a body, and checks it against the body of every operation. */
function readJson(text: string): void {
  const value = parseJson(decodeBody(Buffer.from(text)));
  for (const { body } of contract.operations) {
    try {
      if (body.kind === "json") checkBody(body, value);
    } catch (error) {
      if (!(error instanceof PlantStoreError)) throw error;
    }
  }
}

/** A file of as many bytes as the text has characters, in pieces, as from a sender that drips. */
async function* drip(text: string, size: number): AsyncGenerator<Uint8Array> {
  // Multibyte characters would make it longer than a line may be, and the rest of a long line is skipped.
  const bytes = Buffer.from(text).subarray(0, text.length);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function* asUtf16(bytes: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield Uint8Array.of(0xff, 0xfe);
  yield* bytes;
}

async function drain(rows: Rows): Promise<void> {
  for await (const _ of rows);
}

/** Reads a workbook with this in its only sheet. */
async function drainSheet(inner: string): Promise<void> {
  const bytes = makeZip({
    "xl/workbook.xml": '<workbook><sheets><sheet name="x" r:id="r1"/></sheets></workbook>',
    "xl/_rels/workbook.xml.rels": '<Relationships><Relationship Id="r1" Target="worksheets/a.xml"/></Relationships>',
    "xl/worksheets/a.xml": `<worksheet>${inner}</worksheet>`,
  });
  const file = new Blob([bytes]);
  try {
    const { rows } = await openSheet(file, await openZip(file));
    for await (const _ of toCsv(rows, new Map()));
  } catch (thrown) {
    if (!(thrown instanceof TableError)) throw thrown;
  }
}

/** Ids whose halves differ in the same bits. */
function meetingIds(length: number): string {
  return Array.from({ length: length / 20 }, (_, at) => String((BigInt(at) << 32n) | BigInt(at ^ 5))).join("\n");
}

/** Looks for rows with the id of an earlier one, as the page does. */
function findRepeated(ids: string): void {
  const repeats = findRepeats();
  for (const [at, id] of ids.split("\n").entries()) repeats.see({ id: asPlantId(BigInt(id)), name: "a" }, at);
}

const options = { parsePlant, lineBytesMax: 65_536, onUnused: () => {} };
const DRIP_BYTES = 32;

const route = createRouter(contract.operations, {} as Handlers);
const pages = loadStatic(join(folder, "web"));
const authenticator = createAuthenticator({
  tokens: { find: () => Promise.resolve(undefined) } as never,
  freshMs: 500,
  cacheMax: 100,
  now: Date.now,
});
const log = createLog({ level: "debug", isTerminal: false, write: () => {}, now: Date.now });
const audit = createAudit({ log, changes: "sum" });
const { createToken } = tokenHandlers({ audit } as never);
/** Refuses every key tried here as too long: no token is made. */
const maker = { id: "maker", name: "", scopes: ["admin"], created: 0 };
const makeToken = (key: string) =>
  createToken({
    body: { name: "", scopes: [] },
    headers: headersOf({ "idempotency-key": key }),
    principal: { token: maker, address: "" },
  } as never);
const proxies = new BlockList();
proxies.addAddress("127.0.0.1");
const findClient = clientAddress({ proxies, header: "x-forwarded-for" });
const findForwarded = clientAddress({ proxies, header: "forwarded" });
const crossOrigin = createCrossOrigin(["https://garden.example"], "GET")!;
const SPAN = "4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
const terminalLog = createLog({ level: "debug", isTerminal: true, write: () => {}, now: Date.now });
const listParameters = contract.operations.find(({ id }) => id === "listPlants")!.query;
const index = openWordIndex(join(folder, "index"));
afterAll(() => index.close());

/** A store of one plant, to see what responses make of it. */
function storeOf(plant: NewPlant) {
  return {
    list: () => Promise.resolve({ plants: [plant], isLast: true }),
    takesTurns: () => false,
    find: () => Promise.resolve(plant),
    swap: () => Promise.resolve(true),
  } as never;
}

/** Everything that text from outside reaches. Lengths are half of the most that each may get. */
const BODY = 32_768;
const HEAD = 8192;
const PIECE_BYTES = 8192;
const CHUNK_LINE = 2000;
const TRAILERS = 4000;
const WORKS: ReadonlyArray<readonly [what: string, length: number, work: Work]> = [
  ["words of a name", BODY, tokenize],
  ["words of a search", 500, tokenize],
  ["a look whether a plant is found", BODY, (text) => isFound(plantOf(text), { words: tokenize("a b c d e f g h"), tag: text })],
  ["a look whether a plant is found by all", 500, (text) => isFound(plantOf(text), { words: tokenize(text).slice(-32), tag: undefined })],
  ["a body", BODY, readJson],
  ["a name in JSON", BODY, (text) => readJson(`{"id":1,"name":${JSON.stringify(text)}}`)],
  ["a name as it stands", BODY, (text) => readJson(`{"id":1,"name":"${text}","scopes":[]}`)],
  ["an id", BODY, (text) => readJson(`{"id":${text},"name":"a"}`)],
  ["members", BODY, (text) => readJson(`{${text}"id":1,"name":"a","scopes":["admin"]}`)],
  ["a member that is unknown", BODY, (text) => readJson(`{"id":1,"name":"a","more":${text}}`)],
  ["a list of scopes", BODY, (text) => readJson(`{"name":"a","scopes":[${text}"admin"]}`)],
  ["a whole number", BODY, parseInt64],
  ["a plant as JSON", BODY, (text) => toText(plantOf(text))],
  ["an ETag", BODY, (text) => etagOf(plantOf(text))],
  ["a query", HEAD, (text) => parseQuery(text, listParameters)],
  ["a parameter", HEAD, (text) => parseQuery(`tag=${text}`, listParameters)],
  ["an encoded parameter", HEAD, (text) => parseQuery(`tag=${encodeURIComponent(text.toWellFormed())}`, listParameters)],
  ["a search", HEAD, (text) => parseQuery(`q=${text}`, listParameters)],
  ["a limit", HEAD, (text) => parseQuery(`limit=${text}`, listParameters)],
  ["a cursor", HEAD, (text) => parseCursor("name", text)],
  [
    "a key in a cursor",
    HEAD,
    (text) => parseCursor("name", toCursor("name", { key: Buffer.from(text).toString("hex"), id: asPlantId(1n) })),
  ],
  ["a path", HEAD, route],
  ["an id in a path", HEAD, (text) => route(`/plants/${text}`)],
  ["an id of a token in a path", HEAD, (text) => route(`/tokens/${text}`)],
  ["a head", HEAD, parseHead],
  ["a target", HEAD, (text) => parseHead(`GET /${text} HTTP/1.1\r\nHost: a`)],
  ["an absolute target", HEAD, (text) => parseHead(`GET http://${text} HTTP/1.1\r\nHost: a`)],
  ["a version", HEAD, (text) => parseHead(`GET / HTTP/${text}\r\nHost: a`)],
  ["fields", HEAD, (text) => parseHead(`GET / HTTP/1.1\r\nHost: a\r\n${text}`)],
  ["fields of a head that may be remembered", 350, parseShortHeads],
  ["the name of a field", HEAD, (text) => parseHead(`GET / HTTP/1.1\r\nHost: a\r\n${text}: a`)],
  ["the value of a field", HEAD, (text) => parseHead(`GET / HTTP/1.1\r\nHost: a\r\na: ${text}`)],
  ["Connection", HEAD, (text) => parseHead(`GET / HTTP/1.1\r\nHost: a\r\nConnection: ${text}`)],
  ["Transfer-Encoding", HEAD, (text) => parseHead(`GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: ${text}`)],
  ["Content-Length", HEAD, (text) => parseHead(`GET / HTTP/1.1\r\nHost: a\r\nContent-Length: ${text}`)],
  ["chunks", BODY, (text) => readChunks(text, text.length)],
  ["an extension of a chunk", CHUNK_LINE, (text) => readChunks(`1;${text}`, 1)],
  ["trailers", TRAILERS, (text) => readChunks(`0\r\n${text}`, text.length)],
  ["a trailer that drips", TRAILERS, (text) => readChunks(`0\r\na:${text}`, 1)],
  ["Host", HEAD, (text) => checkHost({ headers: headersOf({ host: text }), authority: undefined })],
  ["the host of an absolute target", HEAD, (text) => checkHost({ headers: headersOf({}), authority: text })],
  ["Content-Type of JSON", HEAD, (text) => checkBodyHeaders(headersOf({ "content-type": `application/json${text}` }))],
  ["Content-Type", HEAD, (text) => checkBodyHeaders(headersOf({ "content-type": text }))],
  [
    "Content-Type of a file",
    HEAD,
    (text) => openBody({ headers: headersOf({ "content-type": `text/csv${text}` }) } as never, ["text/csv"]),
  ],
  ["Content-Length of a body that comes", HEAD, (text) => readLate(headersOf({ "content-length": text }))],
  ["If-Match", HEAD, (text) => checkIfMatch(headersOf({ "if-match": text }), plantOf("a"))],
  ["If-None-Match", HEAD, (text) => isRuledOut(headersOf({ "if-none-match": text }), plantOf("a"))],
  ["Accept-Encoding", HEAD, (text) => pages("/", { method: "GET", headers: headersOf({ "accept-encoding": text }) } as never)],
  ["Accept", HEAD, (text) => chooseType(text, ["application/x-ndjson", "text/csv; header=present"])],
  ["parameters in Accept", HEAD, (text) => chooseType(`text/csv;${text}`, ["application/x-ndjson", "text/csv; header=present"])],
  ["Origin", HEAD, (text) => crossOrigin.share({ status: 200 }, { headers: headersOf({ origin: text }) } as never)],
  [
    "Origin and its question",
    HEAD,
    (text) =>
      crossOrigin.preflight({ method: "OPTIONS", headers: headersOf({ origin: text, "access-control-request-method": text }) } as never),
  ],
  ["traceparent", HEAD, (text) => findParent(headersOf({ traceparent: text }))],
  ["traceparent of a version to come", HEAD, (text) => findParent(headersOf({ traceparent: `01-${SPAN}-${text}` }))],
  ["tracestate", HEAD, (text) => findParent(headersOf({ traceparent: `00-${SPAN}`, tracestate: text }))],
  // As long as it may be: a longer one is not looked at.
  ["tracestate that is short", 256, (text) => findParent(headersOf({ traceparent: `00-${SPAN}`, tracestate: text.slice(0, 512) }))],
  ["X-Forwarded-For", HEAD, (text) => findClient("127.0.0.1", headersOf({ "x-forwarded-for": text }))],
  ["X-Forwarded-For before a proxy", HEAD, (text) => findClient("127.0.0.1", headersOf({ "x-forwarded-for": `${text}, 127.0.0.1` }))],
  ["an address with a port in X-Forwarded-For", HEAD, (text) => findClient("127.0.0.1", headersOf({ "x-forwarded-for": `[::${text}]:1` }))],
  ["Forwarded before a proxy", HEAD, (text) => findForwarded("127.0.0.1", headersOf({ forwarded: `${text}, for=127.0.0.1` }))],
  ["a quoted text in Forwarded", HEAD, (text) => findForwarded("127.0.0.1", headersOf({ forwarded: `for="${text}"` }))],
  ["the network of an address", HEAD, (text) => networkOf(`::${text}`)],
  ["Idempotency-Key", HEAD, makeToken],
  ["Idempotency-Key in quotes", HEAD, (text) => makeToken(`"${text}"`)],
  ["Authorization", HEAD, (text) => authenticator.authenticate(text)],
  ["Authorization behind its scheme", HEAD, (text) => authenticator.authenticate(`Bearer ${text}`)],
  ["a line of the log", BODY, (text) => log.debug("event", { text })],
  // Escaped, a character is six, and more than a processor's cache holds would take longer for that alone.
  ["a line of the log on a terminal", HEAD, (text) => terminalLog.debug("event", { text })],
  [
    "a page of plants",
    BODY,
    (text) => {
      const plants = storeOf(plantOf(text));
      const plantsFor = queuePlants(plants, { queue: turns, isPatient: false });
      return listHandlers({ plants, plantsFor, represent: createRepresent() }).listPlants(LIST_CALL as never);
    },
  ],
  ["a cell of Windows-1252", BODY, (text) => openCellDecoder(undefined, () => {})(toByteText(Buffer.from(text, "latin1")))],
  ["a file of CSV", BODY, (text) => drain(readCsv(drip(text, text.length), options))],
  ["a file of CSV that drips", BODY, (text) => drain(readCsv(drip(text, DRIP_BYTES), options))],
  ["rows of CSV", PIECE_BYTES, (text) => drain(readCsv(drip(`id,name,tag\n${text}`, text.length), options))],
  ["the columns of CSV, guessed", BODY, (text) => drain(readCsv(drip(text, text.length), { ...options, csv: GUESSING }))],
  ["rows of CSV without ids", PIECE_BYTES, (text) => drain(readCsv(drip(`name\n${text}`, text.length), { ...options, csv: GUESSING }))],
  ["CSV in UTF-16 that drips", BODY, (text) => drain(readCsv(asUtf16(drip(text, DRIP_BYTES)), options))],
  ["rows of CSV that drip", BODY, (text) => drain(readCsv(drip(`id,name,tag\n1,"${text}`, DRIP_BYTES), options))],
  ["lines of NDJSON", PIECE_BYTES, (text) => drain(readNdjson(drip(text, text.length), options))],
  ["lines of NDJSON that drip", BODY, (text) => drain(readNdjson(drip(text, DRIP_BYTES), options))],
  ["a sheet of an .xlsx", BODY, (text) => drainSheet(text)],
  ["a row of an .xlsx", BODY, (text) => drainSheet(`<row r="1">${text}</row>`)],
  ["a text of an .xlsx", BODY, (text) => drainSheet(`<row r="1"><c t="inlineStr">${text}</c></row>`)],
  ["a row of an export", BODY, (text) => csvWriter({ guardFormulas: true })(plantOf(text))],
  [
    "an export",
    BODY,
    (text) =>
      Array.fromAsync(
        exportPlants(storeOf(plantOf(text)), {
          form: { format: "csv", profile: "plain", guardFormulas: false },
          terms: { words: ["a"], tag: undefined },
        }),
      ),
  ],
  ["columns of PostgreSQL", BODY, (text) => searchableColumnsOf([plantOf(text)])],
  ["a column of PostgreSQL and back", BODY, (text) => fromColumn(toColumn(text))],
  ["a query of PostgreSQL", 500, (text) => toQuery(tokenize(text))],
  ["the key of a name", BODY, nameKey],
  ["the index of names", BODY, (text) => index.transaction(() => index.put({ id: 1n, name: text, tag: text, added: 1n }))],
  ["a search of the index", 500, (text) => index.find({ words: tokenize(text).slice(0, 32), tag: text, from: 0n, limit: 100 })],
];

describe("doubling the text takes at most two and a half times the work, whatever the text, for", () => {
  for (const [what, length, work] of WORKS) {
    it(`${what} of ${length} and ${2 * length} characters`, async () => {
      const growths: Growth[] = [];
      for (const alphabet of ALPHABETS) growths.push({ alphabet: alphabet.alphabet, times: await growthOf(work, alphabet, length) });
      tell("growth", `${what}: ${worstOf(growths)}`);
      expect(growths.filter(({ times }) => times > GROWTH_MAX)).toEqual([]);
    });
  }

  it("ids of rows that were made to meet in a table", async () => {
    expect(await growthOf(findRepeated, { alphabet: "ids", textOf: meetingIds }, 200_000)).toBeLessThan(GROWTH_MAX);
  });
});
