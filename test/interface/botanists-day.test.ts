import { afterAll, beforeAll, describe, expect, it } from "bun:test";
import { CATALOGUE, SEARCHES } from "../support/botanists-day.ts";
import { ENGINES } from "../support/engines.ts";
import { PATIENCE } from "../support/patience.ts";
import { startTestService } from "../support/service.ts";
import type { TestService } from "../support/service.ts";
import { askUntil } from "../support/until.ts";

describe.each(ENGINES)("a search of a botanist on $engine", ({ openFlags }) => {
  let service: TestService;
  const search = async (q: string) => {
    const response = await service.request(`/plants?limit=1000&q=${encodeURIComponent(q)}`);
    return ((await response.json()) as { name: string }[]).map(({ name }) => name);
  };

  beforeAll(async () => {
    service = await startTestService(await openFlags());
    const body = CATALOGUE.map((name, id) => JSON.stringify({ id, name })).join("\n");
    await service.request("/plants/import", { method: "POST", body });
    await askUntil(
      () => search(""),
      ({ length }) => length === CATALOGUE.length,
    );
  }, 30_000 * PATIENCE);
  afterAll(() => service.stop());

  for (const [q, ...parts] of SEARCHES)
    it(`${JSON.stringify(q)} finds ${parts.join(", ") || "nothing"}`, async () => {
      expect(await search(q)).toEqual(CATALOGUE.filter((name) => parts.some((part) => name.includes(part))));
    });
});
