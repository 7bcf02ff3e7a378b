import { createConnection } from "node:net";
import { afterAll, describe, expect, it } from "bun:test";
import { Client } from "pg";
import { FIND_ALIVE } from "../../src/store/postgres/engine/requirements.ts";
import { createErrorMender } from "../../src/store/postgres/engine/error-ends.ts";
import { rejectionOf } from "../support/rejection.ts";
import { plantBugs } from "../support/plant-bugs.ts";
import { startFlood } from "../support/flood.ts";
import { killServices, PATIENT } from "../support/service-process.ts";
import { sharedCluster } from "../support/postgres/cluster.ts";
import { startProxy } from "../support/postgres/proxy.ts";
import { serveOn } from "../support/postgres/store.ts";
import { startTestService } from "../support/service.ts";
import { until } from "../support/until.ts";
import { errorResponse, readMessages } from "../support/postgres/messages.ts";
import { runCommand } from "../support/process.ts";
import { listenAsStandIn } from "../support/postgres/stand-in.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** No bug: connections grow old within a second. */
const OLD_SOON = { file: "src/store/postgres/engine/database-connection.ts", from: "AGE_MS_MAX = 60 * 60_000", to: "AGE_MS_MAX = 1000" };

afterAll(killServices);

describe("the connections of a service", () => {
  it("are replaced when they are old, at different times, and no request notices", async () => {
    const server = await sharedCluster();
    const database = await server.createDatabase();
    const name = new URL(database).pathname.slice(1);
    const service = await serveOn(database, { root: plantBugs([OLD_SOON]), flags: PATIENT });
    const flood = startFlood({ url: service.url, token: service.token, firstId: 1n, clients: 8 });
    const seen = new Map<string, string>();
    // More than there can be at a time.
    await until("Fifty connections have been opened", async () => {
      const rows = await server.query(`SELECT pid::text, backend_start::text AS since FROM pg_stat_activity WHERE datname = '${name}'`);
      for (const { pid, since } of rows) seen.set(`${String(pid)} ${String(since)}`, String(since));
      return seen.size >= 50;
    });
    const { answered, others } = await flood.stop();
    expect(others).toEqual([]);
    expect(answered.length).toBeGreaterThan(100);
    // To a tenth of a second.
    expect(new Set([...seen.values()].map((since) => since.slice(0, 21))).size).toBeGreaterThan(10);
  });

  it("cancel what was given up on another, and neither what it runs since then nor one that is idle", async () => {
    const [user, other] = [await connect(), await connect()];
    const { rows } = await user.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
    const cancel = async (ms: number) => (await other.query(FIND_ALIVE.text, [[rows[0]!.pid], [ms]])).rowCount;
    expect(await cancel(0)).toBe(0);
    const later = user.query("SELECT pg_sleep(1)");
    await Bun.sleep(300);
    expect(await cancel(60_000)).toBe(0);
    await later;
    const givenUp = rejectionOf(user.query("SELECT pg_sleep(60)"));
    await until("It is cancelled", async () => (await cancel(10)) === 1);
    expect(await givenUp).toMatchObject({ code: "57014" });
    await Promise.all([user.end(), other.end()]);
  });

  for (const [what, forbidden] of [
    ["may not see what others run", "SELECT ON pg_stat_activity"],
    ["may cancel nothing", "EXECUTE ON FUNCTION pg_cancel_backend(int)"],
  ] as const) {
    it(`open again after statements were given up that no cancel could end, though the user ${what}`, async () => {
      const server = await sharedCluster();
      const database = new URL(await server.createDatabase());
      database.username = "modest";
      const name = database.pathname.slice(1);
      await server.query("CREATE ROLE modest LOGIN");
      await server.query(`ALTER DATABASE "${name}" OWNER TO modest`);
      await server.query(`REVOKE ${forbidden} FROM PUBLIC`, name);
      const proxy = await startProxy({ target: server });
      const { post, stop } = await startTestService({ database: proxy.url(database.href), queueWaitMs: "1000" });
      proxy.randomly({
        faults: [{ kind: "hold", holdMs: 10_000 }],
        probability: 1,
        seed: 1,
        on: /^WITH made AS \(INSERT INTO public\.plants/,
      });
      expect((await post('{"id":1,"name":"Ficus"}')).status).toBe(503);
      // Until its cancel has been waited for. Then no connection is left that was there before.
      await Bun.sleep(1500);
      proxy.clear();
      proxy.cutAll();
      await until("A plant is created", async () => (await post('{"id":1,"name":"Ficus"}')).status === 200);
      await stop();
      await proxy.stop();
      await server.query(`DROP DATABASE "${name}" WITH (FORCE)`);
      await server.query("DROP ROLE modest");
    });
  }
});

async function connect(): Promise<Client> {
  const client = new Client({ connectionString: (await sharedCluster()).url(), application_name: "plant-store" });
  await client.connect();
  return client;
}

afterAll(killServices);

function mendAll(pieces: readonly Uint8Array[]): string {
  const mend = createErrorMender();
  return Buffer.concat(pieces.map((piece) => mend(Buffer.from(piece)))).toString("latin1");
}

/** What a server sends whose messages are in German, if it is an error. */
function translate(message: Buffer): Buffer {
  const translated = Buffer.from(message.toString("latin1").replace(/(?<=^[EN][^]{4}S)[A-Z]+/, "FEHLER"), "latin1");
  translated.writeInt32BE(translated.length - 1, 1);
  return translated;
}

describe("an error from a server", () => {
  const row = Buffer.from("D\0\0\0\x0b\0\x01\0\0\0\x01E", "latin1");
  const ready = Buffer.from("Z\0\0\0\x05I", "latin1");
  const whole = errorResponse("FATAL", "53300");
  const nothing = Buffer.from("N\0\0\0\x05\0", "latin1");
  const messages = (error: Uint8Array) => Buffer.concat([row, error, nothing, ready, row]);
  const right = messages(whole).toString("latin1");
  const cut = Buffer.from(whole.subarray(0, -2));
  cut.writeInt32BE(cut.length - 1, 1);

  for (const [name, error] of [
    ["that has an end stays as it is", whole],
    ["that has none gets one", errorResponse("FATAL", "53300", { isEndless: true })],
    ["whose last field has none either gets both", cut],
    ["whose severity is in the language of the server gets the English one", translate(whole)],
  ] as const) {
    const bytes = messages(error);
    it(`${name}, in whatever pieces it arrives`, () => {
      const places = Array.from(bytes.keys());
      expect(places.filter((at) => mendAll([bytes.subarray(0, at), bytes.subarray(at)]) !== right)).toEqual([]);
      expect(mendAll(places.map((at) => bytes.subarray(at, at + 1)))).toBe(right);
    });
  }
});

it("a service that is refused with an error without an end goes on responding, says why, and serves again when it is let in", async () => {
  const server = await sharedCluster();
  const proxy = await startProxy({ target: server });
  const service = await serveOn(proxy.url(await server.createDatabase()), { flags: PATIENT });
  proxy.randomly({ faults: [{ kind: "refusal", sqlstate: "53300", isEndless: true }], probability: 1, seed: 1 });
  proxy.cutAll();
  // A service that reads such an error forever responds to nothing.
  const statusOf = async (path: string) => (await fetch(service.url + path, { signal: AbortSignal.timeout(30_000) })).status;
  await until("The service is not ready", async () => (await statusOf("/readyz")) === 503);
  expect(await statusOf("/livez")).toBe(200);
  expect(proxy.injected.get("refusal 53300")).toBeGreaterThan(0);
  // What it logs comes another way than what it answers.
  await until("It says why", () => service.lines.join("\n").includes("injected by the proxy of the tests"));
  proxy.clear();
  await until("The service is ready", async () => (await statusOf("/readyz")) === 200);
  expect(await service.statusOf("POST", "/plants", '{"id":1,"name":"Ficus"}')).toBe(200);
  await proxy.stop();
});

it("a server that says in another language that its user may not ask for the timeline is not refused", async () => {
  const server = await sharedCluster();
  const name = new URL(await server.createDatabase()).pathname.slice(1);
  await server.query(`CREATE ROLE "of_${name}" LOGIN; ALTER DATABASE "${name}" OWNER TO "of_${name}"`);
  await server.query("REVOKE EXECUTE ON FUNCTION pg_control_system() FROM public", name);
  const german = await listenAsStandIn((client) => {
    const upstream = createConnection({ host: server.host, port: server.port, noDelay: true });
    upstream.on("error", () => {}).once("close", () => client.destroy());
    client.once("close", () => upstream.destroy());
    void (async () => {
      for await (const { type, bytes } of readMessages(upstream, "server")) client.write(type === "E" ? translate(bytes) : bytes);
    })();
    client.pipe(upstream);
  });
  const { stderr } = await runCommand(["token", "list", "--data", temporaryFolder()], {
    environment: { PLANT_STORE_DATABASE: `postgres://of_${name}@127.0.0.1:${german.port}/${name}` },
  });
  expect(stderr).toContain("There is no store in this database");
  await german.stop();
  await server.query(`ALTER DATABASE "${name}" OWNER TO CURRENT_USER; DROP ROLE "of_${name}"`);
});
