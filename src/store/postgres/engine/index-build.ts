import { setTimeout as sleep } from "node:timers/promises";
import type { Log } from "../../../runtime/log.ts";
import { sqlStateOf } from "./failure.ts";
import type { Statement } from "./pool.ts";

export type Run = <Row extends unknown[]>(statement: Statement, values?: readonly unknown[]) => Promise<Row[]>;

export type Migration = Readonly<{
  run: Run;
  /** Runs a statement that may take hours, without a limit, and waits for locks that block no one. */
  runLong: (statement: Statement) => Promise<void>;
  /** Whether tables may be made where there are none. */
  isNew: boolean;
  /** What and where the database is, for the log. */
  name: string;
  log: Log;
}>;

export const INDEX = {
  /** Takes a table. */
  isEmpty: (table: string) => ({ text: `SELECT NOT EXISTS (SELECT 1 FROM ${table})` }),
  /** Takes the name of an index. A build that was cut off leaves an index that is not valid. */
  state: (name: string) => ({
    text: `SELECT to_regclass('store.${name}') IS NOT NULL,
      coalesce((SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass('store.${name}')), false)`,
  }),
  /** Takes a table. Of what another user builds, the server tells only that there is something. */
  progress: (table: string) => ({
    text: `SELECT coalesce(phase, 'of another user'), coalesce(blocks_done, 0), coalesce(blocks_total, 0)
      FROM pg_stat_progress_create_index WHERE datname = current_database() AND (relid IS NULL OR relid = to_regclass('${table}'))`,
  }),
  /** Rebuilds an index, beside reads and writes. Takes its name. */
  rebuild: (name: string) => ({ text: `REINDEX INDEX CONCURRENTLY store.${name}` }),
  drop: (name: string) => ({ text: `DROP INDEX CONCURRENTLY IF EXISTS store.${name}` }),
  /** Blocks no writes, unlike the statement without this word. */
  concurrently: ({ text }: Statement) => ({ text: text.replace(" INDEX ", " INDEX CONCURRENTLY ") }),
} as const;

const FORM = /^CREATE (?:UNIQUE )?INDEX IF NOT EXISTS (?<name>\w+) ON (?<table>store\.\w+) /;

/** How often others that start at the same moment look again before one begins, and how often to look at a build. */
const PAUSE_MS_MAX = 1000;
const LOOK_MS = 1000;
/** How often to log it, while the phase is the same. */
const LOG_MS = 10_000;

/**
 * Two processes created the same thing at once: one of them hits a key of the catalogue, an object, or a change to it.
 */
const COLLISIONS = ["23505", "42P07", "42710", "42704", "40001", "40P01", "55P03", "XX000"];

export function isCollision(thrown: unknown): boolean {
  return COLLISIONS.includes(sqlStateOf(thrown) ?? "");
}

export function isIndex({ text }: Statement): boolean {
  return FORM.test(text);
}

export function indexName({ text }: Statement): string | undefined {
  return FORM.exec(text)?.groups?.["name"];
}

/**
 * Builds an index unless it is there and valid, while others write and read. A process that comes while another builds it
 * waits, and builds it again if the other was cut off. What counts is the index itself, whatever the version of the
 * schema says: versions before take a broken index for one that is there.
 */
export async function buildIndex(step: Statement, { run, runLong, log }: Migration): Promise<void> {
  const { name = "", table = "" } = FORM.exec(step.text)?.groups ?? {};
  let loggedPhase = "";
  let loggedAt = -Infinity;

  async function findState(): Promise<"valid" | "building" | "broken" | "missing"> {
    const [[isThere, isValid] = []] = await run<[isThere: string, isValid: string]>(INDEX.state(name));
    if (isValid === "t") return "valid";
    // Relatives of PostgreSQL have no such view.
    const [building] = await run<[phase: string, done: bigint, total: bigint]>(INDEX.progress(table)).catch(() => []);
    if (building) {
      note(...building);
      return "building";
    }
    if (isThere !== "t") return "missing";
    note("removing what a cut left", 0n, 0n);
    return "broken";
  }

  function note(phase: string, done: bigint, total: bigint): void {
    if (phase === loggedPhase && performance.now() - loggedAt < LOG_MS) return;
    loggedPhase = phase;
    log.info("index_build", { index: name, phase, done: Number(done), total: Number(total) });
    loggedAt = performance.now();
  }

  /** A look that fails, as when no connection is free, ends no build of hours. */
  async function watched(work: Promise<void>): Promise<void> {
    const done = work.then(() => true);
    while (!(await Promise.race([done, sleep(LOOK_MS, false)]))) await findState().catch(() => {});
  }

  for (let isSecondLook = false; ;) {
    const state = await findState();
    if (state === "valid") return;
    if (state === "building") await sleep(LOOK_MS);
    else if (state === "missing" && (await run<[isEmpty: string]>(INDEX.isEmpty(table)))[0]![0] === "t") await run(step);
    else if (!isSecondLook) await sleep(Math.random() * PAUSE_MS_MAX);
    else {
      await watched(runLong(state === "broken" ? INDEX.drop(name) : INDEX.concurrently(step))).catch((thrown: unknown) => {
        if (!isCollision(thrown)) throw thrown;
      });
    }
    isSecondLook = !isSecondLook && state !== "building";
  }
}
