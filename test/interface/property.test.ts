import { readFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "bun:test";
import naughtyStrings from "big-list-of-naughty-strings" with { type: "json" };
import fc from "fast-check";
import { parse } from "yaml";
import { PLANT_ID_MAX, PLANT_ID_MIN } from "../../src/domain/plant.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { seedOf } from "../support/random.ts";
import { startTestService } from "../support/service.ts";

const data = temporaryFolder();
const service = await startTestService({ data });
afterAll(() => service.stop());

type Schema = { type?: string; format?: string; required?: string[]; properties?: Record<string, Schema>; allOf?: Schema[]; $ref?: string };

const base = parse(readFileSync(new URL("../../contract/base-1.0.0.yaml", import.meta.url), "utf8")) as {
  components: { schemas: Record<string, Schema> };
};

/** The fields that the base contract gives a schema, and which of them it requires. */
function fieldsOf(name: string): { fields: Record<string, Schema>; required: string[] } {
  const resolve = (schema: Schema): Schema[] => {
    if (schema.$ref) return resolve(base.components.schemas[schema.$ref.split("/").at(-1)!]!);
    return [schema, ...(schema.allOf ?? []).flatMap(resolve)];
  };
  const parts = resolve(base.components.schemas[name]!);
  return {
    fields: Object.assign({}, ...parts.map(({ properties }) => properties)),
    required: parts.flatMap(({ required = [] }) => required),
  };
}

const { fields, required } = fieldsOf("NewPlant");
const optional = Object.keys(fields).filter((field) => !required.includes(field));

/** JSON text of a value that a field's schema accepts. */
function validValue({ type, format }: Schema): fc.Arbitrary<string> {
  if (type === "string")
    return fc
      .string({ unit: fc.constantFrom("grapheme", "binary").chain((unit) => fc.string({ unit, maxLength: 3 })), maxLength: 40 })
      .map((text) => JSON.stringify(text));
  if (type === "integer" && format === "int64") return fc.bigInt({ min: PLANT_ID_MIN, max: PLANT_ID_MAX }).map(String);
  throw new Error(`The base contract has a field of a kind that this test does not know: ${type}, ${format}.`);
}

/** JSON text of a value that a field's schema refuses. */
function invalidValue({ type }: Schema): fc.Arbitrary<string> {
  const others: Record<string, fc.Arbitrary<string>> = {
    string: fc.string().map((text) => JSON.stringify(text)),
    integer: fc.oneof(fc.integer().map(String), fc.bigInt().map(String)),
    rest: fc.oneof(
      fc.constantFrom("true", "false", "null", "[]", "{}"),
      fc.array(fc.integer()).map((list) => JSON.stringify(list)),
    ),
  };
  const outside = fc.oneof(
    fc.bigInt({ min: PLANT_ID_MAX + 1n, max: 2n ** 80n }).map(String),
    fc.bigInt({ min: -(2n ** 80n), max: PLANT_ID_MIN - 1n }).map(String),
    fc.tuple(fc.integer(), fc.integer({ min: 1, max: 9 })).map(([whole, fraction]) => `${whole}.${fraction}`),
  );
  const kinds = Object.entries(others)
    .filter(([kind]) => kind !== type)
    .map(([, arbitrary]) => arbitrary);
  return fc.oneof(...kinds, ...(type === "integer" ? [outside] : []));
}

type Members = Readonly<Record<string, string>>;

const extras: fc.Arbitrary<Members> = fc.dictionary(
  fc.string({ maxLength: 8 }).filter((key) => !(key in fields) && !key.includes("\\")),
  fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.stringify(value)),
  { maxKeys: 3 },
);

const validMembers: fc.Arbitrary<Members> = fc
  .record(Object.fromEntries(Object.entries(fields).map(([name, schema]) => [name, validValue(schema)])), { requiredKeys: required })
  .chain((known) => extras.map((unknown) => ({ ...unknown, ...known })));

function toText(members: Members, order: readonly string[] = Object.keys(members)): string {
  return `{${order.map((key) => `${JSON.stringify(key)}:${members[key]}`).join(",")}}`;
}

