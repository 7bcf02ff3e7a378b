import { join } from "node:path";
import { buildWeb } from "../../../web/build.ts";
import { temporaryFolder } from "../temporary-folder.ts";

/** Where `npm test` puts the page that all of its files share. */
const SHARED = process.env["PLANT_STORE_TEST_PAGE"];

let built: Promise<string> | undefined;

/** The folder of the page, built from the source once for all tests of a run. */
export function builtPage(): Promise<string> {
  built ??= SHARED === undefined ? build() : Promise.resolve(SHARED);
  return built;
}

async function build(): Promise<string> {
  const folder = join(temporaryFolder(), "web");
  await buildWeb(folder);
  return folder;
}
