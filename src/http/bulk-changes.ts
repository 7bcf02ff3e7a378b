import { setTimeout as sleep } from "node:timers/promises";
import type { Schemas } from "../../contract/generated/schemas.ts";
import { changePlants } from "../../contract/generated/bodies.ts";
import type { Audit, Who } from "../auth/audit.ts";
import { PlantStoreError } from "../domain/errors.ts";
import { createPace } from "../runtime/event-loop.ts";
import type { FairShares } from "../runtime/fair-shares.ts";
import { decodeBody, parseJson } from "../domain/json.ts";
import { isSame, toNewPlant } from "../domain/plant.ts";
import type { NewPlant } from "../domain/plant.ts";
import { checkSize } from "../domain/plant-size.ts";
import { ownerOf, tokenOf } from "../auth/principal.ts";
import { idOf } from "../store/plants.ts";
import type { PlantStore, Swap } from "../store/plants.ts";
import { checkBody, invalidBody } from "../domain/validation.ts";
import { createAuditedSwap } from "./audited-swap.ts";
import type { AuditedSwap } from "./audited-swap.ts";
import { readPieces } from "./request-body.ts";
import type { Handlers } from "./router.ts";

type ChangeOptions = Readonly<{
  plants: PlantStore;
  /** The running requests. A token gets only its share of them, because each holds its changes in memory. */
  running: FairShares;
  audit: Audit;
  /** Largest body of a single change. */
  bodyBytesMax: number;
}>;

type Outcome =
  | Readonly<{ kind: "changed" | "same" }>
  | Readonly<{ kind: "conflict"; plant: NewPlant | undefined }>
  | Readonly<{ kind: "failed"; reason: unknown }>;

/** This many bodies of a single change: enough for a thousand usual plants, or for the largest one before and after. */
const BODIES_MAX = 4;

/** The body, its list, each change, and its two sides: what is deeper is ignored. */
const LEVELS = 4;

/**
 * How many changes of a request wait for a commit at a time: the rest of the queue is for others.
 *
 * @limit writes: changes of such a request that wait at a time
 */
const AT_A_TIME = 128;

/**
 * Changes of a request that have not begun by then fail, in milliseconds.
 *
 * @limit writes: time after which its changes fail that have not begun
 */
const BEGIN_MS_MAX = 5000;

/** The pause before a change that found the queue full is tried again, in milliseconds. */
const FULL_PAUSE_MS = 50;

/** How often to try a change that others make and undo at the same moment. */
const TRIES_MAX = 10;

/** Once the plants of conflicts have this many characters, the rest is left out. */
const CONFLICT_CHARACTERS = 2 ** 20;

/** Many changes in one request: each is a compare-and-swap of its own, and has an outcome of its own. */
export function bulkHandlers({ plants, running, audit, bodyBytesMax }: ChangeOptions): Pick<Handlers, "changePlants"> {
  const pace = createPace(() => performance.now());
  const makeAll = createSwaps(plants, createAuditedSwap(plants, audit));
  return {
    async changePlants(call) {
      // There is room: admission has just checked, and nothing can run in between.
      const release = running.take(ownerOf(call.principal));
      if (!release) throw new PlantStoreError("overloaded");
      try {
        const bytes = await readPieces(call.headers, call.body.bytes, BODIES_MAX * bodyBytesMax);
        await pace();
        const swaps = parseChanges(bytes, bodyBytesMax);
        const outcomes = await makeAll(swaps, call);
        const mayRead = tokenOf(call.principal).scopes.includes("plants:read");
        return { status: 200, body: toBody(swaps, outcomes, mayRead) };
      } finally {
        release();
      }
    },
  };
}

