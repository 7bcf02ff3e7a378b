import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { nameKey } from "../src/domain/name-order.ts";
import { INSERT_PLANTS } from "../src/store/postgres/plant-statements.ts";
import { inPublic } from "../test/support/postgres/database-server.ts";
import { withFolder } from "./scratch.ts";
import type { Server } from "./plant-store.ts";

type Inserts = Readonly<{
  server: Server;
  /** The URL of a database with the tables of the service. */
  database: string;
  /** How many plants one statement creates, and how many statements run at a time. */
  plants: number;
  clients: number;
  /** The first id. */
  start: number;
  seconds: number;
  signal: AbortSignal;
}>;

/** The parameters of the statement in pgbench's terms: its variables cannot be arrays that change. */
const PARAMETERS: Readonly<Record<string, string>> = {
  $1: "ARRAY(SELECT generate_series(:first::bigint, :last::bigint))",
  $2: ":names",
  $3: ":tags",
  $4: ":words",
  $5: ":keys",
};

const NAME = "Monstera deliciosa";

/** Throws, with what to do, if pgbench is missing: the PostgreSQL from npm does not include it. */
export function checkPgbench({ binaries }: Server): void {
  if (!existsSync(join(binaries, "pgbench"))) throw new Error("The part postgres needs pgbench: apt-get install postgresql");
}

/** Runs the statement that the service creates plants with, in pgbench, as fast as responses come. Returns plants a second. */
export async function runPgbench({ server, database, plants, clients, start, seconds, signal }: Inserts): Promise<number> {
  return withFolder(async (folder) => {
    const script = join(folder, "inserts.sql");
    await writeFile(script, toScript({ plants, clients, start }));
    const columns = { names: NAME, tags: "tropical", words: NAME.toLowerCase(), keys: nameKey(NAME) };
    const values = Object.entries(columns).flatMap(([name, value]) => ["-D", `${name}={${Array(plants).fill(`"${value}"`).join(",")}}`]);
    const flags = ["--no-vacuum", "--protocol=prepared", "-c", String(clients), "-T", String(seconds), "-D", "turn=0", ...values];
    const { stdout } = await promisify(execFile)(join(server.binaries, "pgbench"), [...flags, "-f", script, database], { signal });
    const commits = /^tps = ([\d.]+)/m.exec(stdout)?.[1];
    if (commits === undefined || !/failed transactions: 0 /.test(stdout)) throw new Error(`pgbench did not succeed:\n${stdout}`);
    return Number(commits) * plants;
  });
}

/** The clients take turns with the ids, so that these rise across all clients, as those of the service do. */
export function toScript({ plants, clients, start }: Pick<Inserts, "plants" | "clients" | "start">): string {
  const insert = inPublic(INSERT_PLANTS.text).replaceAll(/\$\d+/g, (parameter) => {
    const variable = PARAMETERS[parameter];
    if (variable === undefined) throw new Error(`The statement has a parameter more: say what ${parameter} is for pgbench.`);
    return variable;
  });
  return `\\set first ${start} + (:turn * ${clients} + :client_id) * ${plants}
\\set last :first + ${plants - 1}
\\set turn :turn + 1
${insert};
`;
}
