import { openWire } from "../raw-http.ts";
import type { Wire, WireAnswer } from "../raw-http.ts";

type VictimOptions = Readonly<{ url: string; token: string; requests: number; firstId: number }>;

const CLIENTS = 64;

/**
 * What clients saw that create plants and read them, over kept connections, one request at a time each: every response
 * that is not exactly their own.
 */
export async function runVictims({
  url,
  token,
  requests,
  firstId,
}: VictimOptions): Promise<Readonly<{ answered: number; wrong: string[] }>> {
  const wrong: string[] = [];
  let begun = 0;

  async function ask(wire: Wire, requestId: string, line: string, body: string | undefined, expected: string): Promise<void> {
    const length = body === undefined ? "" : `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`;
    const head = `${line} HTTP/1.1\r\nHost: plants\r\nAuthorization: Bearer ${token}\r\nX-Request-Id: ${requestId}\r\n${length}\r\n`;
    const outcome = await wire.send(Buffer.from(head + (body ?? "")));
    const seen = typeof outcome === "string" ? outcome : describeAnswer(outcome);
    if (seen !== `200 ${requestId} ${expected}`) wrong.push(`${line}: ${seen}`);
  }

  async function run(): Promise<void> {
    const wire = openWire(url);
    while (begun < requests) {
      begun += 2;
      const id = firstId + begun;
      const plant = `{"name":"of victim ${id}","tag":"${"t".repeat(id % 50)}"}`;
      await ask(wire, `create-${id}`, "POST /plants", plant.replace("{", `{"id":${id},`), plant);
      await ask(wire, `read-${id}`, `GET /plants/${id}`, undefined, plant.replace("{", `{"id":${id},`));
    }
    wire.close();
  }
  await Promise.all(Array.from({ length: CLIENTS }, run));
  return { answered: begun - wrong.length, wrong };
}

function describeAnswer({ status, headers, body }: WireAnswer): string {
  return `${status} ${headers.get("x-request-id")} ${body.toString()}`;
}
