import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "bun:test";
import fc from "fast-check";
import { PLANT_ID_MAX, PLANT_ID_MIN } from "../../src/domain/plant.ts";
import { seedOf } from "../support/random.ts";
import { startTestService } from "../support/service.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const data = temporaryFolder();
const service = await startTestService({ data });
afterAll(() => service.stop());

const seed = seedOf("property");
const RUNS = 1500;

/** JSON texts by key. */
type Members = Readonly<Record<string, string>>;

const anyText = fc
  .string({ unit: fc.constantFrom("grapheme", "binary").chain((unit) => fc.string({ unit, maxLength: 3 })), maxLength: 40 })
  .map((text) => JSON.stringify(text));
const anyId = fc.bigInt({ min: PLANT_ID_MIN, max: PLANT_ID_MAX }).map(String);
const noText = fc.oneof(
  fc.bigInt().map(String),
  fc.constantFrom("true", "false", "null", "[]", "{}"),
  fc.array(fc.integer()).map((list) => JSON.stringify(list)),
);
const noId = fc.oneof(
  fc.string().map((text) => JSON.stringify(text)),
  fc.constantFrom("true", "false", "null", "[]", "{}"),
  fc.bigInt({ min: PLANT_ID_MAX + 1n, max: 2n ** 80n }).map(String),
  fc.bigInt({ min: -(2n ** 80n), max: PLANT_ID_MIN - 1n }).map(String),
  fc.tuple(fc.integer(), fc.integer({ min: 1, max: 9 })).map(([whole, fraction]) => `${whole}.${fraction}`),
);

// What the base contract, which is frozen, says of a plant.
const valid: fc.Arbitrary<Members> = fc
  .tuple(
    fc.dictionary(
      fc.string({ maxLength: 8 }).filter((key) => !["id", "name", "tag"].includes(key) && !key.includes("\\")),
      fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.stringify(value)),
      { maxKeys: 3 },
    ),
    fc.record({ id: anyId, name: anyText, tag: anyText }, { requiredKeys: ["id", "name"] }),
  )
  .chain(([unknown, known]) => {
    const entries = Object.entries({ ...unknown, ...known });
    return fc.shuffledSubarray(entries, { minLength: entries.length }).map((shuffled) => Object.fromEntries(shuffled));
  });

function toText(members: Members, twice: readonly string[] = []): string {
  return `{${[...Object.keys(members), ...twice].map((key) => `${JSON.stringify(key)}:${members[key]}`).join(",")}}`;
}

const invalid: fc.Arbitrary<string> = fc.oneof(
  fc
    .tuple(valid, fc.constantFrom("id", "name"))
    .map(([members, gone]) => toText(Object.fromEntries(Object.entries(members).filter(([key]) => key !== gone)))),
  fc.tuple(valid, noId).map(([members, id]) => toText({ ...members, id })),
  fc.tuple(valid, fc.constantFrom("name", "tag"), noText).map(([members, key, value]) => toText({ ...members, [key]: value })),
  fc.array(fc.jsonValue()).map((list) => JSON.stringify(list)),
  fc.constantFrom("null", "true", "1", "", '"text"'),
  fc.tuple(valid, fc.constantFrom("id", "name")).map(([members, twice]) => toText(members, [twice])),
  fc.tuple(valid, fc.nat()).map(([members, at]) => toText(members).slice(0, at % toText(members).length)),
);

/** Sends bodies 64 at a time, as separate connections would. */
async function postAll(bodies: readonly string[]): Promise<{ status: number; text: string }[]> {
  const answers: { status: number; text: string }[] = [];
  for (let at = 0; at < bodies.length; at += 64) {
    const responses = await Promise.all(bodies.slice(at, at + 64).map((body) => service.post(body)));
    answers.push(...(await Promise.all(responses.map(async (response) => ({ status: response.status, text: await response.text() })))));
  }
  return answers;
}

describe("bodies made from the base contract", () => {
  it(`${RUNS} valid ones are all answered 200, and come back and are stored exactly`, async () => {
    const plants = [...new Map(fc.sample(valid, { numRuns: RUNS * 2, seed }).map((members) => [members["id"]!, members])).values()];
    const bodies = plants.slice(0, RUNS);
    expect(bodies).toHaveLength(RUNS);
    const answers = await postAll(bodies.map((members) => toText(members)));
    const db = new DatabaseSync(join(data, "plants.db"), { readOnly: true });
    const find = db.prepare("SELECT name, tag FROM plants WHERE id = ?");
    for (const [at, members] of bodies.entries()) {
      const name: unknown = JSON.parse(members["name"]!);
      const tag: unknown = members["tag"] === undefined ? undefined : JSON.parse(members["tag"]);
      expect(answers[at], toText(members)).toEqual({ status: 200, text: JSON.stringify({ name, tag }) });
      const stored: unknown = { ...find.get(BigInt(members["id"]!)) };
      expect(stored, toText(members)).toEqual({ name, tag: tag ?? null });
    }
    db.close();
  });

  it(`${RUNS} invalid ones are all answered 400 with both fields`, async () => {
    const bodies = fc.sample(invalid, { numRuns: RUNS, seed });
    for (const [at, { status, text }] of (await postAll(bodies)).entries()) {
      expect(status, bodies[at]).toBe(400);
      expect(JSON.parse(text)).toEqual({ error: expect.any(Number), message: expect.stringMatching(/./) });
    }
  });
});
