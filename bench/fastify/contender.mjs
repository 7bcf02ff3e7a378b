// What a TypeScript user would write instead: Fastify, and better-sqlite3 or pg with its pool; one insert and one commit
// per request.
import { join } from "node:path";
import { parseArgs } from "node:util";
import Database from "better-sqlite3";
import Fastify from "fastify";
import pg from "pg";

const plant = { type: "object", required: ["name"], properties: { name: { type: "string" }, tag: { type: "string" } } };
const newPlant = { ...plant, required: ["id", "name"], properties: { id: { type: "integer" }, ...plant.properties } };

const text = { type: "string" };
const { values } = parseArgs({ options: { port: text, data: text, synchronous: text, database: text, connections: text } });
const insert = values.database === undefined ? openSqlite(values) : await openPostgres(values);

const app = Fastify({ logger: false });
app.get("/readyz", () => ({ status: "ok" }));
app.post("/plants", {
  schema: { body: newPlant, response: { 200: plant } },
  async onRequest(request, reply) {
    if (request.headers.authorization !== `Bearer ${process.env.BENCH_TOKEN}`) return reply.code(401).send();
  },
  async handler(request, reply) {
    const { id, name, tag } = request.body;
    return (await insert(id, name, tag ?? null)) ? { name, tag } : reply.code(409).send();
  },
});
await app.listen({ host: "127.0.0.1", port: Number(values.port) });

/** Returns what inserts a plant, and returns, or promises, whether it is new. */
function openSqlite({ data, synchronous }) {
  const db = new Database(join(data, "plants.db"));
  db.pragma("journal_mode = WAL");
  db.pragma(`synchronous = ${synchronous}`);
  if (db.pragma("synchronous", { simple: true }) !== { NORMAL: 1, FULL: 2 }[synchronous])
    throw new Error("--synchronous must be FULL or NORMAL.");
  db.exec("CREATE TABLE plants (id INTEGER PRIMARY KEY, name TEXT NOT NULL, tag TEXT) STRICT");
  db.exec("CREATE INDEX plants_by_tag ON plants (tag) WHERE tag IS NOT NULL");
  const statement = db.prepare("INSERT INTO plants (id, name, tag) VALUES (?, ?, ?) ON CONFLICT (id) DO NOTHING");
  return (id, name, tag) => statement.run(id, name, tag).changes === 1;
}

async function openPostgres({ database, connections }) {
  const pool = new pg.Pool({ connectionString: database, max: Number(connections) });
  await pool.query("CREATE TABLE plants (id BIGINT PRIMARY KEY, name TEXT NOT NULL, tag TEXT)");
  const statement = { name: "insert_plant", text: "INSERT INTO plants (id, name, tag) VALUES ($1, $2, $3) ON CONFLICT (id) DO NOTHING" };
  return async (id, name, tag) => (await pool.query({ ...statement, values: [id, name, tag] })).rowCount === 1;
}
