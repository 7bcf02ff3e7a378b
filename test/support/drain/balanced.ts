import type { Journal } from "../flood.ts";
import { plantOf } from "../flood.ts";
import { openWire } from "../raw-http.ts";
import type { Wire } from "../raw-http.ts";

/** The results of clients that use any ready service. */
export type Balanced = Pick<Journal, "attempted" | "answered"> &
  Readonly<{
    /** How often each status was answered. */
    statuses: ReadonlyMap<number, number>;
    /** Requests without a response, and connections that a ready service did not accept, each with its reason. */
    broken: readonly string[];
    /** Responses 200 that asked to close the connection. */
    last: number;
  }>;

type BalancedOptions = Readonly<{ urls: readonly string[]; token: string; firstId: bigint; clients: number }>;

/** How often the readiness of a service is checked, like a balancer does. */
const LOOK_MS = 100;
/**
 * The pause after each response: half of the clients send one request after the other, half are mostly idle on an open
 * connection.
 */
const PAUSES_MS = [0, 70] as const;

/** `answered`: how many creates were answered 200. `stop` lets each client finish its current request. */
type Load = Readonly<{ answered(): number; stop(): Promise<Balanced> }>;

/** Clients that keep their connections and behave like a balancer. */
export function startBalanced({ urls, token, firstId, clients }: BalancedOptions): Load {
  const attempted: bigint[] = [];
  const answered: bigint[] = [];
  const statuses = new Map<number, number>();
  const broken: string[] = [];
  const ready = new Set<string>();
  let last = 0;
  let isStopping = false;

  async function look(url: string): Promise<void> {
    while (!isStopping) {
      const { status } = await fetch(`${url}/readyz`, { keepalive: false }).catch(() => ({ status: 0 }));
      if (status === 200) ready.add(url);
      else ready.delete(url);
      await Bun.sleep(LOOK_MS);
    }
  }

  /** One plant, over a connection that may be kept. */
  async function create(wire: Wire): Promise<void> {
    const { id, name, tag } = plantOf(firstId + BigInt(attempted.length));
    attempted.push(id);
    const body = `{"id":${id},"name":"${name}","tag":"${tag}"}`;
    const headers = `Host: plants\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}`;
    const answer = await wire.send(Buffer.from(`POST /plants HTTP/1.1\r\n${headers}\r\n\r\n${body}`));
    if (typeof answer === "string") return void broken.push(`The request was ${answer}.`);
    statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
    if (answer.status !== 200) return;
    answered.push(id);
    if (answer.headers.get("connection") === "close") last += 1;
  }

  async function work(client: number): Promise<void> {
    let held: { url: string; wire: Wire } | undefined;
    while (!isStopping) {
      if (held && !(ready.has(held.url) && held.wire.isOpen())) {
        held.wire.close();
        held = undefined;
      }
      const url = held?.url ?? [...ready][client % Math.max(ready.size, 1)];
      if (url === undefined) {
        await Bun.sleep(LOOK_MS / 10);
        continue;
      }
      held ??= { url, wire: openWire(url, (reason) => broken.push(String(reason))) };
      await create(held.wire);
      await Bun.sleep(held.wire.isOpen() ? PAUSES_MS[client % PAUSES_MS.length]! : LOOK_MS / 10);
    }
    held?.wire.close();
  }

  const working = Promise.all([...urls.map(look), ...Array.from({ length: clients }, (_, client) => work(client))]);
  return {
    answered: () => answered.length,
    async stop() {
      isStopping = true;
      await working;
      return { attempted, answered, statuses, broken, last };
    },
  };
}
