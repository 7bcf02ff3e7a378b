import type { Schemas } from "../../contract/generated/schemas.ts";
import type { Audit } from "../auth/audit.ts";
import { authorize } from "../auth/authorize.ts";
import { ownerOf, tokenOf } from "../auth/principal.ts";
import { PlantStoreError } from "../domain/errors.ts";
import { asPlantId, toNewPlant, toText } from "../domain/plant.ts";
import type { NewPlant } from "../domain/plant.ts";
import { checkSize, isFitting } from "../domain/plant-size.ts";
import type { PlantStore, Swap } from "../store/plants.ts";
import type { HttpResponse } from "./wire/response.ts";
import { invalidBody } from "../domain/validation.ts";
import { createAuditedSwap } from "./audited-swap.ts";
import { plantEtag } from "./etag.ts";
import { checkPreconditions, checkIfMatch, isRuledOut } from "./preconditions.ts";
import { OF_ONE_CLIENT } from "./representation.ts";
import type { Fields } from "./wire/fields.ts";
import type { Call, Handlers } from "./router.ts";

type ChangeCall = Pick<Call<"putPlant">, "parameters" | "headers" | "principal" | "requestId">;

/** Null removes the tag; undefined keeps it. */
type Patch = Readonly<{ name: string | undefined; tag: string | null | undefined }>;

type PlantHandlers = Pick<Handlers, "createPlant" | "getPlant" | "putPlant" | "patchPlant" | "deletePlant">;

type PlantOptions = Readonly<{ plants: PlantStore; audit: Audit; bodyBytesMax: number }>;

/** What a token does instead that may not read. */
const WHOLE_PATCH = ", and the answer would show what the patch leaves out: send both `name` and `tag`.";

/**
 * How often to try a change while other changes come between its read and its write.
 *
 * @limit writes: attempts of a change against other changes
 */
const TRIES_MAX = 100;

export function plantHandlers(options: PlantOptions): PlantHandlers {
  const { plants, audit, bodyBytesMax } = options;
  const swap = createAuditedSwap(plants, audit);

  /** Reads a plant, checks the preconditions and stores what `decide` returns, all atomically. */
  async function change(call: ChangeCall, decide: (stored: NewPlant | undefined) => NewPlant | undefined): Promise<Swap> {
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      const from = await plants.find(asPlantId(call.parameters.id));
      const to = decide(from);
      checkPreconditions(call.headers, from);
      // Even if nothing changes: only the store can confirm that what was read is durable.
      if (await swap({ from, to }, call)) return { from, to };
    }
    throw new PlantStoreError("overloaded");
  }

  return {
    createPlant: (call) => create(call, options),
    getPlant: ({ parameters: { id }, headers }) => plants.find(asPlantId(id)).then((plant) => toFound(plant, headers)),
    async putPlant(call) {
      const { parameters, body } = call;
      expectSameId(body, parameters.id);
      const plant = toNewPlant({ name: body.name, tag: body.tag, id: parameters.id });
      const { from } = await change(call, () => plant);
      return toChanged(plant, from ? 200 : 201);
    },
    async patchPlant(call) {
      const { parameters, body, principal } = call;
      expectSameId(body, parameters.id);
      const patch = parsePatch(body);
      // The answer shows what the patch leaves out, so `{}` would be a read.
      if (patch.name === undefined || patch.tag === undefined) authorize(tokenOf(principal), "plants:read", WHOLE_PATCH);
      const { to } = await change(call, (stored) => patched(expectFound(stored), patch, bodyBytesMax));
      return toChanged(expectFound(to), 200);
    },
    async deletePlant(call) {
      await change(call, (stored) => void expectFound(stored));
      return { status: 204 };
    },
  };
}

async function create(call: Call<"createPlant">, { plants, audit }: PlantOptions): Promise<HttpResponse> {
  const plant = toNewPlant(call.body);
  let response: HttpResponse | undefined;
  // Built while the disk is busy, but sent only once the plant is on disk.
  const whileWriting = () => void (response = toCreated(plant));
  try {
    const outcome = await plants.create(plant, { owner: ownerOf(call.principal), whileWriting });
    if (outcome === "created") audit.changed(call, "created", plant.id);
  } catch (reason) {
    audit.failed(call, "created", plant.id, reason);
    throw reason;
  }
  return response ?? toCreated(plant);
}

function toCreated(plant: NewPlant): HttpResponse {
  const { id, name, tag } = plant;
  return {
    status: 200,
    // JSON.stringify leaves out an undefined tag.
    body: JSON.stringify({ name, tag }),
    // Relative to the request target, /plants, so that it is right behind a proxy with a path prefix (RFC 9110, 8.7).
    headers: { "content-location": `plants/${id}`, etag: plantEtag(plant) },
  };
}

/** The plant after a change. Its content-location, the request target /plants/{id}, is relative too. */
function toChanged(plant: NewPlant, status: 200 | 201): HttpResponse {
  return { status, body: toText(plant), headers: { "content-location": String(plant.id), etag: plantEtag(plant) } };
}

function toFound(found: NewPlant | undefined, requested: Fields): HttpResponse {
  const plant = expectFound(found);
  checkIfMatch(requested, plant);
  const headers = { etag: plantEtag(plant), "cache-control": OF_ONE_CLIENT };
  return isRuledOut(requested, plant) ? { status: 304, headers } : { status: 200, body: toText(plant), headers };
}

function expectFound(plant: NewPlant | undefined): NewPlant {
  if (!plant) throw new PlantStoreError("plant_not_found");
  return plant;
}

/** The body may repeat the id in the path, but not change it. */
function expectSameId({ id: given }: Readonly<{ id?: bigint }>, id: bigint): void {
  if (given === undefined || given === id) return;
  throw invalidBody("The field `id` differs from the id in the path: send the same id, or leave it out.");
}

/** The patch with `untagged`, which clients send that leave null out, as the null that it stands for. */
function parsePatch({ name, tag, untagged = false }: Schemas["PlantPatch"]): Patch {
  if (untagged && typeof tag === "string") throw invalidBody("The fields `tag` and `untagged` contradict each other: send one of them.");
  return { name, tag: untagged ? null : tag };
}

/** Throws `body_too_large` if the patch makes a plant too large, unless it was: the limit may have been lowered since. */
function patched(stored: NewPlant, patch: Patch, bytesMax: number): NewPlant {
  const plant = merge(stored, patch);
  if (isFitting(stored, bytesMax)) checkSize(plant, bytesMax);
  return plant;
}

/** JSON Merge Patch (RFC 7396), with a patch that was validated against the contract. */
function merge({ id, name, tag }: NewPlant, patch: Patch): NewPlant {
  return toNewPlant({ id, name: patch.name ?? name, tag: patch.tag === undefined ? tag : (patch.tag ?? undefined) });
}
