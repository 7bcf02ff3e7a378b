import type { OperationId } from "../../contract/generated/operations.ts";
import type { Operation } from "../../src/domain/contract.ts";
import type { RequiredScope } from "../../src/domain/scope.ts";

/** What a request to an operation needs beside its path. The scope is repeated here, because that of the contract is what is tested. */
type Sample = Readonly<{ scope?: RequiredScope; body?: string; type?: string }>;

const PLANT = '{"id":1,"name":"Aloe"}';

/** One for each operation; whatever it stores, plant 1 is this one afterwards. */
export const SAMPLES: Readonly<Record<OperationId, Sample>> = {
  listPlants: { scope: "plants:read" },
  createPlant: { scope: "plants:write", body: PLANT },
  getPlant: { scope: "plants:read" },
  putPlant: { scope: "plants:write", body: PLANT },
  // Without a tag to remove it would also be a read.
  patchPlant: { scope: "plants:write", body: '{"name":"Aloe","tag":null}' },
  deletePlant: { scope: "plants:write" },
  changePlants: { scope: "plants:write", body: '{"changes":[{"id":1,"from":null,"to":{"name":"Aloe"}}]}' },
  importPlants: { scope: "plants:write", body: "id,name,tag\n1,Aloe,\n", type: "text/csv" },
  exportPlants: { scope: "plants:read" },
  listChanges: { scope: "plants:read" },
  listPlantChanges: { scope: "plants:read" },
  listDeletedPlants: { scope: "plants:read" },
  listImports: { scope: "plants:read" },
  listImportChanges: { scope: "plants:read" },
  countPlants: { scope: "plants:read" },
  suggestSearches: { scope: "plants:read" },
  listTags: { scope: "plants:read" },
  getSession: { scope: "any" },
  listTokens: { scope: "admin" },
  createToken: { scope: "admin", body: '{"name":"x","scopes":["admin"],"days":0.001}' },
  revokeToken: { scope: "admin" },
  getLiveness: {},
  getReadiness: {},
  getContract: {},
  getBaseContract: {},
};

/** The path of an operation on this plant or token. */
export function pathOf({ id, path }: Pick<Operation, "id" | "path">, { plant = "1", token }: { plant?: string; token: string }): string {
  const [, resource] = path.split("/");
  const ids: Readonly<Record<string, string>> = { plants: plant, tokens: token, imports: "0123456789abcdef0123456789abcdef" };
  if (path.includes("{id}") && ids[resource!] === undefined)
    throw new Error(`No id for ${id} (${path}): add one to test/support/samples.ts.`);
  return path.replace("{id}", ids[resource!] ?? "");
}
