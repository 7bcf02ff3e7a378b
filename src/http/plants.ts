import type { Schemas } from "../../contract/generated/schemas.ts";
import type { Audit, PlantChange } from "../auth/audit.ts";
import { ownerOf } from "../principal.ts";
import { PlantStoreError } from "../errors.ts";
import { asPlantId, isSame, toNewPlant, toText } from "../plant.ts";
import type { NewPlant, PlantId } from "../plant.ts";
import type { PlantStore } from "../store/plants.ts";
import { queued } from "../store/fair-queue.ts";
import type { FairQueue } from "../store/fair-queue.ts";
import { withoutImplied, tokenize } from "../tokenizer.ts";
import type { HttpResponse } from "./wire/response.ts";
import { checkPreconditions, checkIfMatch, etagOf, isRuledOut } from "./preconditions.ts";
import type { Fields } from "./wire/fields.ts";
import type { Represent } from "./representation.ts";
import type { Call, Handlers } from "./router.ts";

/** A plant before and after a change. Undefined: there is none. */
type Change = Readonly<{ from: NewPlant | undefined; to: NewPlant | undefined }>;

/** The part of a call that a change needs. */
type ChangeCall = Pick<Call<"putPlant">, "parameters" | "headers" | "principal" | "requestId">;

type PlantHandlers = Pick<Handlers, "listPlants" | "createPlant" | "getPlant" | "putPlant" | "patchPlant" | "deletePlant">;

type PlantOptions = Readonly<{ plants: PlantStore; queue: FairQueue; represent: Represent; audit: Audit }>;

const PAGE_MAX = 1000;

/**
 * A page ends after the plant that brings its names and tags to this many bytes, or its JSON to this many characters. A
 * page of a thousand large plants would take 60 MB, and all other requests would wait while it is read.
 */
const PAGE_BYTES_MAX = 2 ** 20;

/** A longer search would block the search thread for too long. */
const WORDS_MAX = 32;

/** How often to try a change while other changes come between its read and its write. */
const TRIES_MAX = 100;

/** The operations on plants. */
export function plantHandlers({ plants, queue, represent, audit }: PlantOptions): PlantHandlers {
  /** Reads a plant, checks the preconditions and stores what `decide` returns, all atomically. */
  async function change(
    { parameters, headers, principal, requestId }: ChangeCall,
    decide: (stored: NewPlant | undefined) => NewPlant | undefined,
  ): Promise<Change> {
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      const from = await plants.find(asPlantId(parameters.id));
      const to = decide(from);
      checkPreconditions(headers, from);
      const what = changeOf({ from, to });
      try {
        // Even if nothing changes: only the store can confirm that what was read is durable.
        if (!(await plants.compareAndSwap({ from, to }, ownerOf(principal)))) continue;
      } catch (reason) {
        if (what) audit.failed({ principal, requestId }, what, asPlantId(parameters.id), reason);
        throw reason;
      }
      if (what) audit.changed({ principal, requestId }, what, asPlantId(parameters.id));
      return { from, to };
    }
    throw new PlantStoreError("overloaded");
  }

  return {
    async listPlants({ parameters, headers, principal }) {
      const { limit, after, tag, q } = parameters;
      const words = tokenize(q ?? "");
      if (words.length > WORDS_MAX) throw tooManyWords();
      const size = Math.min(limit, PAGE_MAX);
      const { plants: found, isLast } = await queued(plants, queue, { owner: ownerOf(principal), isPatient: false }).list({
        limit: size,
        bytesMax: PAGE_BYTES_MAX,
        after: after === undefined ? undefined : asPlantId(after),
        tag,
        words: withoutImplied(words),
      });
      const page = toTexts(found);
      const last = found[page.length - 1];
      const isMore = !isLast || page.length < found.length;
      const next = isMore && last ? { link: `<${toReference({ limit: size, after: last.id, tag, q })}>; rel="next"` } : {};
      return represent({ status: 200, body: `[${page.join()}]`, headers: next }, headers);
    },
    createPlant(call) {
      const plant = toNewPlant(call.body);
      let response: HttpResponse | undefined;
      const created = plants.create(plant, {
        owner: ownerOf(call.principal),
        // Built while the disk is busy, but sent only once the plant is on disk.
        whileWriting: () => {
          response = toCreated(plant);
        },
      });
      return created.then(
        (outcome) => {
          if (outcome === "created") audit.changed(call, "created", plant.id);
          return response ?? toCreated(plant);
        },
        (reason: unknown) => {
          audit.failed(call, "created", plant.id, reason);
          throw reason;
        },
      );
    },
    getPlant: ({ parameters: { id }, headers }) => plants.find(asPlantId(id)).then((plant) => toFound(plant, headers)),
    async putPlant(call) {
      const { parameters, body } = call;
      const plant = toNewPlant({ name: body.name, tag: body.tag, id: idOf(body, parameters.id) });
      const { from } = await change(call, () => plant);
      return toChanged(plant, from ? 200 : 201);
    },
    async patchPlant(call) {
      const { parameters, body } = call;
      idOf(body, parameters.id);
      const { to } = await change(call, (stored) => merge(expectFound(stored), body));
      return toChanged(expectFound(to), 200);
    },
    async deletePlant(call) {
      await change(call, (stored) => void expectFound(stored));
      return { status: 204 };
    },
  };
}

