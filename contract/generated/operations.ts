// Made from contract/openapi.yaml by contract/generator/generate.ts: do not edit, run `npm run contract`.
import { createPlant, putPlant, patchPlant, createToken } from "./bodies.ts";
import type { Schemas } from "./schemas.ts";

/** The parameters in path and query of each operation, as a handler gets them. */
export type ParametersOf = Readonly<{
  listPlants: Readonly<{ limit: number; sort: "id" | "-id" | "name" | "-name" | "newest" | "oldest"; after?: bigint; cursor?: string; tag?: string; untagged: boolean; q?: string; id?: bigint }>;
  createPlant: Readonly<Record<string, never>>;
  getPlant: Readonly<{ id: bigint }>;
  putPlant: Readonly<{ id: bigint }>;
  patchPlant: Readonly<{ id: bigint }>;
  deletePlant: Readonly<{ id: bigint }>;
  listPlantChanges: Readonly<{ id: bigint; limit: number; cursor?: string }>;
  listChanges: Readonly<{ after?: string; limit: number; tag?: string; untagged: boolean }>;
  changePlants: Readonly<Record<string, never>>;
  importPlants: Readonly<{ onConflict: "refuse" | "replace"; dryRun: boolean; import?: string; reading?: string; header: "present" | "absent"; guess: boolean; encoding?: "utf-8" | "windows-1252"; idColumn?: string; nameColumn?: string; tagColumn?: string; ids: "file" | "content"; firstId?: bigint; dropEmptyTags: boolean }>;
  exportPlants: Readonly<{ format?: "ndjson" | "csv"; profile: "plain" | "dwc"; guardFormulas: boolean; tag?: string; untagged: boolean; q?: string }>;
  listDeletedPlants: Readonly<{ limit: number; cursor?: string }>;
  countPlants: Readonly<{ tag?: string; untagged: boolean; q?: string }>;
  suggestSearches: Readonly<{ tag?: string; untagged: boolean; q?: string }>;
  listTags: Readonly<{ limit: number; tag?: string; untagged: boolean; q?: string }>;
  listImports: Readonly<Record<string, never>>;
  listImportChanges: Readonly<{ id: string; limit: number; cursor?: string }>;
  getSession: Readonly<Record<string, never>>;
  listTokens: Readonly<{ limit: number; cursor?: string }>;
  createToken: Readonly<Record<string, never>>;
  revokeToken: Readonly<{ id: string; children: "revoke" | "keep" }>;
  getLiveness: Readonly<Record<string, never>>;
  getReadiness: Readonly<Record<string, never>>;
  getContract: Readonly<Record<string, never>>;
  getBaseContract: Readonly<Record<string, never>>;
}>;

/** The body of each operation, as a handler gets it: validated JSON, or a stream. */
export type BodyOf<Stream> = Readonly<{
  listPlants: undefined;
  createPlant: Schemas["NewPlant"];
  getPlant: undefined;
  putPlant: Schemas["PlantContent"];
  patchPlant: Schemas["PlantPatch"];
  deletePlant: undefined;
  listPlantChanges: undefined;
  listChanges: undefined;
  changePlants: Stream;
  importPlants: Stream;
  exportPlants: undefined;
  listDeletedPlants: undefined;
  countPlants: undefined;
  suggestSearches: undefined;
  listTags: undefined;
  listImports: undefined;
  listImportChanges: undefined;
  getSession: undefined;
  listTokens: undefined;
  createToken: Schemas["NewToken"];
  revokeToken: undefined;
  getLiveness: undefined;
  getReadiness: undefined;
  getContract: undefined;
  getBaseContract: undefined;
}>;

export type OperationId = keyof ParametersOf;

