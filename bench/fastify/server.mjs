// What a TypeScript user would write instead: Fastify and better-sqlite3, one insert and one commit a request.
import { join } from "node:path";
import { parseArgs } from "node:util";
import Database from "better-sqlite3";
import Fastify from "fastify";

const LEVELS = { NORMAL: 1, FULL: 2 };

const plant = { type: "object", required: ["name"], properties: { name: { type: "string" }, tag: { type: "string" } } };
const newPlant = { ...plant, required: ["id", "name"], properties: { id: { type: "integer" }, ...plant.properties } };

const { values } = parseArgs({
  options: { port: { type: "string" }, data: { type: "string" }, synchronous: { type: "string" } },
});

const insert = openDatabase(values).prepare("INSERT INTO plants (id, name, tag) VALUES (?, ?, ?) ON CONFLICT (id) DO NOTHING");
await createApp(insert, process.env.BENCH_TOKEN).listen({ host: "127.0.0.1", port: Number(values.port) });

function openDatabase({ data, synchronous }) {
  const db = new Database(join(data, "plants.db"));
  db.pragma("journal_mode = WAL");
  db.pragma(`synchronous = ${synchronous}`);
  if (db.pragma("synchronous", { simple: true }) !== LEVELS[synchronous]) throw new Error("--synchronous must be FULL or NORMAL.");
  db.exec("CREATE TABLE plants (id INTEGER PRIMARY KEY, name TEXT NOT NULL, tag TEXT) STRICT");
  return db;
}

function createApp(insert, token) {
  const app = Fastify({ logger: false });
  app.get("/readyz", () => ({ status: "ok" }));
  app.post("/plants", {
    schema: { body: newPlant, response: { 200: plant } },
    async onRequest(request, reply) {
      if (request.headers.authorization !== `Bearer ${token}`) return reply.code(401).send();
    },
    async handler(request, reply) {
      const { id, name, tag } = request.body;
      const { changes } = insert.run(id, name, tag ?? null);
      return changes === 1 ? { name, tag } : reply.code(409).send();
    },
  });
  return app;
}
