import { constants, gzipSync } from "node:zlib";
import type { Contract } from "../domain/contract.ts";
import { answerFile, createFile } from "./static-file.ts";
import type { File } from "./static-file.ts";
import type { Handlers } from "./router.ts";

export function openapiHandlers(contract: Contract): Pick<Handlers, "getContract" | "getBaseContract"> {
  return { getContract: fileHandler(contract.served), getBaseContract: fileHandler(contract.base) };
}

function fileHandler(text: string): Handlers["getContract"] {
  let file: File | undefined;
  return ({ headers }) => answerFile((file ??= toFile(text)), headers);
}

function toFile(text: string): File {
  const body = Buffer.from(text);
  // Compressed once, for the first request. Gzip takes a millisecond; a better coding would take a hundred.
  const packed = [{ coding: "gzip", body: gzipSync(body, { level: constants.Z_BEST_COMPRESSION }) } as const];
  return createFile({ headers: { "content-type": "application/json", "cache-control": "no-cache" }, body, packed });
}
