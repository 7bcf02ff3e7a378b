import { ConnectionError, createClient, ERROR_NUMBERS, ServiceError } from "plant-store-client";
import type { Client, ErrorNumber, Plant } from "plant-store-client";

// A program of a user, which is only type-checked: it uses each kind of type that the package has.

const plants: Client = createClient({ url: "http://127.0.0.1:8080", token: "" });

export const created: Promise<{ plant: Plant; etag: string }> = plants.create({ id: 1n, name: "Ficus" });
export const number: ErrorNumber = ERROR_NUMBERS.id_in_use;
export const bytes: Promise<ReadableStream<Uint8Array>> = plants.exportPlants({ format: "csv" });
export const summary = plants.importPlants([new Uint8Array(1)], { signal: AbortSignal.timeout(1000) });

export async function list(): Promise<string[]> {
  const found: string[] = [];
  for await (const { id, name } of plants.list({ q: "fic", after: -5n })) found.push(`${id satisfies bigint} ${name}`);
  return found;
}

export function explain(thrown: unknown): string {
  if (thrown instanceof ServiceError) return `${thrown.error satisfies ErrorNumber} ${thrown.message}`;
  return thrown instanceof ConnectionError && thrown.isRepeatable ? "again" : String(thrown);
}

// If the types were not found, these would be no errors.
// @ts-expect-error A number may be rounded.
export const rounded = plants.find(1);
// @ts-expect-error Only a patch can have null.
export const tagless = plants.create({ id: 1n, name: "Ficus", tag: null });