export const OPERATIONS = [
  { id: "listPlants", method: "GET", path: "/plants", scope: "plants:read", queue: undefined, pathId: undefined, query: [{"name":"limit","schema":{"type":"integer","format":"int32","minimum":1,"default":100}}, {"name":"sort","schema":{"type":"string","enum":["id","-id","name","-name","newest","oldest"],"default":"id"}}, {"name":"after","schema":{"type":"integer","format":"int64"}}, {"name":"cursor","schema":{"type":"string","maxLength":600}}, {"name":"tag","schema":{"type":"string"}}, {"name":"untagged","schema":{"type":"boolean","default":false}}, {"name":"q","schema":{"type":"string","maxLength":1000}}, {"name":"id","schema":{"type":"integer","format":"int64"}}], body: { kind: "none" } },
  { id: "createPlant", method: "POST", path: "/plants", scope: "plants:write", queue: "creates", pathId: undefined, query: [], body: createPlant },
  { id: "getPlant", method: "GET", path: "/plants/{id}", scope: "plants:read", queue: undefined, pathId: {"type":"integer","format":"int64"}, query: [], body: { kind: "none" } },
  { id: "putPlant", method: "PUT", path: "/plants/{id}", scope: "plants:write", queue: "changes", pathId: {"type":"integer","format":"int64"}, query: [], body: putPlant },
  { id: "patchPlant", method: "PATCH", path: "/plants/{id}", scope: "plants:write", queue: "changes", pathId: {"type":"integer","format":"int64"}, query: [], body: patchPlant },
  { id: "deletePlant", method: "DELETE", path: "/plants/{id}", scope: "plants:write", queue: "changes", pathId: {"type":"integer","format":"int64"}, query: [], body: { kind: "none" } },
  { id: "listPlantChanges", method: "GET", path: "/plants/{id}/changes", scope: "plants:read", queue: undefined, pathId: {"type":"integer","format":"int64"}, query: [{"name":"limit","schema":{"type":"integer","format":"int32","minimum":1,"default":100}}, {"name":"cursor","schema":{"type":"string","pattern":"^[A-Za-z0-9_-]{1,200}$"}}], body: { kind: "none" } },
  { id: "listChanges", method: "GET", path: "/plants/changes", scope: "plants:read", queue: undefined, pathId: undefined, query: [{"name":"after","schema":{"type":"string","pattern":"^[A-Za-z0-9_-]{1,200}$"}}, {"name":"limit","schema":{"type":"integer","format":"int32","minimum":1,"default":100}}, {"name":"tag","schema":{"type":"string"}}, {"name":"untagged","schema":{"type":"boolean","default":false}}], body: { kind: "none" } },
  { id: "changePlants", method: "POST", path: "/plants/changes", scope: "plants:write", queue: "bulk", pathId: undefined, query: [], body: { kind: "stream", types: ["application/json"] } },
  { id: "importPlants", method: "POST", path: "/plants/import", scope: "plants:write", queue: "imports", pathId: undefined, query: [{"name":"onConflict","schema":{"type":"string","enum":["refuse","replace"],"default":"refuse"}}, {"name":"dryRun","schema":{"type":"boolean","default":false}}, {"name":"import","schema":{"type":"string","pattern":"^[A-Za-z0-9_-]{1,64}$"}}, {"name":"reading","schema":{"type":"string","maxLength":4000}}, {"name":"header","schema":{"type":"string","enum":["present","absent"],"default":"present"}}, {"name":"guess","schema":{"type":"boolean","default":false}}, {"name":"encoding","schema":{"type":"string","enum":["utf-8","windows-1252"]}}, {"name":"idColumn","schema":{"type":"string","maxLength":1000}}, {"name":"nameColumn","schema":{"type":"string","maxLength":1000}}, {"name":"tagColumn","schema":{"type":"string","maxLength":1000}}, {"name":"ids","schema":{"type":"string","enum":["file","content"],"default":"file"}}, {"name":"firstId","schema":{"type":"integer","format":"int64"}}, {"name":"dropEmptyTags","schema":{"type":"boolean","default":false}}], body: { kind: "stream", types: ["application/x-ndjson","application/ndjson","application/jsonl","text/csv","application/octet-stream"] } },
  { id: "exportPlants", method: "GET", path: "/plants/export", scope: "plants:read", queue: undefined, pathId: undefined, query: [{"name":"format","schema":{"type":"string","enum":["ndjson","csv"]}}, {"name":"profile","schema":{"type":"string","enum":["plain","dwc"],"default":"plain"}}, {"name":"guardFormulas","schema":{"type":"boolean","default":false}}, {"name":"tag","schema":{"type":"string"}}, {"name":"untagged","schema":{"type":"boolean","default":false}}, {"name":"q","schema":{"type":"string","maxLength":1000}}], body: { kind: "none" } },
  { id: "listDeletedPlants", method: "GET", path: "/plants/deleted", scope: "plants:read", queue: undefined, pathId: undefined, query: [{"name":"limit","schema":{"type":"integer","format":"int32","minimum":1,"default":100}}, {"name":"cursor","schema":{"type":"string","pattern":"^[A-Za-z0-9_-]{1,200}$"}}], body: { kind: "none" } },
  { id: "countPlants", method: "GET", path: "/plants/count", scope: "plants:read", queue: undefined, pathId: undefined, query: [{"name":"tag","schema":{"type":"string"}}, {"name":"untagged","schema":{"type":"boolean","default":false}}, {"name":"q","schema":{"type":"string","maxLength":1000}}], body: { kind: "none" } },
  { id: "suggestSearches", method: "GET", path: "/plants/suggestions", scope: "plants:read", queue: undefined, pathId: undefined, query: [{"name":"tag","schema":{"type":"string"}}, {"name":"untagged","schema":{"type":"boolean","default":false}}, {"name":"q","schema":{"type":"string","maxLength":1000}}], body: { kind: "none" } },
  { id: "listTags", method: "GET", path: "/tags", scope: "plants:read", queue: undefined, pathId: undefined, query: [{"name":"limit","schema":{"type":"integer","format":"int32","minimum":1,"default":1000}}, {"name":"tag","schema":{"type":"string"}}, {"name":"untagged","schema":{"type":"boolean","default":false}}, {"name":"q","schema":{"type":"string","maxLength":1000}}], body: { kind: "none" } },
  { id: "listImports", method: "GET", path: "/imports", scope: "plants:read", queue: undefined, pathId: undefined, query: [], body: { kind: "none" } },
  { id: "listImportChanges", method: "GET", path: "/imports/{id}/changes", scope: "plants:read", queue: undefined, pathId: {"type":"string","pattern":"^[0-9a-f]{32}$"}, query: [{"name":"limit","schema":{"type":"integer","format":"int32","minimum":1,"default":100}}, {"name":"cursor","schema":{"type":"string","pattern":"^[A-Za-z0-9_-]{1,200}$"}}], body: { kind: "none" } },
  { id: "getSession", method: "GET", path: "/session", scope: "any", queue: undefined, pathId: undefined, query: [], body: { kind: "none" } },
  { id: "listTokens", method: "GET", path: "/tokens", scope: "admin", queue: undefined, pathId: undefined, query: [{"name":"limit","schema":{"type":"integer","format":"int32","minimum":1,"default":1000}}, {"name":"cursor","schema":{"type":"string","maxLength":600}}], body: { kind: "none" } },
  { id: "createToken", method: "POST", path: "/tokens", scope: "admin", queue: "tokens", pathId: undefined, query: [], body: createToken },
  { id: "revokeToken", method: "DELETE", path: "/tokens/{id}", scope: "admin", queue: "tokens", pathId: {"type":"string","pattern":"^[0-9A-Za-z]{1,64}$"}, query: [{"name":"children","schema":{"type":"string","enum":["revoke","keep"],"default":"revoke"}}], body: { kind: "none" } },
  { id: "getLiveness", method: "GET", path: "/livez", scope: undefined, queue: undefined, pathId: undefined, query: [], body: { kind: "none" } },
  { id: "getReadiness", method: "GET", path: "/readyz", scope: undefined, queue: undefined, pathId: undefined, query: [], body: { kind: "none" } },
  { id: "getContract", method: "GET", path: "/openapi.json", scope: undefined, queue: undefined, pathId: undefined, query: [], body: { kind: "none" } },
  { id: "getBaseContract", method: "GET", path: "/openapi/1.0.0.json", scope: undefined, queue: undefined, pathId: undefined, query: [], body: { kind: "none" } },
] as const;
