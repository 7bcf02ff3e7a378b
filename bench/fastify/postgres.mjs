// What a TypeScript user would write instead for PostgreSQL: Fastify and pg with its pool, one prepared insert and one
// commit per request.
import { parseArgs } from "node:util";
import pg from "pg";
import { createApp } from "./fastify-app.mjs";

const { values } = parseArgs({
  options: { port: { type: "string" }, database: { type: "string" }, connections: { type: "string" } },
});

const INSERT = { name: "insert_plant", text: "INSERT INTO plants (id, name, tag) VALUES ($1, $2, $3) ON CONFLICT (id) DO NOTHING" };

const pool = new pg.Pool({ connectionString: values.database, max: Number(values.connections) });
await pool.query("CREATE TABLE plants (id BIGINT PRIMARY KEY, name TEXT NOT NULL, tag TEXT)");
const insert = async (id, name, tag) => (await pool.query({ ...INSERT, values: [id, name, tag] })).rowCount === 1;
await createApp(insert, process.env.BENCH_TOKEN).listen({ host: "127.0.0.1", port: Number(values.port) });
