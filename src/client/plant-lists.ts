import type { Client } from "./calls.ts";
import { parseList, parseText } from "./json.ts";
import { parsePage } from "./page.ts";
import type { ListQuery, Page } from "./page.ts";
import { parsePlantCount, parseTagCount } from "./plant.ts";
import { get, queryText } from "./request.ts";
import type { ClientContext } from "./request.ts";
import { requiredHeader } from "./response.ts";

/** The calls for pages of plants, and for what is counted. */
export function listCalls(context: ClientContext): Pick<Client, "count" | "list" | "page" | "suggest" | "tags"> {
  return {
    page: (options = {}) => findPage(context, options),
    async *list(options = {}) {
      const { signal } = options;
      for (let query: ListQuery | undefined = options; query !== undefined;) {
        const page: Page = await findPage(context, { ...query, signal });
        yield* page.plants;
        query = page.next;
      }
    },
    count: async ({ tag, untagged, q, signal } = {}) =>
      get(context, `/plants/count${queryText({ tag, untagged, q })}`, signal, ({ body }) => parsePlantCount(body)),
    suggest: async ({ tag, untagged, q, signal }) =>
      get(context, `/plants/suggestions${queryText({ tag, untagged, q })}`, signal, ({ body }) => parseList(body, parseText)),
    tags: async ({ limit, tag, untagged, q, signal } = {}) =>
      get(context, `/tags${queryText({ limit, tag, untagged, q })}`, signal, ({ body, headers }) => ({
        tags: parseList(body, parseTagCount),
        ageSeconds: Number(requiredHeader(headers, "age")),
      })),
  };
}

async function findPage(context: ClientContext, { signal, ...query }: ListQuery & { signal?: AbortSignal | undefined }): Promise<Page> {
  const { limit, sort, after, cursor, tag, untagged, q, id } = query;
  const path = `/plants${queryText({ limit, sort, after, cursor, tag, untagged, q, id })}`;
  return get(context, path, signal, (response) => parsePage(response, query));
}
