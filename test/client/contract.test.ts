import { readFileSync } from "node:fs";
import { describe, expect, it } from "bun:test";
import type { OperationId, ParametersOf } from "../../contract/generated/operations.ts";
import type { Schemas } from "../../contract/generated/schemas.ts";
import * as exported from "../../src/client/client.ts";
import { createClient } from "../../src/client/client.ts";
import type {
  Change,
  ChangesQuery,
  Client,
  CreatedToken,
  ExportQuery,
  ImportProblem,
  ImportQuery,
  ImportSummary,
  ListQuery,
  NewToken,
  PastChange,
  PastImport,
  PastQuery,
  Plant,
  PlantCount,
  PlantFilter,
  PlantPatch,
  Scope,
  Session,
  TagCount,
  Token,
} from "../../src/client/client.ts";
import { loadContract } from "../../src/domain/contract.ts";

/**
 * Whether two types are the same, optional and read-only fields included: only equal types make two such functions
 * assignable.
 */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters
type Equal<A, B> = (<T>() => T extends Flat<A> ? 1 : 2) extends <T>() => T extends Flat<B> ? 1 : 2 ? true : false;
type Flat<T> = { [Key in keyof T]: T[Key] };

/** The parameters of an operation as a caller gives them: the service has a default for those that it always has. */
type Given<Id extends OperationId> = Partial<ParametersOf[Id]>;
/** Plants are compared above; those of past changes get their id from the client. */
type WithoutPlants<Fields> = Omit<Fields, "plant" | "from" | "to">;
type TagsQuery = Omit<NonNullable<Parameters<Client["tags"]>[0]>, "signal">;

// The compiler checks them: a line that is false is an error of `npm run check`.
true satisfies Equal<Plant, Schemas["NewPlant"]>;
true satisfies Equal<Omit<Plant, "id">, Schemas["Plant"]>;
true satisfies Equal<PlantPatch, Omit<Schemas["PlantPatch"], "id" | "untagged">>;
true satisfies Equal<TagCount, Schemas["TagCount"]>;
true satisfies Equal<PlantCount, Schemas["PlantCount"]>;
true satisfies Equal<Scope, Schemas["Scope"]>;
true satisfies Equal<Session, Schemas["Session"]>;
true satisfies Equal<Token, Schemas["Token"]>;
true satisfies Equal<NewToken, Schemas["NewToken"]>;
true satisfies Equal<CreatedToken, Schemas["CreatedToken"]>;
true satisfies Equal<ImportSummary, Schemas["ImportSummary"]>;
true satisfies Equal<ImportProblem, Schemas["ImportProblem"]>;
true satisfies Equal<ListQuery, Given<"listPlants">>;
// It is JSON in the query.
true satisfies Equal<Omit<ImportQuery, "reading">, Omit<Given<"importPlants">, "reading">>;
true satisfies Equal<Required<ImportQuery>["reading"], Partial<Schemas["Reading"]>>;
true satisfies Equal<ExportQuery, Given<"exportPlants">>;
true satisfies Equal<TagsQuery, Given<"listTags">>;
true satisfies Equal<PlantFilter, Given<"countPlants">>;
true satisfies Equal<PlantFilter, Given<"suggestSearches">>;
true satisfies Equal<WithoutPlants<Change>, WithoutPlants<Schemas["Change"]>>;
// A stream has no pages.
true satisfies Equal<ChangesQuery, Omit<Given<"listChanges">, "limit">>;
true satisfies Equal<WithoutPlants<PastChange>, WithoutPlants<Schemas["PastChange"]>>;
true satisfies Equal<PastImport, Schemas["Import"]>;
true satisfies Equal<PastQuery, Given<"listDeletedPlants">>;

/**
 * The methods that call each operation. Operations about the service itself need no token: they are for probes and
 * tools.
 */
const CALLS = {
  listPlants: ["list", "page"],
  createPlant: ["add", "create"],
  getPlant: ["find"],
  putPlant: ["put"],
  patchPlant: ["patch"],
  deletePlant: ["remove"],
  listPlantChanges: ["changesOf"],
  listChanges: ["changes"],
  changePlants: ["change"],
  importPlants: ["importPlants"],
  exportPlants: ["exportPlants", "exportedPlants"],
  listDeletedPlants: ["deleted"],
  countPlants: ["count"],
  suggestSearches: ["suggest"],
  listTags: ["tags"],
  listImports: ["imports"],
  listImportChanges: ["changesOfImport"],
  getSession: ["session"],
  listTokens: ["listTokens"],
  createToken: ["createToken"],
  revokeToken: ["revokeToken"],
} as const satisfies Record<Exclude<OperationId, ServiceOperation>, readonly (keyof Client)[]>;

type ServiceOperation = "getBaseContract" | "getContract" | "getLiveness" | "getReadiness";

type Call = (typeof CALLS)[keyof typeof CALLS][number];
true satisfies Equal<Record<Call, 1>, Record<keyof Client, 1>>;

it("the README of the package names every call of the client, and no other", () => {
  const readme = readFileSync(new URL("../../packages/client/README.md", import.meta.url), "utf8");
  const [, calls = ""] = /## The calls\n(.*?)\n## /s.exec(readme) ?? [];
  const named = Array.from(calls.matchAll(/\*\*`(\w+)\(.*?\)`\*\*/g), ([, name]) => String(name));
  expect(named.toSorted()).toEqual(Object.values(CALLS).flat().toSorted());
});

it("the README of the package names whatever the package exports", () => {
  const readme = readFileSync(new URL("../../packages/client/README.md", import.meta.url), "utf8");
  const words = new Set(readme.match(/\w+/g));
  expect(Object.keys(exported).filter((name) => !words.has(name))).toEqual([]);
  // What an outcome of many changes can be.
  for (const word of ["changed", "same", "isRetried", "conflict", "now", "failed"]) expect(words).toContain(word);
});

describe("the client and the served contract", () => {
  const { operations } = loadContract();

  it("have the same operations", () => {
    const needToken = operations.filter(({ scope }) => scope !== undefined);
    expect(Object.keys(CALLS).toSorted()).toEqual(needToken.map(({ id }) => id).toSorted());
    expect(Object.keys(createClient({ url: "http://127.0.0.1", token: "" })).toSorted()).toEqual(Object.values(CALLS).flat().toSorted());
  });
});
