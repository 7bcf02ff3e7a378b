import type { Client } from "./calls.ts";
import { parsePastChange, parsePastImport } from "./change.ts";
import type { PastPage, PastQuery } from "./change.ts";
import { follow } from "./follow.ts";
import { parseList } from "./json.ts";
import { parseNext } from "./page.ts";
import { idText } from "./plant.ts";
import { get, queryText } from "./request.ts";
import type { ClientContext } from "./request.ts";

type HistoryCalls = Pick<Client, "changes" | "changesOf" | "changesOfImport" | "deleted" | "imports">;

export function historyCalls(context: ClientContext): HistoryCalls {
  return {
    changes: ({ signal, ...query } = {}) => follow(context, query, signal),
    changesOf: async (id, options = {}) => findPast(context, `/plants/${idText(id)}/changes`, options),
    deleted: async (options = {}) => findPast(context, "/plants/deleted", options),
    imports: async ({ signal } = {}) => get(context, "/imports", signal, ({ body }) => parseList(body, parsePastImport)),
    async changesOfImport(id, options = {}) {
      if (!/^[0-9a-f]+$/.test(id)) throw new TypeError(`${id} is no id of an import: give one that imports returns.`);
      return findPast(context, `/imports/${id}/changes`, options);
    },
  };
}

async function findPast(
  context: ClientContext,
  path: string,
  { limit, cursor, signal }: PastQuery & { signal?: AbortSignal | undefined },
): Promise<PastPage> {
  return get(context, `${path}${queryText({ limit, cursor })}`, signal, (response) => {
    const changes = parseList(response.body, parsePastChange);
    const next = parseNext(response, cursor);
    return next === undefined ? { changes } : { changes, next: { ...(limit === undefined ? {} : { limit }), cursor: next } };
  });
}
