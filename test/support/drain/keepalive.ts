import { once } from "node:events";
import { connect } from "node:net";
import type { Socket } from "node:net";

/** One answer of a connection. */
type KeepAliveAnswer = Readonly<{
  status: number;
  body: string;
  /** Whether the service asks to close the connection after it. */
  isLast: boolean;
}>;

/** A connection that is kept open from request to request, by whose bytes a test sees what became of each. One request at a time. */
export type KeepAlive = Readonly<{
  /** Whether it can take a request: the service has neither closed it nor asked to. */
  isOpen(): boolean;
  /** Sends a request. Rejects when the connection ends before the whole answer. */
  send(request: string): Promise<KeepAliveAnswer>;
  close(): void;
}>;

/** Rejects when nobody listens there. `onBreak` is told when the connection is reset, also while nothing is asked. */
export async function openKeepAlive(url: string, onBreak: (reason: Error) => void): Promise<KeepAlive> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  socket.setEncoding("latin1");
  await once(socket, "connect");
  let isOpen = true;
  socket.on("end", () => (isOpen = false));
  socket.on("close", () => (isOpen = false));
  socket.on("error", (reason) => {
    isOpen = false;
    onBreak(reason);
  });
  return {
    isOpen: () => isOpen,
    async send(request) {
      socket.write(request);
      const answer = await readAnswer(socket);
      if (answer.isLast) isOpen = false;
      if (!isOpen) socket.destroy();
      return answer;
    },
    close: () => void socket.destroy(),
  };
}

/** Every answer that is asked for here declares its length. */
function readAnswer(socket: Socket): Promise<KeepAliveAnswer> {
  return new Promise((resolve, reject) => {
    let text = "";
    function settle(act: () => void): void {
      socket.off("data", read).off("close", fail).off("error", fail);
      act();
    }
    function fail(): void {
      settle(() => reject(new Error(`The connection ended ${text === "" ? "without an answer" : "within an answer"}.`)));
    }
    function read(chunk: string): void {
      text += chunk;
      const [, status, headers = "", rest = ""] = /^HTTP\/1\.1 (\d+)[^\n]*\r\n(.*?)\r\n\r\n(.*)$/s.exec(text) ?? [];
      if (status === undefined) return;
      const length = Number(/^content-length: (\d+)$/im.exec(headers)?.[1]);
      if (rest.length < length) return;
      settle(() => resolve({ status: Number(status), body: rest, isLast: /^connection: close$/im.test(headers) }));
    }
    socket.on("data", read).on("close", fail).on("error", fail);
  });
}
