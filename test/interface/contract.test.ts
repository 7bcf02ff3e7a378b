import { readFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { join } from "node:path";
import { describe, expect, it } from "bun:test";
import { parse } from "yaml";
import { compileValidators } from "../../contract/generator/body-validators.ts";
import { operationsOf, parametersOf, toJson } from "../../contract/generator/document.ts";
import type { Document } from "../../contract/generator/document.ts";
import { operationTable } from "../../contract/generator/operation-table.ts";
import { parametersType, schemaType } from "../../contract/generator/schema-types.ts";
import { loadContract } from "../../src/domain/contract.ts";
import { PROJECT } from "../support/process.ts";

type Example = { error: number; message: string };
type ResponseObject = {
  content?: { "application/json": { schema: unknown; example?: unknown; examples?: Record<string, { value: Example }> } };
};

const served = JSON.parse(loadContract().served) as {
  paths: Record<string, Record<string, { operationId: string; responses: Record<string, { $ref?: string }> }>>;
  components: { responses: Record<string, ResponseObject> };
};

/** Every error example of the contract, by its name. */
const examples = Object.values(served.components.responses).flatMap(({ content }) =>
  Object.entries(content?.["application/json"].examples ?? {}),
);

describe("the served contract", () => {
  it("uses no error number twice, and each begins with its status", () => {
    const numbers = examples.map(([, { value }]) => value.error);
    expect(new Set(numbers).size).toBe(numbers.length);
    for (const [status, { $ref = "" }] of Object.values(served.paths).flatMap((methods) =>
      Object.values(methods).flatMap(({ responses }) => Object.entries(responses)),
    )) {
      const response = served.components.responses[$ref.split("/").at(-1) ?? ""];
      if (Number(status) < 400) continue;
      const inResponse = Object.values(response?.content?.["application/json"].examples ?? {});
      expect(inResponse.length).toBeGreaterThan(0);
      for (const { value } of inResponse) expect(Math.trunc(value.error / 100)).toBe(Number(status));
    }
  });

  it("calls the files of an import and an export bytes, so that generated clients send and keep them as they are", () => {
    const { schemas } = (JSON.parse(loadContract().served) as { components: { schemas: Record<string, unknown> } }).components;
    for (const file of ["PlantLines", "PlantRows"]) expect(schemas[file]).toMatchObject({ type: "string", format: "binary" });
  });
});

type Node = Readonly<Record<string, unknown>>;

/** Every object in the contract outside examples, with its path. */
function nodesOf(node: unknown, path: readonly string[] = []): Array<Readonly<{ node: Node; path: readonly string[] }>> {
  if (typeof node !== "object" || node === null) return [];
  const inside = Object.entries(node)
    .filter(([key]) => key !== "example" && key !== "examples")
    .flatMap(([key, child]) => nodesOf(child, [...path, key]));
  return [{ node: node as Node, path }, ...inside];
}

const nodes = nodesOf(served);
/** Wherever they are: also those of items, of keys, and of alternatives. */
const schemas = nodes.filter(({ path, node }) => ["type", "const", "enum"].some((key) => key in node) && path.at(-1) !== "properties");

const hasFormat = (node: Node) => ["int32", "int64"].includes(String(node["format"]));
const hasType = (node: Node) => typeof node["type"] === "string";
const hasNamedSchema = (node: Node) => (node["schema"] as Node)["$ref"] !== undefined;
const isNeverNull = (node: Node) => ![node["type"]].flat().includes("null");

describe("for generators of clients, the contract", () => {
  for (const [what, some, isRight] of [
    ["gives each integer a format", schemas.filter(({ node }) => node["type"] === "integer"), hasFormat],
    ["gives each const and each enum a type", schemas.filter(({ node }) => "const" in node || "enum" in node), hasType],
    ["names the schema of each body and each response", nodes.filter(({ path }) => path.at(-2) === "content"), hasNamedSchema],
    // Generators forget it where such a schema is referred to.
    ["has no schema with a name that allows null", schemas.filter(({ path }) => path.at(-2) === "schemas"), isNeverNull],
  ] as const)
    it(what, () => {
      expect(some.length).toBeGreaterThan(3);
      expect(some.filter(({ node }) => !isRight(node)).map(({ path }) => path.join("/"))).toEqual([]);
    });

  it("gives the scope of an operation both in x-scope and in its security", () => {
    const operations = Object.values(served.paths).flatMap((methods) => Object.values(methods)) as unknown as Node[];
    const scopes = operations.map((operation) => operation["x-scope"]);
    expect(new Set(scopes)).toEqual(new Set(["plants:read", "plants:write", "admin", "any", undefined]));
    for (const [at, operation] of operations.entries()) {
      expect(operation["security"], String(operation["operationId"])).toEqual(
        scopes[at] === undefined ? [] : [{ bearerAuth: scopes[at] === "any" ? [] : [scopes[at]] }],
      );
    }
  });
});

it("the base contract is frozen: its text has not changed since it was published", () => {
  const text = readFileSync(join(PROJECT, "contract/base-1.0.0.yaml"));
  expect(Bun.SHA256.hash(text, "hex")).toBe("36656cd7202fdbd3a004e45eef6c68b2c601c40bca1d2aac57b70ac862dbe491");
});

describe("what is generated from the contract", () => {
  /** What the generator makes of the contract with this edit. */
  function generateFrom(from: string, to: string): void {
    const parts = readFileSync(join(PROJECT, "contract/openapi.yaml"), "utf8").split(from);
    expect(parts).toHaveLength(2);
    const document = parse(parts.join(to), { intAsBigInt: true }) as Document;
    operationTable(document);
    for (const { operation } of operationsOf(document)) parametersType(parametersOf(operation, document));
    for (const schema of Object.values(document.components.schemas)) schemaType(schema);
    const plain = JSON.parse(toJson(document.components.schemas)) as Parameters<typeof compileValidators>[1];
    compileValidators({ NewToken: plain["NewToken"]!, PlantContent: plain["PlantContent"]! }, plain);
  }

  const ID = "Optional. If sent, the id in the path\n              type: integer\n              format: ";
  const LIMIT = "minimum: 1, default: 1000 }\n          example: 10\n";
  for (const [why, from, to, reason] of [
    ["a keyword is misspelled", "maxLength: 100\n", "maxLenght: 100\n", "maxLenght"],
    ["a whole number is not an int64", `${ID}int64\n    PlantPatch`, `${ID}int32\n    PlantPatch`, "int64"],
    ["a limit would be dropped", "exclusiveMinimum: 0\n", "exclusiveMinimum: 0\n          multipleOf: 2\n", "multipleOf"],
    ["a path has two parameters", "  /tokens/{id}:", "  /tokens/{id}/{more}:", "/tokens/{id}/{more} may have one parameter"],
    ["a path does not describe its id", "  /livez:", "  /livez/{id}:", "/livez/{id} may have one parameter"],
    ["nothing checks a keyword of a parameter", LIMIT, LIMIT.replace("1, ", "1, multipleOf: 5, "), "multipleOf"],
    ["an operation that writes has no queue", "      x-queue: creates\n", "", "createPlant changes something"],
    [
      "an operation has a scope but needs no token",
      "Is the process alive?\n",
      "Is the process alive?\n      x-scope: admin\n",
      "needs either an x-scope",
    ],
  ] as const)
    it(`is not generated if ${why}`, () => {
      expect(() => generateFrom(from, to)).toThrow(reason);
    });
});

it("the service needs no development dependency", () => {
  const { dependencies } = JSON.parse(readFileSync(join(PROJECT, "package.json"), "utf8")) as { dependencies: Record<string, string> };
  const files = ["src", "contract/generated"].flatMap((folder) => [...new Bun.Glob(`${folder}/**/*.ts`).scanSync(PROJECT)]);
  const imports = files
    .flatMap((name) => [
      ...readFileSync(join(PROJECT, name), "utf8").matchAll(
        /^(?:import|export) (?!type).*? from "([^".][^"]*)";|\b(?:import|require)\("([^".][^"]*)"\)/gm,
      ),
    ])
    .map(([, named, called]) => named ?? called!)
    .filter((name) => !name.startsWith("node:") && name !== "bun:sqlite")
    // The package of a file inside one: "@noble/hashes/sha2.js" is of "@noble/hashes".
    .map((name) => /^(?:@[^/]+\/)?[^/]+/.exec(name)![0]);
  expect([...new Set(imports)].filter((name) => !(name in dependencies) && !builtinModules.includes(name))).toEqual([]);
  expect(imports).toContain("commander");
});
