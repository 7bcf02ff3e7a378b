import { afterAll, beforeAll, describe, expect, it } from "bun:test";
import { startTestService } from "../support/service.ts";
import type { TestService } from "../support/service.ts";
import { sharedCluster } from "../support/postgres/cluster.ts";
import { queryOnce } from "../support/postgres/database-server.ts";

/** What somebody may add to the table: a rule for names, one that fails, and one that drops plants without a word. */
const RULES = `
  ALTER TABLE plants ADD CONSTRAINT no_weeds CHECK (name <> 'weed');
  CREATE FUNCTION keep_out() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF TG_OP = 'DELETE' AND OLD.name = 'protected' THEN RAISE EXCEPTION 'protected'; END IF;
    IF TG_OP = 'INSERT' AND NEW.name = 'thorn' THEN RAISE EXCEPTION 'thorn' USING ERRCODE = '45000'; END IF;
    IF TG_OP = 'INSERT' AND NEW.name = 'busy' THEN RAISE EXCEPTION 'busy' USING ERRCODE = '40001'; END IF;
    IF TG_OP = 'INSERT' AND NEW.name = 'ghost' THEN RETURN NULL; END IF;
    RETURN coalesce(NEW, OLD);
  END $$;
  CREATE TRIGGER keep_out BEFORE INSERT OR DELETE ON plants FOR EACH ROW EXECUTE FUNCTION keep_out()`;

const JSON_TYPE = { "content-type": "application/json" };
/** Enough for commits with several changes. */
const OTHERS = Array.from({ length: 40 }, (_, at) => at + 1);

describe("a plant that the database refuses", () => {
  let service: TestService;
  beforeAll(async () => {
    const database = await (await sharedCluster()).createDatabase();
    service = await startTestService({ database });
    await queryOnce(database, RULES);
  });
  afterAll(() => service.stop());

  /** The statuses of requests that are sent at once: of those of others, and of the last one. */
  async function sendBeside(
    send: (id: number) => Promise<Response>,
    refused: Promise<Response>,
  ): Promise<[others: Set<number>, refused: number]> {
    const answers = await Promise.all([...OTHERS.map(send), refused]);
    const statuses = answers.map(({ status }) => status);
    return [new Set(statuses.slice(0, -1)), statuses.at(-1)!];
  }

  function put(id: number, name: string): Promise<Response> {
    return service.request(`/plants/${id}`, { method: "PUT", headers: JSON_TYPE, body: JSON.stringify({ name }) });
  }

  it("keeps no other plant from being created in the same commit, and is not there", async () => {
    const create = (id: number) => service.post(JSON.stringify({ id, name: "rose" }));
    expect(await sendBeside(create, service.post('{"id":1000,"name":"weed"}'))).toEqual([new Set([200]), 500]);
    expect((await service.request("/plants/1000")).status).toBe(404);
    expect(await (await service.request("/plants/count")).json()).toMatchObject({ plants: OTHERS.length });
  });

  it("keeps no other plant from being created in the same commit with a code that PostgreSQL does not have either", async () => {
    const create = (id: number) => service.post(JSON.stringify({ id: 3000 + id, name: "rose" }));
    expect(await sendBeside(create, service.post('{"id":1004,"name":"thorn"}'))).toEqual([new Set([200]), 500]);
    expect((await service.request("/plants/1004")).status).toBe(404);
  });

  it("keeps no other plant from being changed in the same commit, and stays as it was", async () => {
    await put(1001, "tulip");
    expect(await sendBeside((id) => put(id, "lily"), put(1001, "weed"))).toEqual([new Set([200]), 500]);
    expect(await (await service.request("/plants/1001")).json()).toEqual({ id: 1001, name: "tulip" });
  });

  it("keeps no other plant from being deleted in the same commit, and is still there", async () => {
    await put(1002, "protected");
    const remove = (id: number) => service.request(`/plants/${id}`, { method: "DELETE" });
    expect(await sendBeside(remove, remove(1002))).toEqual([new Set([204]), 500]);
    expect((await service.request("/plants/1002")).status).toBe(200);
  });

  it("keeps no other plant from being created if a trigger drops it without a word, and is not answered as created", async () => {
    const create = (id: number) => service.post(JSON.stringify({ id: 2000 + id, name: "rose" }));
    expect(await sendBeside(create, service.post('{"id":1003,"name":"ghost"}'))).toEqual([new Set([200]), 503]);
    expect((await service.request("/plants/1003")).status).toBe(404);
  });

  it("does not make the service look ill", async () => {
    await service.post('{"id":1000,"name":"weed"}');
    expect((await service.request("/readyz")).status).toBe(200);
    expect(service.logged.filter((line) => line.includes("store_trouble"))).toEqual([]);
  });

  it("with a code that asks for another try gets 503, which invites one", async () => {
    expect((await service.post('{"id":1005,"name":"busy"}')).status).toBe(503);
    expect((await service.request("/plants/1005")).status).toBe(404);
  });
});
