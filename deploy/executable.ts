// Packs the whole service into one file that needs nothing else on the machine: it contains the runtime, the contracts
// and the pages.
// `npm run build:exe` writes dist/plant-store for the system it runs on, `npm run release` one for each platform.
import { join } from "node:path";
import { buildWeb } from "../web/build.ts";
import { withFolder } from "./release/archive.ts";
import { PROJECT } from "./release/project.ts";

/** A system to build for: its name for Bun, and the path of a runtime for it. */
type Target = Readonly<{ name: Bun.Build.CompileTarget; runtime: string }>;

/** Builds it for the system that this runs on, unless another is given. */
export async function buildExecutable(path: string, target?: Target): Promise<void> {
  await withFolder(async (staged) => {
    await buildWeb(join(staged, "dist/web"));
    await Bun.build({
      entrypoints: ["src/main.ts", "src/store/sqlite/engine/worker.ts"].map((name) => join(PROJECT, name)),
      root: PROJECT,
      target: "bun",
      minify: true,
      // Parsed code as well, which halves the time of a start and adds 4 MB. A module may await at its top.
      bytecode: true,
      format: "esm",
      // All code is in a folder of src/ and says so, as in the project: it finds the other files by the same relative paths.
      naming: { entry: "src/packed/[name].[ext]" },
      define: { "import.meta.url": '"file:///$bunfs/root/src/packed/main.js"' },
      compile: {
        outfile: path,
        ...(target === undefined ? {} : { target: target.name, executablePath: target.runtime }),
        assets: [join(PROJECT, "contract"), join(staged, "dist")],
        // Settings belong to the service, not to the folder in which it is started.
        autoloadDotenv: false,
        autoloadBunfig: false,
      },
    });
  });
}

if (import.meta.main) {
  const path = join(PROJECT, "dist/plant-store");
  await buildExecutable(path);
  process.stdout.write(`${path} is ready: copy it anywhere, and run it with \`serve\`.\n`);
}
