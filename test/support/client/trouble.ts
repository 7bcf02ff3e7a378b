import type * as client from "../../../src/client/client.ts";
import { startFaulty } from "./faulty-server.ts";
import type { Fault, FaultyServer } from "./faulty-server.ts";

type Module = typeof client;

export type Call = (plants: client.Client, server: FaultyServer) => Promise<unknown>;

/**
 * A call to a server with faults, and what it resolves with or throws: the same in every runtime. `requests` says how
 * many it takes, if not one; "any" is not the same in every runtime.
 */
type Trouble = readonly [
  faults: readonly Fault[],
  call: Call,
  outcome: string,
  more?: Readonly<{ requests?: number | "any"; options?: Partial<client.ClientOptions> }>,
];

export type Troubles = Readonly<Record<string, Trouble>>;

export type Sufferings = Readonly<Record<string, Readonly<{ outcome: string; requests: number }>>>;

/** A call that hangs is named by its own test: otherwise all would end with nothing said. */
const END_MS_MAX = 600_000;

/**
 * Runs the troubles at the same time, because most of it is waiting, and returns the outcome of each. Those with options,
 * which are limits of time, wait for the others: on a busy machine all at once would take longer than the limits.
 */
export async function suffer(module: Module, troubles: Troubles): Promise<Sufferings> {
  const sufferings: Array<readonly [string, Sufferings[string]]> = [];
  for (const isLimited of [false, true]) {
    const some = Object.entries(troubles).filter(([, [, , , more]]) => (more?.options !== undefined) === isLimited);
    sufferings.push(...(await Promise.all(some.map(async ([name, trouble]) => [name, await sufferOne(module, trouble)] as const))));
  }
  return Object.fromEntries(sufferings);
}

async function sufferOne(module: Module, [faults, call, , { options = {} } = {}]: Trouble): Promise<Sufferings[string]> {
  const server = await startFaulty(...faults);
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    const plants = module.createClient({ url: server.url, token: "t", timeoutMs: 600_000, ...options });
    const called = call(plants, server).then(
      (value) => JSON.stringify(value, (_key, member: unknown) => (typeof member === "bigint" ? String(member) : member)),
      (thrown: unknown) => toText(module, thrown),
    );
    const endless = new Promise<string>((resolve) => (timer = setTimeout(resolve, END_MS_MAX, "no end")));
    return { outcome: await Promise.race([called, endless]), requests: server.requests.length };
  } finally {
    clearTimeout(timer);
    await server.stop();
  }
}

function toText({ PlantStoreClientError, ServiceError, TimeoutError, UnexpectedAnswerError }: Module, thrown: unknown): string {
  if (!(thrown instanceof PlantStoreClientError)) return String(thrown);
  const details = [
    ...(thrown instanceof ServiceError ? [thrown.status, thrown.error, thrown.requestId, thrown.retryAfterMs] : []),
    ...(thrown instanceof UnexpectedAnswerError ? [thrown.status] : []),
    ...(thrown instanceof TimeoutError ? [thrown.limitMs] : []),
    thrown.isRepeatable ? "repeatable" : "unknown",
    ...(thrown.cause === undefined ? [] : ["with a cause"]),
  ];
  return [thrown.name, ...details.map(String)].join(" ");
}
