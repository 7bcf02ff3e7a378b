// Makes what the service reads from the contracts that people write: each YAML as JSON, with every digit of its numbers kept, and the
// operation ids of the served one as a type, so that an operation without a handler does not compile.
// `npm run contract` writes the files; with --check it only compares, and exits with 1 when one is stale.
import { readFileSync, writeFileSync } from "node:fs";
import { parse } from "yaml";
import { toJson } from "../src/json.ts";

type Document = { paths: Record<string, Record<string, { operationId: string }>> };

function read(name: string): Document {
  // Whole numbers as bigint: an id in an example must not be rounded on its way to the reader.
  return parse(readFileSync(new URL(name, import.meta.url), "utf8"), { intAsBigInt: true }) as Document;
}

const served = read("openapi.yaml");
const ids = Object.values(served.paths).flatMap((methods) => Object.values(methods).map(({ operationId }) => operationId));
const files = {
  "openapi.json": `${toJson(served)}\n`,
  "base-1.0.0.json": `${toJson(read("base-1.0.0.yaml"))}\n`,
  "operations.ts": `// Made from openapi.yaml by generate.ts: do not edit, run \`npm run contract\`.
export type OperationId = ${ids.map((id) => JSON.stringify(id)).join(" | ")};
`,
};

for (const [name, text] of Object.entries(files)) {
  const path = new URL(name, import.meta.url);
  if (!process.argv.includes("--check")) writeFileSync(path, text);
  else if (readFileSync(path, "utf8") !== text) {
    process.stderr.write(`contract/${name} is not what the YAML says: run \`npm run contract\`.\n`);
    process.exitCode = 1;
  }
}
