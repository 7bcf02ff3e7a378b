import { once } from "node:events";
import { connect } from "node:net";
import { openRandom } from "../random.ts";
import { understand } from "../understand.ts";
import type { Understood } from "../understand.ts";
import { drawStream } from "./streams.ts";

/** A request as the runtime's server understood it. */
type Heard = { method: string; body: string | undefined };

const AT_A_TIME = 32;
/** It answers or closes at once; this is for a busy machine. */
const WAIT_MS_MAX = 120_000;

/**
 * Reads streams with our parser and with the runtime's server, over sockets. That one refuses a lot that is valid, such
 * as an empty line in front, and drops the body of a GET. So only requests that both understood are compared, without
 * such bodies and without targets, which it changes.
 */
export async function compareWithRuntime({ seed, streams }: Readonly<{ seed: number; streams: number }>) {
  const [random, runtime] = [openRandom(seed), serveRuntime()];
  const differences: Array<{ stream: string; ours: readonly Understood[]; theirs: readonly Heard[] }> = [];
  let [drawn, compared] = [0, 0];

  async function work(): Promise<void> {
    while (drawn < streams && differences.length === 0) {
      drawn += 1;
      const stream = drawStream(random);
      const { requests } = await understand([stream]);
      const whole = requests.filter(({ method, end }) => method !== "CONNECT" && end !== undefined);
      if (whole.length === 0) continue;
      const theirs = await runtime.read(stream, whole.length);
      const both = whole.slice(0, theirs.length);
      compared += both.length;
      if (!both.every((request, number) => isSame(request, theirs[number]!))) differences.push({ stream, ours: whole, theirs });
    }
  }
  await Promise.all(Array.from({ length: AT_A_TIME }, work));
  await runtime.stop();
  return { compared, differences };
}

/** A body that broke off is none that it understood. */
function isSame(ours: Understood, { method, body }: Heard): boolean {
  const isDropped = ["GET", "HEAD", "TRACE"].includes(method) && body === "";
  return ours.method === method && (isDropped || body === undefined || ours.body === body);
}

function serveRuntime() {
  /** Called for each request that has arrived, by the port of its client. */
  const listeners = new Map<number, (heard: Heard) => () => void>();

  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    development: false,
    async fetch(request, running) {
      const heard: Heard = { method: request.method, body: undefined };
      const onWhole = listeners.get(running.requestIP(request)?.port ?? 0)?.(heard);
      const bytes = await request.arrayBuffer().catch(() => undefined);
      heard.body = bytes && Buffer.from(bytes).toString("latin1");
      onWhole?.();
      return new Response();
    },
  });

  return {
    /** What it understood of a stream: at most so many requests; fewer when it closed the connection before. */
    async read(stream: string, most: number): Promise<readonly Heard[]> {
      const heard: Heard[] = [];
      const over = Promise.withResolvers<void>();
      const socket = connect(server.port!, "127.0.0.1");
      // A reset ends it too.
      socket.on("error", () => {}).on("close", over.resolve);
      await once(socket, "connect");
      const port = socket.localPort!;
      listeners.set(port, (request) => {
        heard.push(request);
        return () => heard.filter(({ body }) => body !== undefined).length >= most && over.resolve();
      });
      const timer = setTimeout(() => over.reject(new Error(`No answer to ${JSON.stringify(stream)}`)), WAIT_MS_MAX);
      socket.resume();
      socket.write(stream, "latin1");
      await over.promise;
      clearTimeout(timer);
      listeners.delete(port);
      socket.destroy();
      return heard.slice(0, most);
    },
    stop: () => server.stop(true),
  };
}