/** Undefined if nothing changed. */
function changeOf({ from, to }: Change): PlantChange | undefined {
  if (!to) return "deleted";
  if (!from) return "created";
  return isSame(from, to) ? undefined : "replaced";
}

function toCreated(plant: NewPlant): HttpResponse {
  const { id, name, tag } = plant;
  return {
    status: 200,
    // JSON.stringify leaves out an undefined tag.
    body: JSON.stringify({ name, tag }),
    // Relative to the request target, /plants, so that it is right behind a proxy with a path prefix (RFC 9110, 8.7).
    headers: { "content-location": `plants/${id}`, etag: etagOf(plant) },
  };
}

/** The plant after a change. Its content-location, the request target /plants/{id}, is relative too. */
function toChanged(plant: NewPlant, status: 200 | 201): HttpResponse {
  return { status, body: toText(plant), headers: { "content-location": String(plant.id), etag: etagOf(plant) } };
}

/** The response to a read. */
function toFound(found: NewPlant | undefined, requested: Fields): HttpResponse {
  const plant = expectFound(found);
  checkIfMatch(requested, plant);
  const headers = { etag: etagOf(plant) };
  return isRuledOut(requested, plant) ? { status: 304, headers } : { status: 200, body: toText(plant), headers };
}

function expectFound(plant: NewPlant | undefined): NewPlant {
  if (!plant) throw new PlantStoreError("plant_not_found");
  return plant;
}

/** The id in the path. The body may repeat it, but not change it. */
function idOf({ id: given }: Readonly<{ id?: bigint }>, id: bigint): bigint {
  if (given !== undefined && given !== id) {
    throw new PlantStoreError("invalid_body", {
      message: "The field `id` differs from the id in the path: send the same id, or leave it out.",
    });
  }
  return id;
}

/** JSON Merge Patch (RFC 7396), with a patch that was validated against the contract. */
function merge({ id, name, tag }: NewPlant, patch: Schemas["PlantPatch"]): NewPlant {
  return toNewPlant({ id, name: patch.name ?? name, tag: patch.tag === undefined ? tag : (patch.tag ?? undefined) });
}

/** The first of these plants, as many as fit on a page. */
function toTexts(plants: readonly NewPlant[]): string[] {
  const texts: string[] = [];
  let length = 0;
  for (const plant of plants) {
    const text = toText(plant);
    texts.push(text);
    length += text.length;
    if (length >= PAGE_BYTES_MAX) break;
  }
  return texts;
}

/** A reference to a page of the same list, relative to the request target (RFC 8288, 3.1). */
function toReference(query: Readonly<{ limit: number; after: PlantId; tag: string | undefined; q: string | undefined }>): string {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${encodeURIComponent(String(value))}`],
  );
  return `?${given.join("&")}`;
}

function tooManyWords(): PlantStoreError {
  return new PlantStoreError("invalid_query", { message: `The query parameter \`q\` has more than ${WORDS_MAX} words: leave some out.` });
}
