import { Connection } from "../../src/http/wire/connection.ts";
import { createHeadParser } from "../../src/http/wire/head.ts";
import type { HttpRequest } from "../../src/http/wire/request.ts";
import type { HttpResponse } from "../../src/http/wire/response.ts";
import type { PlantStoreError } from "../../src/domain/errors.ts";
import { createTaskQueue } from "../../src/runtime/event-loop.ts";

type HeldOptions = Readonly<{
  room?: number;
  answer?: (request: HttpRequest) => HttpResponse | Promise<HttpResponse>;
  refuse?: (error: PlantStoreError) => HttpResponse;
  onBug?: (reason: unknown) => void;
}>;

export const OK: HttpResponse = { status: 200, body: "{}" };

/** All of them share what a parser remembers, as those of a service do. */
const parseHead = createHeadParser();

export function fault(reason: unknown): never {
  throw reason;
}

/** A connection whose wire and clock the test controls. */
export function hold(options: HeldOptions = {}) {
  const { answer = () => Promise.resolve(OK), refuse = ({ status }: PlantStoreError) => ({ status }), onBug = fault } = options;
  let [sent, room, time] = ["", options.room ?? Infinity, 0];
  let [isPaused, isIdle, isGone] = [false, true, false];
  function end(): void {
    if (isGone) return;
    isGone = true;
    connection.close();
  }
  const connection = new Connection({
    wire: {
      write(data) {
        if (isGone) return -1;
        const taken = Buffer.from(data).subarray(0, Math.min(room, Buffer.byteLength(data)));
        sent += taken.toString("latin1");
        room -= taken.length;
        return taken.length;
      },
      end,
      terminate: end,
      shutdown: () => {},
      pause: () => (isPaused = true),
      resume: () => (isPaused = false),
    },
    address: "",
    parseHead,
    answer,
    refuse,
    tasks: createTaskQueue(),
    now: () => time,
    date: () => "",
    onIdle: (state) => (isIdle = state),
    onBug,
  });
  return Object.assign(connection, {
    sent: () => sent,
    /** How many more bytes the other end accepts. */
    take(bytes: number) {
      room += bytes;
      connection.drain();
    },
    isPaused: () => isPaused,
    isIdle: () => isIdle,
    isGone: () => isGone,
    /** Receives these bytes, a character each. */
    say: (text: string) => connection.receive(Buffer.from(text, "latin1")),
    /** Advances the clock. */
    pass(seconds: number) {
      time += seconds * 1000;
      connection.expire(time);
    },
  });
}
