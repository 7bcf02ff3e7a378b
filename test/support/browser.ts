import { execFileSync } from "node:child_process";
import { createReadStream, createWriteStream, existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { fileURLToPath } from "node:url";
import { brotliDecompressSync, createBrotliDecompress } from "node:zlib";
import { chromium } from "playwright-core";
import type { Browser, LaunchOptions } from "playwright-core";

/**
 * Starts a real Chromium without a window: the installed one, or the one from npm. The caller closes it. `slowMo`: the pause
 * after each step, in milliseconds.
 */
export async function startBrowser({ slowMo = 0 }: Pick<LaunchOptions, "slowMo"> = {}): Promise<Browser> {
  // Tests run as root in containers, where its sandbox cannot work; the only pages that it sees are ours.
  const args = ["--no-sandbox"];
  if (existsSync(SYSTEM_CHROMIUM)) return chromium.launch({ executablePath: SYSTEM_CHROMIUM, args, slowMo });
  const folder = await unpackChromium();
  // It brings the libraries and the font that a machine without a desktop lacks. Without any font it crashes.
  const env = {
    ...(process.env as Record<string, string>),
    LD_LIBRARY_PATH: join(folder, "lib"),
    FONTCONFIG_FILE: join(folder, "fonts.conf"),
  };
  return chromium.launch({ executablePath: join(folder, "chromium"), args, env, slowMo });
}

const SYSTEM_CHROMIUM = "/usr/bin/chromium";

/** Unpacks the package once for every version and machine, which takes three seconds, and returns the folder. */
async function unpackChromium(): Promise<string> {
  const source = fileURLToPath(new URL("../", import.meta.resolve("@sparticuz/chromium")));
  const { version } = JSON.parse(readFileSync(join(source, "package.json"), "utf8")) as { version: string };
  const folder = join(tmpdir(), `plant-store-browser-${version}`);
  if (existsSync(folder)) return folder;
  // In a temporary folder until it is whole: another run may do the same, or this one may be stopped.
  const making = mkdtempSync(`${folder}-`);
  const program = createWriteStream(join(making, "chromium"), { mode: 0o755 });
  await pipeline(createReadStream(join(source, "bin/chromium.br")), createBrotliDecompress(), program);
  for (const name of ["al2023", "fonts"]) {
    const archive = brotliDecompressSync(readFileSync(join(source, `bin/${name}.tar.br`)));
    execFileSync("tar", ["-x", "-C", making], { input: archive });
  }
  // The one of the package names folders of AWS Lambda.
  writeFileSync(
    join(making, "fonts.conf"),
    `<fontconfig><dir>${folder}/fonts</dir><cachedir>${folder}/fonts-cache</cachedir></fontconfig>`,
  );
  try {
    renameSync(making, folder);
  } catch (reason) {
    rmSync(making, { recursive: true });
    if (!existsSync(folder)) throw reason;
  }
  return folder;
}
