// What a TypeScript user would write instead: Fastify and better-sqlite3, one insert and one commit per request.
import { join } from "node:path";
import { parseArgs } from "node:util";
import Database from "better-sqlite3";
import { createApp } from "./fastify-app.mjs";

const LEVELS = { NORMAL: 1, FULL: 2 };

const { values } = parseArgs({
  options: { port: { type: "string" }, data: { type: "string" }, synchronous: { type: "string" } },
});

const statement = openDatabase(values).prepare("INSERT INTO plants (id, name, tag) VALUES (?, ?, ?) ON CONFLICT (id) DO NOTHING");
const insert = (id, name, tag) => statement.run(id, name, tag).changes === 1;
await createApp(insert, process.env.BENCH_TOKEN).listen({ host: "127.0.0.1", port: Number(values.port) });

function openDatabase({ data, synchronous }) {
  const db = new Database(join(data, "plants.db"));
  db.pragma("journal_mode = WAL");
  db.pragma(`synchronous = ${synchronous}`);
  if (db.pragma("synchronous", { simple: true }) !== LEVELS[synchronous]) throw new Error("--synchronous must be FULL or NORMAL.");
  db.exec("CREATE TABLE plants (id INTEGER PRIMARY KEY, name TEXT NOT NULL, tag TEXT) STRICT");
  db.exec("CREATE INDEX plants_by_tag ON plants (tag) WHERE tag IS NOT NULL");
  return db;
}
