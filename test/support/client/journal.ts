import type { ImportSummary } from "../../../src/client/client.ts";
import type { Journal } from "./journey.ts";

const LARGEST = { id: "9223372036854775807n", name: "Monstera deliciosa", tag: "tropical" };
const SMALLEST = { id: "-9223372036854775808n", name: "Ginkgo biloba" };
const LARGE = { id: "9007199254740993n", name: "Yucca \u{1f335} \u0000", tag: "a&b=c+d é" };
const HEDGE = { id: "6000n", name: "Carpinus", tag: "hedge" };

const NO_ID = {
  line: 3,
  error: 40005,
  message: "The field `id` must be a whole number from -9223372036854775808 to 9223372036854775807, without quotes.",
};

function summaryOf(counts: Partial<ImportSummary>): string {
  return JSON.stringify({ read: 0, created: 0, unchanged: 0, replaced: 0, refused: 0, problems: [], unusedColumns: [], ...counts });
}

/** What each call of the journey returns, in every runtime. */
export const EXPECTED: Journal = {
  "create the largest id": JSON.stringify({ plant: LARGEST, etag: "…" }),
  "create the smallest id": JSON.stringify({ plant: SMALLEST, etag: "…" }),
  "create an id past 2^53": JSON.stringify({ plant: LARGE, etag: "…" }),
  "create the same again": JSON.stringify({ plant: SMALLEST, etag: "…" }),
  "create another under that id": "409 40900 with a request id, repeatable",
  find: JSON.stringify({ plant: LARGEST, etag: "…" }),
  "find none": "nothing",
  "a page": JSON.stringify({ plants: [SMALLEST, LARGE], next: { limit: 2, after: LARGE.id } }),
  "the next page": JSON.stringify({ plants: [LARGEST] }),
  "list over pages": JSON.stringify([SMALLEST.id, LARGE.id, LARGEST.id]),
  "list a tag": JSON.stringify([LARGE.id]),
  search: JSON.stringify([LARGEST.name]),
  "put, only if new": JSON.stringify({ plant: { id: "1n", name: "Acer" }, etag: "…", isNew: true }),
  "put, only if new, again": "412 41200 with a request id",
  put: JSON.stringify({ plant: { id: "1n", name: "Acer palmatum", tag: "tree" }, etag: "…", isNew: false }),
  "patch what was seen": JSON.stringify({ plant: { id: "1n", name: "Acer palmatum" }, etag: "…" }),
  "patch what is no more so": "412 41200 with a request id",
  "patch none": "404 40401 with a request id",
  remove: "true",
  "remove again": "false",
  "change: create": '[["changed"]]',
  "change: as it is already": '[["same"]]',
  "change: another is there": '[["conflict",{"id":"3n","name":"Betula","tag":"tree"}]]',
  "change: delete": '[["changed"]]',
  "change: none is there": '[["conflict",null]]',
  "change: no plant at all": "TypeError: A change has no plant in from or to: give at least one.",
  "change: several requests": "[2500,2500]",
  "change: one after the other": '["changed","changed","changed"]',
  "import plants": summaryOf({ read: 2, created: 2, import: "…" }),
  "import a file of CSV": summaryOf({ read: 2, replaced: 1, refused: 1, problems: [NO_ID], import: "…" }),
  "import a stream, dry": summaryOf({ read: 1, created: 1, outcomes: ["created"] }),
  "import text that is cut in a character": summaryOf({ read: 1, created: 1, import: "…" }),
  "find its name": "\u{1f335}",
  "count tags": JSON.stringify([{ tag: "tree", plants: 1 }]),
  suggest: "[]",
  "suggest for one word": '["Ginkgo"]',
  count: JSON.stringify({ plants: 5, precision: "exact" }),
  "count what has a tag": JSON.stringify({ plants: 1, precision: "exact" }),
  "count tags of what has a tag": JSON.stringify([{ tag: "tree", plants: 1 }]),
  export: `{"id":-9223372036854775808,"name":"Ginkgo biloba"}
{"id":-7,"name":"Other"}
{"id":9007199254740993,"name":"Yucca \u{1f335} \\u0000","tag":"a&b=c+d é"}
{"id":9007199254740995,"name":"Tilia","tag":"tree"}
{"id":9223372036854775807,"name":"Monstera deliciosa","tag":"tropical"}
`,
  "export CSV": [
    "catalogNumber,scientificName,tag",
    "-9223372036854775808,Ginkgo biloba,",
    "-7,Other,",
    "9007199254740993,Yucca \u{1f335} \u0000,a&b=c+d é",
    "9007199254740995,Tilia,tree",
    "9223372036854775807,Monstera deliciosa,tropical",
    "",
  ].join("\n"),
  "exported plants": JSON.stringify([SMALLEST.id, "-7n", LARGE.id, "9007199254740995n", LARGEST.id]),
  "follow what changes next": JSON.stringify([
    ["created", HEDGE],
    ["replaced", { id: "6000n", name: "Carpinus" }],
  ]),
  "follow on from an export": JSON.stringify({ ...HEDGE, id: "9007199254740997n" }),
  "changes of a plant": JSON.stringify([
    ["6000n", "deleted", "first", { id: "6000n", name: "Carpinus" }, null],
    ["6000n", "replaced", "first", HEDGE, { id: "6000n", name: "Carpinus" }],
    ["6000n", "created", "first", null, HEDGE],
  ]),
  "deleted plants": JSON.stringify([
    ["9007199254740997n", { ...HEDGE, id: "9007199254740997n" }],
    ["6000n", { id: "6000n", name: "Carpinus" }],
  ]),
  "take back an import": JSON.stringify([true, "first", 2, 0, ["changed", "changed"]]),
  "make a token": JSON.stringify(["plants:read"]),
  "ask who the token is": JSON.stringify([true, "journey", ["plants:read"], "first"]),
  "use the token": JSON.stringify({ plant: { id: "9007199254740995n", name: "Tilia", tag: "tree" }, etag: "…" }),
  "revoke the token": "true",
  "revoke an unknown token": "false",
  "list tokens": JSON.stringify([
    ["first", false],
    ["journey", true],
  ]),
  "ask who a wrong token is": "401 40101 with a request id, repeatable",
  "find with a wrong token": "401 40101 with a request id, repeatable",
  "import with a wrong token": "401 40101 with a request id, repeatable",
  abort: "Error: enough",
};
