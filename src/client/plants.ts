import { parseDeleted, requiredHeader } from "./response.ts";
import type { ParsedResponse } from "./response.ts";
import type { Client, ConditionOptions } from "./calls.ts";
import { get, orAbsent, request } from "./request.ts";
import type { ClientContext } from "./request.ts";
import { ERROR_NUMBERS } from "./error-numbers.ts";
import { ServiceError } from "./errors.ts";
import { idText, makeId, parseContent, parsePlant, plantText } from "./plant.ts";
import type { Plant, PutPlant, StoredPlant } from "./plant.ts";

type PlantCalls = Pick<Client, "add" | "create" | "find" | "patch" | "put" | "remove">;

const CREATED = 201;

const JSON_TYPE = { "content-type": "application/json" };

/** How many ids `add` tries: there are far more than plants. */
const IDS_TRIED = 10;

export function plantCalls(context: ClientContext): PlantCalls {
  return {
    async add(content, { id, signal } = {}) {
      const endsAt = performance.now() + context.policy.timeoutMs;
      for (let tried = 1; ; tried += 1) {
        const given = tried === 1 ? id : undefined;
        const plant = { ...content, id: given ?? makeId() };
        try {
          const timed = until(endsAt, context);
          return await (given === undefined
            ? addNew(timed, plant, { signal, endsAt })
            : create(timed, plant, { signal, isRepeatable: true }));
        } catch (thrown) {
          if (!isTaken(thrown) || tried >= IDS_TRIED) throw thrown;
        }
      }
    },
    create: async (plant, { signal } = {}) => create(context, plant, { signal, isRepeatable: true }),
    async find(id, { signal } = {}) {
      const found = get(context, `/plants/${idText(id)}`, signal, (response) => parseStored(response, id));
      return orAbsent(found, ERROR_NUMBERS.plant_not_found);
    },
    put: async (plant, options = {}) => put(context, plant, options),
    async patch(id, { name, tag }, options = {}) {
      const headers = { "content-type": "application/merge-patch+json", ...conditions(options) };
      const [path, body] = [`/plants/${idText(id)}`, JSON.stringify({ name, tag })];
      const outgoing = { method: "PATCH", path, headers, body, isRepeatable: false, signal: options.signal } as const;
      return request(context, outgoing, (response) => parseStored(response, id));
    },
    async remove(id, options = {}) {
      const path = `/plants/${idText(id)}`;
      const outgoing = { method: "DELETE", path, headers: conditions(options), isRepeatable: false, signal: options.signal } as const;
      return (await orAbsent(request(context, outgoing, parseDeleted), ERROR_NUMBERS.plant_not_found)) ?? false;
    },
  };
}

type Creation = Readonly<{ signal: AbortSignal | undefined; isRepeatable: boolean }>;

/** `isRepeatable`: whether the call of which this is a part is safe to repeat. The request is, and is tried again. */
async function create(context: ClientContext, plant: Plant, { signal, isRepeatable }: Creation): Promise<StoredPlant> {
  const outgoing = { method: "POST", path: "/plants", headers: JSON_TYPE, body: plantText(plant), isRepeatable, signal } as const;
  const parse = ({ body, headers }: ParsedResponse) => ({ plant: { id: plant.id, ...parseContent(body) }, etag: etagOf(headers) });
  return request(context, outgoing, parse, context.policy.retries);
}

async function put(context: ClientContext, plant: Plant, options: ConditionOptions): Promise<PutPlant> {
  const headers = { ...JSON_TYPE, ...conditions(options) };
  const path = `/plants/${idText(plant.id)}`;
  // With a condition, a second try could be refused because the first one succeeded.
  const isRepeatable = options.ifMatch === undefined && options.ifNoneMatch === undefined;
  const outgoing = { method: "PUT", path, headers, body: plantText(plant), isRepeatable, signal: options.signal } as const;
  return request(context, outgoing, (response) => ({ ...parseStored(response, plant.id), isNew: response.status === CREATED }));
}

/** For a request of a call that has others too: all of them end by `endsAt`. */
function until(endsAt: number, context: ClientContext): ClientContext {
  return { ...context, policy: { ...context.policy, timeoutMs: endsAt - performance.now() } };
}

type Addition = Readonly<{ signal: AbortSignal | undefined; endsAt: number }>;

/** Creates a plant whose id no one was told yet: what has it already is another plant, even one of the same name. */
async function addNew(context: ClientContext, plant: Plant, { signal, endsAt }: Addition): Promise<StoredPlant> {
  try {
    const { plant: stored, etag } = await put(context, plant, { ifNoneMatch: "*", signal });
    return { plant: stored, etag };
  } catch (thrown) {
    if (isRefused(thrown) || performance.now() >= endsAt) throw thrown;
    // It may be stored all the same. From now on, the same plant under this id is this one. But the caller does not
    // know the id, so to repeat the call is not safe.
    return create(until(endsAt, context), plant, { signal, isRepeatable: false });
  }
}

/** Whether the service certainly did not do what it was asked, and would not do it a moment later either. */
function isRefused(thrown: unknown): boolean {
  return thrown instanceof ServiceError && thrown.status < 500 && thrown.error !== ERROR_NUMBERS.too_many_requests;
}

function isTaken(thrown: unknown): boolean {
  if (!(thrown instanceof ServiceError)) return false;
  return thrown.error === ERROR_NUMBERS.id_in_use || thrown.error === ERROR_NUMBERS.precondition_failed;
}

function conditions({ ifMatch, ifNoneMatch }: ConditionOptions): Record<string, string> {
  return {
    ...(ifMatch === undefined ? {} : { "if-match": ifMatch }),
    ...(ifNoneMatch === undefined ? {} : { "if-none-match": ifNoneMatch }),
  };
}

/** Reads the plant with this id. Throws a TypeError. */
function parseStored({ body, headers }: ParsedResponse, id: bigint): StoredPlant {
  const plant = parsePlant(body);
  if (plant.id !== id) throw new TypeError("another plant");
  return { plant, etag: etagOf(headers) };
}

/**
 * A proxy that compresses makes the ETag weak, and a weak one never matches (RFC 9110, 13.1.1). Ours depend on the
 * content alone, so the strong one is still right.
 */
function etagOf(headers: Headers): string {
  return requiredHeader(headers, "etag").replace(/^W\//, "");
}
