import { describe, expect, it } from "bun:test";
import { KNOWN } from "../support/differential/known.ts";
import { compareWithRuntime } from "../support/differential/runtime.ts";
import { compareWithLlhttp } from "../support/differential/trial.ts";
import type { PlantedBug } from "../support/plant-bugs.ts";
import { plantBugs } from "../support/plant-bugs.ts";
import { PROJECT } from "../support/process.ts";
import { seedOf } from "../support/random.ts";
import { inForm, tell } from "../support/run-form.ts";

/** Each has two requests, on average, and the last one. */
const STREAMS = inForm(4000, 350_000);
/** Over sockets, which take longer. */
const STREAMS_OVER_SOCKETS = inForm(600, 100_000);
/** Far more than it takes to notice any of the bugs. */
const STREAMS_WITH_BUG = 100_000;

const seed = seedOf("parser-differential");

describe("streams of up to four requests, with odd parts anywhere", () => {
  it("are understood by the service as by llhttp, wherever they are cut: method, target, fields, body, and where it ends", async () => {
    const { accepted, refused, differences, unsteady, known } = await compareWithLlhttp({
      root: PROJECT,
      seed,
      streams: STREAMS,
      problemsMax: 20,
    });
    expect({ differences, unsteady }).toEqual({ differences: [], unsteady: [] });
    expect(accepted).toBeGreaterThan(STREAMS);
    expect(refused).toBeGreaterThan(STREAMS / 4);
    const unused = KNOWN.filter(({ why }) => !known.has(why));
    expect(unused).toHaveLength(inForm(unused.length, 0));
    const explained = [...known.values()].reduce((sum, count) => sum + count, 0);
    tell(
      "parser-differential",
      `${STREAMS} streams, of which we refused ${refused}; ${accepted} requests accepted, ${explained} of them known differences`,
    );
  });

  it("are understood by the service as by the runtime's server, as far as that understands them: method, body, and order", async () => {
    const { compared, differences } = await compareWithRuntime({ root: PROJECT, seed, streams: STREAMS_OVER_SOCKETS });
    expect(differences).toEqual([]);
    expect(compared).toBeGreaterThan(STREAMS_OVER_SOCKETS / 4);
    tell("parser-differential", `${compared} requests that the runtime's server understood, too: none of them different`);
  });
});

const HEAD = "src/http/wire/head.ts";
const CHUNKED = "src/http/wire/chunked.ts";

const BUGS: ReadonlyArray<PlantedBug & { why: string }> = [
  { why: "the first of two lengths counted", file: HEAD, from: "others.some((other) => other !== first)", to: "others.length > 9" },
  { why: "a length with a sign were one", file: HEAD, from: String.raw`/^\d+$/.test(first)`, to: String.raw`/^[+-]?\d+$/.test(first)` },
  { why: "a length beside a coding were ignored", file: HEAD, from: "isHttp10 || length !== null ||", to: "isHttp10 ||" },
  { why: "a number that would be rounded were a length", file: HEAD, from: "!Number.isSafeInteger(length)", to: "Number.isNaN(length)" },
  {
    why: "a space before a colon were accepted",
    file: "src/http/wire/fields.ts",
    from: "line.slice(0, Math.max(colon, 0))",
    to: "line.slice(0, Math.max(colon, 0)).trimEnd()",
  },
  {
    why: "a size of a chunk ended at a space",
    file: CHUNKED,
    from: "(bytes[end] === SEMICOLON)",
    to: "(bytes[end] === SEMICOLON || bytes[end] === SPACE)",
  },
  { why: "a trailer needed no colon", file: CHUNKED, from: "+:[\\t -\\xff]*$/", to: "+:?[\\t -\\xff]*$/" },
  {
    why: "an end of a head were overlooked where it is cut",
    file: "src/http/wire/head-reader.ts",
    from: "searched - HEAD_END.length",
    to: "searched",
  },
];

describe("a difference would be noticed if", () => {
  for (const { why, ...bug } of BUGS) {
    it(why, async () => {
      const { differences, unsteady } = await compareWithLlhttp({
        root: plantBugs([bug]),
        seed,
        streams: STREAMS_WITH_BUG,
        problemsMax: 1,
      });
      expect(differences.length + unsteady.length).toBeGreaterThan(0);
    });
  }

  it("a length with a zero in front were octal, by the runtime's server too", async () => {
    const bug = { file: HEAD, from: "? Number(first)", to: '? parseInt(first, first[0] === "0" ? 8 : 10)' };
    const { differences } = await compareWithRuntime({ root: plantBugs([bug]), seed, streams: STREAMS_WITH_BUG });
    expect(differences).not.toEqual([]);
  });
});
