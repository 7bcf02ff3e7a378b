import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "bun:test";
import type { ImportSummary } from "../../src/files/import.ts";
import type { Findings } from "../../src/files/row.ts";
import { runInside } from "../support/command.ts";
import { startTestService } from "../support/service.ts";
import { FORMS } from "../support/tables/forms.ts";
import { HEADED } from "../support/tables/headed.ts";
import { MISLEADING } from "../support/tables/misleading.ts";
import { NAMED } from "../support/tables/named.ts";
import { PACKED } from "../support/tables/packed.ts";
import { PUBLIC_LISTS } from "../support/tables/public-lists.ts";
import { plantsIn, readHere, refusedIn } from "../support/tables/read-here.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { openTransfers } from "../support/transfers.ts";

const service = await startTestService();
afterAll(() => service.stop());
const { post, storedFrom, empty } = openTransfers(service);
const folder = temporaryFolder();

/** What became of a file: its plants as lines of an export, and what was said of it. */
type Outcome = Readonly<{ plants: readonly string[] }> & Pick<Findings, "skipped" | "doubts"> & Readonly<{ refused: readonly number[] }>;

function toOutcome(ndjson: string, { skipped = 0, doubts = [], problems }: ImportSummary): Outcome {
  const plants = ndjson.trimEnd().split("\n");
  return {
    plants: plants.filter((line) => line !== "").toSorted(),
    refused: problems.map(({ line }) => line),
    skipped,
    doubts: [...doubts],
  };
}

for (const [kind, tables] of Object.entries({
  "in another form": FORMS,
  "with rows that are no plants": HEADED,
  "with columns of its own": NAMED,
  "of a well-known list": PUBLIC_LISTS,
  "in a file that is no plain text": PACKED,
  "that is easily misread": MISLEADING,
}))
  describe(`a table ${kind} is read as its owner sees it:`, () => {
    for (const { what, file, plants, skipped = 0, refused = [], doubts = [] } of tables)
      it(`${what}, by the reader, the interface and the command alike`, async () => {
        const { rows, findings } = await readHere(file);
        const read = plantsIn(rows).map(({ plant: { id, name, tag = "" }, isIdMade }) => `${isIdMade ? "*" : id}|${name}|${tag}`);
        expect(read).toEqual([...plants]);
        expect(refusedIn(rows)).toEqual([...refused]);
        expect([findings.skipped, findings.doubts.length]).toEqual([skipped, doubts.length]);
        for (const doubt of doubts) expect(findings.doubts.map(({ message }) => message).join("\n")).toContain(doubt);

        const again = await readHere(file, findings.reading);
        expect(plantsIn(again.rows)).toEqual(plantsIn(rows));

        const stored = plantsIn(rows).map(({ plant: { id, ...rest } }) => `{"id":${id},${JSON.stringify(rest).slice(1)}`);
        const wanted = { plants: stored.toSorted(), refused, skipped, doubts: findings.doubts };
        const sent = await storedFrom(Buffer.from(file as string), { type: "application/octet-stream", query: "?reading=%7B%7D" });
        expect(toOutcome(sent.stored, sent.summary)).toEqual(wanted);

        const path = join(folder, "list.txt");
        writeFileSync(path, file);
        const done = await runInside(["import", path, "--json"], { PLANT_STORE_URL: service.url, PLANT_STORE_TOKEN: service.token });
        expect(toOutcome(await empty(), JSON.parse(done.stdout) as ImportSummary)).toEqual(wanted);
        expect(done.status).toBe(refused.length > 0 ? 1 : 0);
      });
  });

describe("a table whose lines were joined on the way", () => {
  for (const [what, file] of [
    ["with a heading", "id,name,tag1,Rosa canina,wild2,Salix alba,wet"],
    ["with another heading", "Nr;Name;Beet1;Hundsrose;A2;Silberweide;B"],
    ["without one", "1,Rosa canina,wild2,Salix alba,wet"],
  ] as const)
    it(`${what} is refused with the cause by the reader, the interface and the command alike`, async () => {
      const cause = "`curl -d` has";
      expect(await readHere(file).catch(String)).toContain(cause);
      const sent = await post(file, { type: "application/octet-stream", query: "?reading=%7B%7D" });
      expect([sent.status, await sent.json()]).toEqual([400, { error: 40008, message: expect.stringContaining(cause) }]);
      const path = join(folder, "joined.txt");
      writeFileSync(path, file);
      const done = await runInside(["import", path], { PLANT_STORE_URL: service.url, PLANT_STORE_TOKEN: service.token });
      expect([done.status, done.stderr]).toEqual([1, expect.stringContaining(cause)]);
    });
});
