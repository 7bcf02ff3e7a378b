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
  let lastId = 0;
  beforeAll(async () => {
    const database = await (await sharedCluster()).createDatabase();
    service = await startTestService({ database });
    await queryOnce(database, RULES);
  });
  afterAll(() => service.stop());

  const put = (id: number, name: string) =>
    service.request(`/plants/${id}`, { method: "PUT", headers: JSON_TYPE, body: JSON.stringify({ name }) });
  const create = (id: number, name: string) => service.post(JSON.stringify({ id, name }));
  const remove = (id: number) => service.request(`/plants/${id}`, { method: "DELETE" });

  for (const [what, before, send, names, statuses] of [
    ["created, and is not there", undefined, create, ["rose", "weed"], [200, 500]],
    ["created with a code that PostgreSQL does not have either, and is not there", undefined, create, ["lily", "thorn"], [200, 500]],
    ["created if a trigger drops it without a word, and is not answered as created", undefined, create, ["iris", "ghost"], [200, 503]],
    ["changed, and stays as it was", "tulip", put, ["lily", "weed"], [200, 500]],
    ["deleted, and is still there", "protected", remove, ["", ""], [204, 500]],
  ] as const)
    it(`keeps no other plant of its commit from being ${what}`, async () => {
      const first = (lastId += 100);
      const others = OTHERS.map((at) => first + at);
      if (before !== undefined) for (const [at, id] of [first, ...others].entries()) await put(id, at === 0 ? before : "other");
      const answers = await Promise.all([...others.map((id) => send(id, names[0])), send(first, names[1])]);
      expect([new Set(answers.slice(0, -1).map(({ status }) => status)), answers.at(-1)!.status]).toEqual([
        new Set([statuses[0]]),
        statuses[1],
      ]);
      const read = await service.request(`/plants/${first}`);
      expect(read.ok ? await read.json() : undefined).toEqual(before && { id: first, name: before });
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
