import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { spawnSync } from "node:child_process";
import { findProgram } from "./program.ts";
import { temporaryFolder } from "./temporary-folder.ts";

/** A certificate that signs itself, in the files that the configurations of deploy/ name. */
export type Certificate = Readonly<{ folder: string; text: string; path: string }>;

/** For localhost and 127.0.0.1, for two days. */
export function makeCertificate(): Certificate {
  const folder = temporaryFolder();
  chmodSync(folder, 0o755);
  const path = join(folder, "fullchain.pem");
  const key = join(folder, "privkey.pem");
  const words = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost";
  const names = "subjectAltName=DNS:localhost,IP:127.0.0.1";
  const { status, stderr } = spawnSync(findProgram("openssl"), [...words.split(" "), "-addext", names, "-out", path, "-keyout", key]);
  if (status !== 0) throw new Error(`openssl: ${String(stderr)}`);
  const text = readFileSync(path, "utf8");
  writeFileSync(join(folder, "all.pem"), text + readFileSync(key, "utf8"));
  return { folder, path, text };
}
