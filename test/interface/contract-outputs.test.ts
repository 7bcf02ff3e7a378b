import { readdirSync, readFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { join } from "node:path";
import { describe, expect, it } from "bun:test";
import { parse } from "yaml";
import { createToken } from "../../contract/generated/bodies.ts";
import { compileValidators } from "../../contract/generator/body-validators.ts";
import { operationsOf, parametersOf, toJson } from "../../contract/generator/document.ts";
import type { Document } from "../../contract/generator/document.ts";
import { operationTable } from "../../contract/generator/operation-table.ts";
import { parametersType, schemaType } from "../../contract/generator/schema-types.ts";
import { parseJson } from "../../src/domain/json.ts";
import { asPlantId } from "../../src/domain/plant.ts";
import { checkBody, parsePlant } from "../../src/domain/validation.ts";
import { PROJECT } from "../support/process.ts";

/** The files that `npm run contract` writes, each with a text that it contains once. */
const GENERATED = {
  "contract/generated/openapi.json": '"components":{"securitySchemes"',
  "contract/generated/base-1.0.0.json": '"components":{"securitySchemes"',
  "contract/generated/bodies.ts": "export const createPlant:",
  "contract/generated/error-catalogue.ts": "export const CATALOGUE",
  "contract/generated/operations.ts": "export const OPERATIONS",
  "contract/generated/schemas.ts": "export type Schemas",
  "src/client/error-numbers.ts": "export const ERROR_NUMBERS",
};

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
  const LIMIT = "minimum: 1, default: 100 }\n      example: 20";
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

describe("the validators", () => {
  const token = (members: string) => checkBody(createToken, parseJson(`{"name":"x","scopes":["admin"],${members}}`));

  it("return a number as a number, however it was written", () => {
    for (const [text, days] of [
      ["30", 30],
      ["3e1", 30],
      ["0.5", 0.5],
      ["36500", 36_500],
    ] as const)
      expect(token(`"days":${text}`).days).toBe(days);
    for (const text of ["0", "-0", "36501", "36500.001", "1e400", '"30"', "null"])
      expect(() => token(`"days":${text}`)).toThrow("`days` must be");
  });

  it("take no member from what is inherited or named like those of every object", () => {
    expect(() => checkBody(createToken, parseJson('{"__proto__":{"name":"x","scopes":["admin"]}}'))).toThrow("`__proto__` is unknown");
    expect(parsePlant(parseJson('{"id":1,"name":"x","__proto__":7,"constructor":7}'))).toEqual({ id: asPlantId(1n), name: "x" });
  });
});

it("the service needs no development dependency", () => {
  const { dependencies } = JSON.parse(readFileSync(join(PROJECT, "package.json"), "utf8")) as { dependencies: Record<string, string> };
  const files = [
    ...readdirSync(join(PROJECT, "src"), { recursive: true, encoding: "utf8" }).map((name) => join("src", name)),
    ...Object.keys(GENERATED),
  ];
  const imports = files
    .filter((name) => name.endsWith(".ts"))
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
