import { afterEach, beforeEach, describe, expect, it } from "bun:test";
import { Client } from "pg";
import { sharedCluster } from "../support/postgres/cluster.ts";
import type { Fault, StatementFault } from "../support/postgres/faults.ts";
import { startProxy, type Proxy } from "../support/postgres/proxy.ts";
import { until } from "../support/until.ts";
import { queryOnce, type DatabaseServer } from "../support/postgres/database-server.ts";
import { rejectionOf } from "../support/rejection.ts";

const STATES = ["40001", "40P01", "25006", "53100"] as const;

const LOSSES = [
  { kind: "cut_before", name: "cuts before the statement: the client gets an error and the row is not there", there: [] },
  { kind: "cut_after", name: "cuts after the statement: the client gets an error and the row is there", there: [1] },
  { kind: "torn", name: "tears the answer: the client gets an error and the row is there", there: [1] },
] as const;

/** The ways to send one statement. */
const WAYS = [
  { way: "a simple query", insert: (id: number) => `INSERT INTO plants VALUES (${id})` },
  { way: "an unnamed statement", insert: (id: number) => ({ text: "INSERT INTO plants VALUES ($1)", values: [id] }) },
  { way: "a named statement", insert: (id: number) => ({ name: "insert", text: "INSERT INTO plants VALUES ($1)", values: [id] }) },
] as const;

let server: DatabaseServer;
let database: string;
let proxy: Proxy;
beforeEach(async () => {
  server = await sharedCluster();
  database = await server.createDatabase();
  await queryOnce(database, "CREATE TABLE plants (id int)");
  proxy = await startProxy({ target: server });
});
afterEach(() => proxy.stop());

for (const { way, insert } of WAYS) {
  describe(`a proxy between ${way} and a PostgreSQL`, () => {
    it("changes nothing without an armed fault", async () => {
      const client = await connect();
      for (const id of [1, 2]) await client.query(insert(id));
      expect(await ids()).toEqual([1, 2]);
      expect(proxy.injected.size).toBe(0);
    });

    for (const { kind, name, there } of LOSSES) {
      it(name, async () => {
        expect(await lose({ kind }, insert)).toEqual([...there]);
      });
    }

    it("cuts during the statement: the client gets an error, and the row is there soon", async () => {
      await lose({ kind: "cut_during" }, insert);
      await until("The row is there", async () => (await ids()).length === 1);
    });

    it("ends the connection like an administrator: the client gets 57P01, and the row is not there", async () => {
      const client = await connect();
      proxy.once({ kind: "fatal", sqlstate: "57P01" });
      expect(await rejectionOf(client.query(insert(1)))).toMatchObject({ code: "57P01", severity: "FATAL" });
      expect(await rejectionOf(client.query(insert(2)))).toBeInstanceOf(Error);
      expect(await ids()).toEqual([]);
      expect([...proxy.injected]).toEqual([["fatal 57P01", 1]]);
    });

    for (const sqlstate of STATES) {
      it(`refuses with ${sqlstate}: the row is not there, and the next statement on the connection succeeds`, async () => {
        const client = await connect();
        proxy.once({ kind: "error", sqlstate });
        expect(await rejectionOf(client.query(insert(1)))).toMatchObject({ code: sqlstate, severity: "ERROR" });
        await client.query(insert(2));
        expect(await ids()).toEqual([2]);
        expect([...proxy.injected]).toEqual([[`error ${sqlstate}`, 1]]);
      });
    }

    it("refuses within a transaction: the transaction has failed, and its rollback leaves a connection that works", async () => {
      const client = await connect();
      await client.query("BEGIN");
      await client.query(insert(1));
      proxy.once({ kind: "error", sqlstate: "40001" });
      expect(await rejectionOf(client.query(insert(2)))).toMatchObject({ code: "40001" });
      expect(await rejectionOf(client.query(insert(3)))).toMatchObject({ code: "25P02" });
      await client.query("ROLLBACK");
      await client.query(insert(4));
      expect(await ids()).toEqual([4]);
    });

    it("cuts after waiting for the commit: the client gets an error, and the row is there", async () => {
      const client = await connect();
      proxy.once({ kind: "cut_after" }, /^commit$/i);
      await client.query("BEGIN");
      await client.query(insert(1));
      expect(await ids()).toEqual([]);
      expect(await rejectionOf(client.query("COMMIT"))).toBeInstanceOf(Error);
      expect(await ids()).toEqual([1]);
      expect([...proxy.injected]).toEqual([["cut_after", 1]]);
    });
  });
}

describe("a proxy between clients and PostgreSQL servers", () => {
  it("injects the same faults for the same seed, others for another, and counts each one that the client saw", async () => {
    const [one, same, other] = [await seenWith(7), await seenWith(7), await seenWith(8)];
    expect(same).toEqual(one);
    expect(other).not.toEqual(one);
    const seen = [...one, ...same, ...other].filter((code) => code !== "none");
    expect(seen.length).toBeGreaterThan(10);
    for (const sqlstate of ["40001", "53100"]) {
      expect(proxy.injected.get(`error ${sqlstate}`)).toBe(seen.filter((code) => code === sqlstate).length);
    }
  });

  it("tears a message in half", async () => {
    const client = await connect();
    const received: Buffer[] = [];
    client.connection.stream.on("data", (chunk: Buffer) => received.push(chunk));
    proxy.once({ kind: "torn" });
    await rejectionOf(client.query("INSERT INTO plants VALUES (1)"));
    // Of CommandComplete: its letter, its length, and "INSERT 0 1".
    expect(Buffer.concat(received).toString()).toBe("C\0\0\0\x0fINS");
  });

  it("passes large responses and large parameters unchanged", async () => {
    const client = await connect();
    const large = "plänt🌱".repeat(200_000);
    expect((await client.query("SELECT $1 AS large", [large])).rows).toEqual([{ large }]);
  });
});

async function connect(): Promise<Client> {
  const client = new Client({ connectionString: proxy.url(database) });
  client.on("error", () => {});
  await client.connect();
  return client;
}

/** Sends an insert that meets a fault, sees it fail without a response of the server, and returns the rows. */
async function lose(fault: StatementFault, insert: (typeof WAYS)[number]["insert"]): Promise<number[]> {
  const client = await connect();
  proxy.once(fault);
  const reason = await rejectionOf(client.query(insert(1)));
  expect(reason).toBeInstanceOf(Error);
  expect(reason).not.toHaveProperty("severity");
  expect([...proxy.injected]).toEqual([[fault.kind, 1]]);
  return ids();
}

/** The states of 50 statements under random faults, "none" for those that succeeded. */
async function seenWith(seed: number): Promise<string[]> {
  const client = await connect();
  const faults: Fault[] = [
    { kind: "error", sqlstate: "40001" },
    { kind: "error", sqlstate: "53100" },
  ];
  proxy.randomly({ faults, probability: 0.3, seed, on: /INSERT/ });
  const seen: string[] = [];
  for (let id = 0; id < 50; id += 1) {
    const insert = client.query(`INSERT INTO plants VALUES (${id})`);
    seen.push(await insert.then(() => "none").catch((error: { code: string }) => error.code));
  }
  return seen;
}

/** The rows, read without the proxy. */
async function ids(): Promise<number[]> {
  const rows = await queryOnce(database, "SELECT id FROM plants ORDER BY id");
  return rows.map((row) => row["id"] as number);
}
