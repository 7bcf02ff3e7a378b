import type { Wire } from "../raw-http.ts";

type Ask = Readonly<{ method: string; target: string; type?: string; body?: string; bearer?: string }>;

export type Asker = ReturnType<typeof createAsker>;

const WRONG_MAX = 10;

/**
 * Sends requests and collects the first wrong responses in `wrong`. Each has the token that is picked for it, unless it
 * has its own.
 */
export function createAsker(pickToken: () => string) {
  const wrong: string[] = [];

  /** Status 0: the connection was cut, or no response came in time. */
  async function ask(wire: Wire, { method, target, type = "application/json", body = "", bearer = pickToken() }: Ask) {
    const lines = [`${method} ${target} HTTP/1.1`, "Host: plants", `Authorization: Bearer ${bearer}`, `Content-Type: ${type}`];
    const answer = await wire.send(Buffer.from(`${lines.join("\r\n")}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`));
    return typeof answer === "string" ? { status: 0, text: answer } : { status: answer.status, text: answer.body.toString() };
  }

  async function expectAnswer(wire: Wire, request: Ask, status: number, expected?: string): Promise<string> {
    const got = await ask(wire, request);
    const isRight = got.status === status && (expected ?? got.text) === got.text;
    if (!isRight && wrong.length < WRONG_MAX) wrong.push(`${request.method} ${request.target}: ${got.status} ${got.text.slice(0, 300)}`);
    return got.text;
  }

  function expectPage(wire: Wire, target: string): Promise<string> {
    return expectAnswer(wire, { method: "GET", target }, 200);
  }

  return { wrong, ask, expectAnswer, expectPage };
}