/** What makes the swaps of a caller, some at a time. */
function createSwaps(plants: PlantStore, swapAudited: AuditedSwap) {
  async function makeAll(swaps: readonly Swap[], who: Who): Promise<readonly Outcome[]> {
    const until = performance.now() + BEGIN_MS_MAX;
    const outcomes: Outcome[] = [];
    const open = swaps.entries();
    await Promise.all(
      Array.from({ length: AT_A_TIME }, async () => {
        for (const [at, swap] of open) outcomes[at] = await makeOne(swap, who, until);
      }),
    );
    return outcomes;
  }

  /** Never rejects: what other changes came to must be told. */
  async function makeOne(swap: Swap, who: Who, until: number): Promise<Outcome> {
    let reason: unknown = new PlantStoreError("overloaded");
    while (performance.now() < until) {
      try {
        return await swapOne(swap, who);
      } catch (thrown) {
        reason = thrown;
        if (!(thrown instanceof PlantStoreError && thrown.code === "overloaded")) break;
        await sleep(FULL_PAUSE_MS);
      }
    }
    return { kind: "failed", reason };
  }

  async function swapOne(swap: Swap, who: Who): Promise<Outcome> {
    const id = idOf(swap);
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      if (await swapAudited(swap, who)) return { kind: isSame(swap.from, swap.to) ? "same" : "changed" };
      const now = await plants.find(id);
      if (isSame(now, swap.from)) continue;
      if (!isSame(now, swap.to)) return { kind: "conflict", plant: now };
      // Only the store can confirm that what was read is durable. What is not there cannot be confirmed.
      if (!now || (await swapAudited({ from: now, to: now }, who))) return { kind: "same" };
    }
    throw new PlantStoreError("overloaded");
  }

  return makeAll;
}

/** The changes of a body. Throws what is wrong with it, before anything is changed. */
function parseChanges(bytes: Uint8Array, textBytesMax: number): readonly Swap[] {
  const { changes } = checkBody(changePlants, parseJson(decodeBody(bytes), LEVELS));
  const places = new Map<bigint, number>();
  return changes.map((change, at) => {
    const { id, from } = change;
    const to = sideAfter(change, at);
    const earlier = places.get(id);
    places.set(id, at);
    if (earlier !== undefined)
      throw invalidBody(`\`changes/${earlier}\` and \`changes/${at}\` name the same plant: send one change of each.`);
    if (!from && !to) throw invalidBody(`\`changes/${at}\` has no plant in \`from\` or \`to\`: send at least one.`);
    for (const side of [from, to])
      if (side && (side.id ?? id) !== id)
        throw invalidBody(
          `\`changes/${at}\` has two ids: a plant keeps its id, so send the same one, or leave it out of \`from\` and \`to\`.`,
        );
    if (to) checkSize(to, textBytesMax, `The name and tag in \`changes/${at}/to\``);
    return { from: from ? toNewPlant({ ...from, id }) : undefined, to: to ? toNewPlant({ ...to, id }) : undefined };
  });
}

/** What is wanted. A change that does not mention it is not taken for a deletion: the client may have lost it. */
function sideAfter({ to, delete: isDeletion = false }: Schemas["PlantChange"], at: number): Schemas["PlantState"] | null {
  if (isDeletion && to) throw invalidBody(`\`changes/${at}\` has both \`to\` and \`delete\`: send one of them.`);
  if (to === undefined && !isDeletion)
    throw invalidBody(`The field \`changes/${at}/to\` is missing: add it, or send \`"delete": true\` to delete the plant.`);
  return to ?? null;
}

/** Throws the first error if every change failed, and any that is a bug. */
function toBody(swaps: readonly Swap[], outcomes: readonly Outcome[], mayRead: boolean): string {
  const counts = { changed: 0, same: 0, conflict: 0, failed: 0 };
  let room = mayRead ? CONFLICT_CHARACTERS : 0;
  const texts = outcomes.map((outcome, at) => {
    counts[outcome.kind] += 1;
    const details = toDetails(outcome, room > 0);
    room -= details.length;
    return `{"id":${idOf(swaps[at]!)},"outcome":"${outcome.kind}"${details}}`;
  });
  for (const outcome of outcomes) {
    const isExpected = outcome.kind !== "failed" || outcome.reason instanceof PlantStoreError;
    if (!isExpected || (outcome.kind === "failed" && counts.failed === outcomes.length)) throw outcome.reason;
  }
  const { changed, same, conflict, failed } = counts;
  return `{"changed":${changed},"same":${same},"conflicts":${conflict},"failed":${failed},"outcomes":[${texts.join()}]}`;
}

/** The members that only some outcomes have. */
function toDetails(outcome: Outcome, isShown: boolean): string {
  if (outcome.kind === "conflict" && isShown) return `,"plant":${outcome.plant ? toContent(outcome.plant) : "null"}`;
  if (outcome.kind !== "failed" || !(outcome.reason instanceof PlantStoreError)) return "";
  const { number, message } = outcome.reason;
  return `,"error":${number},"message":${JSON.stringify(message)}`;
}

/** A plant without its id. JSON.stringify leaves out an undefined tag. */
function toContent({ name, tag }: NewPlant): string {
  return JSON.stringify({ name, tag });
}
