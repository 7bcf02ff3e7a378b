// Made from contract/openapi.yaml by contract/generator/generate.ts: do not edit, run `npm run contract`.

/** The schemas of the contract. An int64 is a bigint, unless its limits say that a number holds it exactly. */
export type Schemas = Readonly<{
  Plant: Readonly<{ name: string; tag?: string }>;
  NewPlant: Schemas["Plant"] & Readonly<{ id: bigint }>;
  PlantContent: Schemas["Plant"] & Readonly<{ id?: bigint }>;
  PlantPatch: Readonly<{ id?: bigint; name?: string; tag?: string | null; untagged?: boolean }>;
  PlantList: ReadonlyArray<Schemas["NewPlant"]>;
  ChangeKind: "created" | "replaced" | "deleted";
  Change: Readonly<{ id: bigint; change: Schemas["ChangeKind"]; at: string; plant?: Schemas["NewPlant"] }>;
  ChangeList: ReadonlyArray<Schemas["Change"]>;
  ChangeStream: string;
  PastChange: Readonly<{ id: bigint; change: Schemas["ChangeKind"]; at: string; by?: string | null; import?: string; from?: Schemas["NewPlant"]; to?: Schemas["NewPlant"]; forgotten?: boolean }>;
  PastChangeList: ReadonlyArray<Schemas["PastChange"]>;
  Import: Readonly<{ id: string; began: string; ended: string; by?: string | null; created: Schemas["Count"]; replaced: Schemas["Count"] }>;
  ImportList: ReadonlyArray<Schemas["Import"]>;
  PlantLines: string;
  PlantFile: string;
  PlantRows: string;
  Count: number;
  SuggestionList: ReadonlyArray<string>;
  TagList: ReadonlyArray<Schemas["TagCount"]>;
  TagCount: Readonly<{ tag: string; plants: Schemas["Count"]; precision?: "atLeast" }>;
  PlantCount: Readonly<{ plants: Schemas["Count"]; precision: "exact" | "about" | "atLeast" }>;
  PlantChanges: Readonly<{ changes: ReadonlyArray<Schemas["PlantChange"]> }>;
  PlantChange: Readonly<{ id: bigint; from?: Schemas["PlantState"] | null; to?: Schemas["PlantState"] | null; delete?: boolean }>;
  PlantState: Readonly<{ id?: bigint; name: string; tag?: string }>;
  ChangeOutcomes: Readonly<{ changed: Schemas["Count"]; same: Schemas["Count"]; conflicts: Schemas["Count"]; failed: Schemas["Count"]; outcomes: ReadonlyArray<Schemas["ChangeOutcome"]> }>;
  ChangeOutcome: Readonly<{ id: bigint; outcome: "changed" | "same" | "conflict" | "failed"; plant?: Schemas["Plant"] | null; error?: number; message?: string }>;
  ImportSummary: Readonly<{ read: Schemas["Count"]; created: Schemas["Count"]; unchanged: Schemas["Count"]; replaced: Schemas["Count"]; refused: Schemas["Count"]; problems: ReadonlyArray<Schemas["ImportProblem"]>; unusedColumns: ReadonlyArray<string>; encoding?: string; columns?: Readonly<{ id?: string; name?: string; tag?: string }>; reading?: Schemas["Reading"]; skipped?: Schemas["Count"]; doubts?: ReadonlyArray<Schemas["ImportDoubt"]>; import?: string; outcomes?: ReadonlyArray<"created" | "unchanged" | "replaced" | "refused"> }>;
  Reading: Readonly<{ encoding?: string; separator?: "," | ";" | "\t" | "|" | ""; quotes?: "double" | "none"; heading: number; sheet?: string; id: string; name: ReadonlyArray<string>; tag: string; ids?: "file" | "content"; firstId?: bigint; emptyNames: boolean }>;
  ImportDoubt: Readonly<{ line?: number; message: string }>;
  ImportProblem: Readonly<{ line: number; error: number; message: string }>;
  Scope: "plants:read" | "plants:write" | "admin";
  Session: Readonly<{ id: string; name: string; scopes: ReadonlyArray<Schemas["Scope"]>; created: string; expires?: string; parent?: string }>;
  Token: Schemas["Session"] & Readonly<{ revoked?: string; lastUsed?: string }>;
  TokenList: ReadonlyArray<Schemas["Token"]>;
  NewToken: Readonly<{ name: string; scopes: ReadonlyArray<Schemas["Scope"]>; days?: number; expires?: string }>;
  CreatedToken: Schemas["Token"] & Readonly<{ token: string }>;
  Error: Readonly<{ error: number; message: string }>;
  Health: Readonly<{ status: "ok"; version?: string; missing?: string }>;
  OpenApiDocument: Readonly<{ openapi: string; info: Readonly<Record<string, unknown>>; paths: Readonly<Record<string, unknown>> }>;
}>;