const validBody = validMembers.chain((members) =>
  fc
    .shuffledSubarray(Object.keys(members), { minLength: Object.keys(members).length })
    .map((order) => ({ members, text: toText(members, order) })),
);

const invalidBody: fc.Arbitrary<string> = fc.oneof(
  fc
    .tuple(validMembers, fc.constantFrom(...required))
    .map(([members, gone]) => toText(Object.fromEntries(Object.entries(members).filter(([key]) => key !== gone)))),
  ...Object.entries(fields).map(([name, schema]) =>
    fc.tuple(validMembers, invalidValue(schema)).map(([members, value]) => toText({ ...members, [name]: value })),
  ),
  fc.oneof(
    fc.array(fc.jsonValue()).map((list) => JSON.stringify(list)),
    fc.string().map((text) => JSON.stringify(text)),
    fc.constantFrom("null", "true", "1", ""),
  ),
  fc.tuple(validMembers, fc.constantFrom(...required)).map(([members, twice]) => toText(members, [...Object.keys(members), twice])),
  fc.tuple(validMembers, fc.nat()).map(([members, at]) => toText(members).slice(0, at % toText(members).length)),
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

const seed = seedOf("property");
const RUNS = 5000;

describe("bodies made from the base contract", () => {
  it(`${RUNS} valid ones are all answered 200, and come back and are stored exactly`, async () => {
    const byId = new Map<string, { members: Members; text: string }>();
    for (const body of fc.sample(validBody, { numRuns: RUNS * 2, seed })) byId.set(body.members["id"]!, body);
    const bodies = [...byId.values()].slice(0, RUNS);
    expect(bodies).toHaveLength(RUNS);
    expect(optional).toEqual(["tag"]);
    const answers = await postAll(bodies.map(({ text }) => text));
    const db = new DatabaseSync(join(data, "plants.db"), { readOnly: true });
    const find = db.prepare("SELECT name, tag FROM plants WHERE id = ?");
    for (const [at, { members, text }] of bodies.entries()) {
      const name: unknown = JSON.parse(members["name"]!);
      const tag: unknown = members["tag"] === undefined ? undefined : JSON.parse(members["tag"]);
      expect(answers[at], text).toEqual({ status: 200, text: JSON.stringify({ name, tag }) });
      const stored: unknown = { ...find.get(BigInt(members["id"]!)) };
      expect(stored, text).toEqual({ name, tag: tag ?? null });
    }
    db.close();
  });

  it(`${RUNS} invalid ones are all answered 400 with both fields`, async () => {
    const bodies = fc.sample(invalidBody, { numRuns: RUNS, seed });
    const answers = await postAll(bodies);
    for (const [at, { status, text }] of answers.entries()) {
      expect(status, bodies[at]).toBe(400);
      const { error, message } = JSON.parse(text) as { error: unknown; message: unknown };
      expect(Number.isInteger(error) && typeof message === "string" && message.length > 0, text).toBe(true);
    }
  });
});

describe("the big list of naughty strings", () => {
  it("comes back byte for byte, as name and as tag, at once and from the disk", async () => {
    const texts = naughtyStrings as readonly string[];
    expect(texts.length).toBeGreaterThan(400);
    const answers = await postAll(texts.map((text, at) => JSON.stringify({ id: -1_000_000 - at, name: text, tag: text })));
    const db = new DatabaseSync(join(data, "plants.db"), { readOnly: true });
    const find = db.prepare("SELECT CAST(name AS BLOB) AS name, CAST(tag AS BLOB) AS tag FROM plants WHERE id = ?");
    for (const [at, text] of texts.entries()) {
      expect(answers[at]).toEqual({ status: 200, text: JSON.stringify({ name: text, tag: text }) });
      const { name, tag } = find.get(-1_000_000 - at) as { name: Uint8Array; tag: Uint8Array };
      expect([Buffer.from(name), Buffer.from(tag)]).toEqual([Buffer.from(text), Buffer.from(text)]);
    }
    db.close();
  });
});
