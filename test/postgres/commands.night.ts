import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "bun:test";
import { sharedCluster, startCluster } from "../support/postgres/cluster.ts";
import { listenAsStandIn } from "../support/postgres/stand-in.ts";
import { serveOn } from "../support/postgres/store.ts";
import { startPatientClock } from "../support/patient-clock.ts";
import { PROJECT, runCommand } from "../support/process.ts";
import { killServices } from "../support/service-process.ts";
import { until } from "../support/until.ts";

const CSV = join(PROJECT, "examples/plants.csv");

const gone = await startCluster();
await gone.stop();
const primary = await startCluster();
const standby = await primary.addStandby();
const silent = await listenAsStandIn(() => {});
const { data } = await serveOn(primary.url());
afterAll(async () => {
  await killServices();
  await silent.stop();
});

/** Runs a command on a database. Any password may be given, as the server asks for none; it must not be shown. */
async function run(words: readonly string[], database: string) {
  const address = database.replace("//plants@", "//plants:s3cret@");
  const done = await runCommand([...words, "--data", data], { environment: { PLANT_STORE_DATABASE: address } });
  expect(done.stderr).not.toContain("s3cret");
  return done;
}

it("an import says that it made a store in an empty database, and only then", async () => {
  const empty = await (await sharedCluster()).createDatabase();
  const made = `Created a new store in PostgreSQL ${new URL(empty).host}${new URL(empty).pathname}.\n`;
  expect(await run(["import", CSV], empty)).toMatchObject({ status: 0, stderr: expect.stringContaining(made) });
  expect(await run(["import", CSV], empty)).toMatchObject({ status: 0, stderr: expect.not.stringContaining("Created") });
});

it("a command waits longer for a busy database than a request would", async () => {
  const busy = primary.query("BEGIN; LOCK TABLE tokens; SELECT pg_sleep(1.5); COMMIT");
  await until("The tokens are locked", async () => {
    const locks = await primary.query("SELECT FROM pg_locks WHERE relation = 'tokens'::regclass AND mode = 'AccessExclusiveLock'");
    return locks.length > 0;
  });
  expect(await run(["token", "create"], primary.url())).toMatchObject({ status: 0, stderr: "" });
  await busy;
});

it("a command leaves a slow server time behind one that lets it in late and then says nothing", async () => {
  const letIn = Buffer.from("R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I", "latin1");
  async function letInLate(client: Socket): Promise<void> {
    await once(client, "data");
    await Bun.sleep(1500);
    client.write(letIn);
  }
  async function passOnLate(client: Socket): Promise<void> {
    await Bun.sleep(1000);
    client.pipe(connect(primary.port, primary.host).on("error", () => {})).pipe(client);
  }
  const hanging = await listenAsStandIn((client) => void letInLate(client));
  const slow = await listenAsStandIn((client) => void passOnLate(client));
  const database = slow.url(primary.url()).replace("@", `@127.0.0.1:${hanging.port},`);
  expect(await run(["check"], database)).toMatchObject({ status: 0, stderr: expect.not.stringContaining("cannot be used") });
  await Promise.all([hanging.stop(), slow.stop()]);
});

describe("a command goes on to the next server of its address, past", () => {
  for (const [what, port] of [
    ["one that is not running", gone.port],
    ["one that says nothing", silent.port],
    ["a standby", standby.port],
  ] as const) {
    for (const words of [["token", "list"], ["check"]]) {
      it(`${what}: ${words.join(" ")}`, async () => {
        const { status, stderr } = await run(words, primary.url().replace("@", `@127.0.0.1:${port},`));
        expect([status, stderr]).toEqual([0, expect.not.stringContaining("cannot be used")]);
      });
    }
  }
});

describe("a command without its database", () => {
  for (const words of [
    ["token", "list"],
    ["export", "-"],
    ["import", join(PROJECT, "package.json")],
  ]) {
    it(`says at once that no server is there: ${words.slice(0, 2).join(" ").replace(PROJECT, "")}`, async () => {
      const clock = startPatientClock();
      const { status, stdout, stderr } = await run(words, gone.url());
      expect([status, stdout]).toEqual([1, ""]);
      expect(stderr).toBe(
        `plant-store: PostgreSQL 127.0.0.1:${gone.port}/postgres cannot be used (nothing listens there).` +
          " Check its address in PLANT_STORE_DATABASE, and whether it is running.\n",
      );
      // A start waits for 30 s.
      expect(clock.ms()).toBeLessThan(10_000);
    });
  }
});
