import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { join } from "node:path";
import { findNode } from "../client/node.ts";

/** What llhttp, the parser in Node, understood of a stream that it got byte by byte. */
export type LlhttpReading = Readonly<{
  requests: ReadonlyArray<{
    method: string;
    target: string;
    /** Names and values in turns. */
    fields: readonly string[];
    body: string;
    end: number | undefined;
  }>;
  /** The code of its error. */
  refusal: string | undefined;
}>;

export type Llhttp = Readonly<{ read(streams: readonly string[]): Promise<readonly LlhttpReading[]>; end(): void }>;

/** Starts a real Node. */
export function openLlhttp(): Llhttp {
  const script = new Bun.Transpiler({ loader: "ts" }).transformSync(readFileSync(join(import.meta.dirname, "node-worker.ts"), "utf8"));
  const child = spawn(findNode(), ["--input-type=module", "-e", script], { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    async read(streams) {
      child.stdin.write(`${JSON.stringify(streams)}\n`);
      const { value, done } = await lines.next();
      if (done) throw new Error("Node has ended.");
      return JSON.parse(value) as LlhttpReading[];
    },
    end: () => child.stdin.end(),
  };
}
