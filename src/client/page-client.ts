import { changeCalls } from "./bulk-changes.ts";
import type { Client } from "./calls.ts";
import { toContext } from "./context.ts";
import type { ClientOptions } from "./context.ts";
import { plantCalls } from "./plants.ts";
import { listCalls } from "./plant-lists.ts";
import { tokenCalls } from "./tokens.ts";
import { exportCalls, importText } from "./transfer.ts";

export { ERROR_NUMBERS } from "./error-numbers.ts";
export { ConnectionError, PlantStoreClientError, ServiceError, TimeoutError, UnexpectedAnswerError } from "./errors.ts";
export { makeId } from "./plant.ts";

/** The same client for a page, whose first view makes no calls about changes: their code is asked for with the first of them. */
export function createPageClient(options: ClientOptions): Client {
  const context = toContext(options);
  const later = async () => (await import("./history.ts")).historyCalls(context);
  return {
    ...plantCalls(context),
    ...listCalls(context),
    ...changeCalls(context),
    ...exportCalls(context),
    // A page has a text, and sends no more than that.
    importPlants: (source, query = {}) => importText(context, source as string, query),
    ...tokenCalls(context),
    async *changes(query) {
      yield* (await later()).changes(query);
    },
    changesOf: async (id, query) => (await later()).changesOf(id, query),
    deleted: async (query) => (await later()).deleted(query),
    imports: async (query) => (await later()).imports(query),
    changesOfImport: async (id, query) => (await later()).changesOfImport(id, query),
  };
}
