import { quantile } from "../../../bench/quantile.ts";

type ClientOptions = Readonly<{ url: string; token: string; clients: number; forMs: number; firstId: number }>;

/**
 * What clients saw that create a plant and read it, one request at a time each: the time of each response, and every
 * response other than 200.
 */
export async function measureClients({ url, token, clients, forMs, firstId }: ClientOptions) {
  const times: number[] = [];
  const wrong: string[] = [];
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const until = performance.now() + forMs;

  async function ask(path: string, init: RequestInit): Promise<void> {
    const start = performance.now();
    const text = await fetch(`${url}${path}`, { ...init, headers }).then(
      async (response) => `${response.status} ${await response.text()}`,
      (reason: unknown) => String(reason),
    );
    times.push(performance.now() - start);
    if (!text.startsWith("200 ")) wrong.push(text);
  }

  async function run(client: number): Promise<void> {
    for (let id = firstId + client; performance.now() < until; id += clients) {
      await ask("/plants", { method: "POST", body: `{"id":${id},"name":"measured"}` });
      await ask(`/plants/${id}`, { method: "GET" });
    }
  }
  await Promise.all(Array.from({ length: clients }, (_, client) => run(client)));
  return { answered: times.length, p99: quantile(times, 0.99), wrong };
}
