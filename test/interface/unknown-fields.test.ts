import { afterAll, describe, expect, it } from "bun:test";
import { loadContract } from "../../src/domain/contract.ts";
import { startTestService } from "../support/service.ts";

// A misspelt field must not be ignored where that does harm: a token without an end, a change that changes nothing. So
// every body but that of a plant is closed, at every depth. A new body of the contract is in these tables by itself.

const service = await startTestService();
afterAll(() => service.stop());

/** The base interface leaves a plant open, and a put takes the same fields. */
const OPEN = new Set(["createPlant", "putPlant"]);

type Operation = Readonly<{
  operationId: string;
  requestBody?: { content: Record<string, { examples?: Record<string, { value: unknown }> }> };
}>;
type Contract = Readonly<{ paths: Readonly<Record<string, Readonly<Record<string, Operation>>>> }>;

type Example = Readonly<{ id: string; method: string; path: string; type: string; name: string; value: unknown }>;

const { paths } = JSON.parse(loadContract().served) as Contract;
const examples: Example[] = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).flatMap(([method, { operationId, requestBody }]) =>
    Object.entries(requestBody?.content ?? {}).flatMap(([type, media]) =>
      Object.entries(media.examples ?? {}).map(([name, { value }]) => ({
        id: operationId,
        method: method.toUpperCase(),
        path: path.replace("{id}", "1"),
        type,
        name,
        value,
      })),
    ),
  ),
);

/** Each object inside the value, as the path to it. */
function objectsIn(value: unknown, path: readonly string[] = []): string[][] {
  if (typeof value !== "object" || value === null) return [];
  const inside = Object.entries(value).flatMap(([key, member]) => objectsIn(member, [...path, key]));
  return Array.isArray(value) ? inside : [[...path], ...inside];
}

/** A copy of the value with one more member in the object at this path. */
function withMember(value: unknown, path: readonly string[], name: string): unknown {
  const copy = structuredClone(value);
  const target = path.reduce((inside, key) => (inside as Record<string, unknown>)[key], copy);
  Object.defineProperty(target, name, { value: 1, enumerable: true });
  return copy;
}

function send({ method, path, type }: Example, body: unknown): Promise<Response> {
  return service.request(path, { method, body: JSON.stringify(body), headers: { "content-type": type } });
}

async function messageOf(response: Response): Promise<string> {
  const { error, message } = (await response.json()) as { error: number; message: string };
  expect([response.status, error]).toEqual([400, 40005]);
  return message;
}

describe("a field that the contract does not have", () => {
  for (const { method, path } of [
    { method: "POST", path: "/plants" },
    { method: "PUT", path: "/plants/1" },
  ])
    it(`is ignored by ${method} ${path}, which is open`, async () => {
      const body = '{"id":1,"name":"Aloe","colour":1,"nmae":2,"__proto__":3}';
      expect((await service.request(path, { method, body })).status).toBe(200);
    });

  for (const example of examples.filter(({ id }) => !OPEN.has(id)))
    for (const path of objectsIn(example.value))
      it(`is refused by ${example.id} and named, in ${["the body", ...path].join("/")}: ${example.name}, ${example.type}`, async () => {
        for (const name of ["colour", "day", "from ", "größe", "__proto__", "constructor", "Name", "expires_at"]) {
          const message = await messageOf(await send(example, withMember(example.value, path, name)));
          expect(message).toStartWith(`The field \`${[...path, name].join("/")}\` is unknown: send only \``);
        }
      });

  it("is met in every operation that takes JSON", () => {
    expect(new Set(examples.map(({ id }) => id))).toEqual(
      new Set(["createPlant", "putPlant", "patchPlant", "changePlants", "createToken"]),
    );
  });

  it("is named before one that is missing for it", async () => {
    const created = await service.request("/tokens", { method: "POST", body: '{"nmae":"x","scopes":["admin"]}' });
    expect(await messageOf(created)).toBe("The field `nmae` is unknown: send only `name`, `scopes`, `days`, `expires`.");
  });

  for (const name of ["", "x".repeat(51), "<b>", "\u202ex", "a\u001b[31m", "a`b", "\ud800"])
    it(`is not repeated if its name is not plain: ${JSON.stringify(name)}`, async () => {
      const body = JSON.stringify({ name: "x", scopes: ["admin"], [name]: 1 });
      const message = await messageOf(await service.request("/tokens", { method: "POST", body }));
      expect(message).toBe("A field of the body is unknown: send only `name`, `scopes`, `days`, `expires`.");
    });
});
