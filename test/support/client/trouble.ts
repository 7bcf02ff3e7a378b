import type * as client from "../../../src/client/client.ts";
import { startFaulty } from "./faulty-server.ts";
import type { Fault, FaultyServer } from "./faulty-server.ts";

type Module = typeof client;

/** A call to a server with faults, and its outcome: the same in every runtime. */
type Trouble = Readonly<{
  faults: readonly Fault[];
  options?: Partial<client.ClientOptions>;
  call: (plants: client.Client, server: FaultyServer) => Promise<unknown>;
  /** What it resolves with or throws. */
  outcome: string;
  /** How many requests it takes, if that is the same in every runtime. */
  requests?: number;
}>;

export type Troubles = Readonly<Record<string, Trouble>>;

export type Sufferings = Readonly<Record<string, Readonly<{ outcome: string; requests: number }>>>;

/** Runs all troubles at the same time, because most of it is waiting, and returns the outcome of each. */
export async function suffer(module: Module, troubles: Troubles): Promise<Sufferings> {
  const entries = Object.entries(troubles).map(async ([name, trouble]) => [name, await sufferOne(module, trouble)] as const);
  return Object.fromEntries(await Promise.all(entries));
}

async function sufferOne(module: Module, { faults, options = {}, call }: Trouble): Promise<Sufferings[string]> {
  const server = await startFaulty(...faults);
  try {
    const plants = module.createClient({ url: server.url, token: "t", timeoutMs: 20_000, ...options });
    const outcome = await call(plants, server).then(
      (value) => JSON.stringify(value, (_key, member: unknown) => (typeof member === "bigint" ? String(member) : member)),
      (thrown: unknown) => toText(module, thrown),
    );
    return { outcome, requests: server.requests.length };
  } finally {
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
