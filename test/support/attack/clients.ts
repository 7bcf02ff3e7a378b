import { quantile } from "../../../bench/quantile.ts";
import { openWire, toRequest } from "../raw-http.ts";
import type { Wire } from "../raw-http.ts";

type To = Readonly<{ url: string; token: string }>;
type ClientOptions = To & Readonly<{ clients: number; firstId: number; isOver: (asked: number) => boolean }>;

/** What clients saw: `wrong` has every response that is not exactly the client's own. */
type Seen = Readonly<{ answered: number; p99: number; wrong: readonly string[] }>;

/** Clients that create plants and read them over kept connections, one request at a time each, until it is over. */
export async function runClients({ url, token, clients, firstId, isOver }: ClientOptions): Promise<Seen> {
  const times: number[] = [];
  const wrong: string[] = [];

  async function ask(wire: Wire, requestId: string, line: string, body: string, expected: string): Promise<void> {
    const start = performance.now();
    const outcome = await wire.send(Buffer.from(toRequest(line, { token, fields: [`X-Request-Id: ${requestId}`], body })));
    times.push(performance.now() - start);
    const seen =
      typeof outcome === "string" ? outcome : `${outcome.status} ${outcome.headers.get("x-request-id")} ${outcome.body.toString()}`;
    if (seen !== `200 ${requestId} ${expected}`) wrong.push(`${line}: ${seen}`);
  }

  let begun = 0;
  async function run(): Promise<void> {
    const wire = openWire(url);
    while (!isOver(2 * begun)) {
      begun += 1;
      const id = firstId + begun;
      const content = `{"name":"of client ${id}","tag":"${"t".repeat(id % 50)}"}`;
      const plant = content.replace("{", `{"id":${id},`);
      await ask(wire, `create-${id}`, "POST /plants", plant, content);
      await ask(wire, `read-${id}`, `GET /plants/${id}`, "", plant);
    }
    wire.close();
  }
  await Promise.all(Array.from({ length: clients }, run));
  return { answered: times.length - wrong.length, p99: quantile(times, 0.99), wrong };
}

type TurnOptions = To & Readonly<{ rounds: number; roundMs: number; attack: () => Promise<{ end(): Promise<unknown> }> }>;

/** What four clients saw without and with an attack, in turns. */
export async function compareTurns({ rounds, roundMs, attack, ...to }: TurnOptions) {
  const [quiet, attacked]: [Seen[], Seen[]] = [[], []];
  for (let turn = 0; turn < 2 * rounds; turn += 1) {
    const running = turn % 2 === 1 ? await attack() : undefined;
    const end = performance.now() + roundMs;
    const seen = await runClients({ ...to, clients: 4, firstId: 1 + turn * 1_000_000, isOver: () => performance.now() > end });
    await running?.end();
    (running ? attacked : quiet).push(seen);
  }
  return { quiet, attacked };
}
