// Writes contract/operations.ts: the operation ids of the served contract as a type, so that an operation without a handler does
// not compile. `npm run contract` writes it; with --check it only compares, and exits with 1 when the file is stale.
import { readFileSync, writeFileSync } from "node:fs";
import { parse } from "yaml";

const source = new URL("./openapi.yaml", import.meta.url);
const target = new URL("./operations.ts", import.meta.url);

const { paths } = parse(readFileSync(source, "utf8")) as { paths: Record<string, Record<string, { operationId: string }>> };
const ids = Object.values(paths).flatMap((methods) => Object.values(methods).map(({ operationId }) => operationId));
const text = `// Made from openapi.yaml by generate.ts: do not edit, run \`npm run contract\`.
export type OperationId = ${ids.map((id) => JSON.stringify(id)).join(" | ")};
`;

if (!process.argv.includes("--check")) writeFileSync(target, text);
else if (readFileSync(target, "utf8") !== text) {
  process.stderr.write("contract/operations.ts is not what contract/openapi.yaml says: run `npm run contract`.\n");
  process.exitCode = 1;
}
