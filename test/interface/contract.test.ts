import { describe, expect, it } from "bun:test";
import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { loadContract } from "../../src/domain/contract.ts";

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

describe("for generators of clients, the contract", () => {
  it("gives each integer a format", () => {
    const integers = schemas.filter(({ node }) => node["type"] === "integer");
    expect(integers.length).toBeGreaterThan(10);
    expect(integers.filter(({ node }) => !["int32", "int64"].includes(String(node["format"]))).map(({ path }) => path.join("/"))).toEqual(
      [],
    );
  });

  it("gives each const and each enum a type", () => {
    const fixed = schemas.filter(({ node }) => "const" in node || "enum" in node);
    expect(fixed.length).toBeGreaterThan(3);
    expect(fixed.filter(({ node }) => typeof node["type"] !== "string").map(({ path }) => path.join("/"))).toEqual([]);
  });

  it("names the schema of each body and each response", () => {
    const media = nodes.filter(({ path }) => path.at(-2) === "content");
    expect(media.length).toBeGreaterThan(20);
    expect(media.filter(({ node }) => !(node["schema"] as Node)["$ref"]).map(({ path }) => path.join("/"))).toEqual([]);
  });

  it("has no schema with a name that allows null, which generators forget where it is referred to", () => {
    const named = schemas.filter(({ path }) => path.at(-2) === "schemas");
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter(({ node }) => [node["type"]].flat().includes("null")).map(({ path }) => path.join("/"))).toEqual([]);
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

describe("the base contract", () => {
  const base = parse(readFileSync(new URL("../../contract/base-1.0.0.yaml", import.meta.url), "utf8")) as Record<string, unknown>;

  it("is version 1.0.0 under MIT in OpenAPI 3.1.0, with one operation behind a bearer token", () => {
    expect(base).toMatchObject({
      openapi: "3.1.0",
      info: { version: "1.0.0", license: { name: "MIT" } },
      security: [{ bearerAuth: [] }],
      components: { securitySchemes: { bearerAuth: { type: "http", scheme: "bearer" } } },
    });
    expect(Object.entries(base["paths"] as Record<string, object>).map(([path, methods]) => [path, ...Object.keys(methods)])).toEqual([
      ["/plants", "post"],
    ]);
  });

  it("is frozen: its text has not changed since it was published", () => {
    const text = readFileSync(new URL("../../contract/base-1.0.0.yaml", import.meta.url));
    expect(Bun.SHA256.hash(text, "hex")).toBe("36656cd7202fdbd3a004e45eef6c68b2c601c40bca1d2aac57b70ac862dbe491");
  });
});
