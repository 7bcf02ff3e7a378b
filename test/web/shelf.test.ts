import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "bun:test";
import { TABLES } from "../support/shelf/tables.ts";
import type { Table } from "../support/shelf/tables.ts";
import { tell } from "../support/run-form.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { usePlace } from "../support/web/place.ts";

const place = usePlace();

/** Patience with a table, and with each row of a large one. */
const WAIT_MS = 30_000;
const ROW_MS = 2;

/** What the page says, before and after, of a table that is imported for the first time. */
function wordsOf({ created, unchanged = 0, refused = [] }: Table): { before: string; after: string } {
  const of = (count: number, what: string) => (count === 0 ? [] : [`${count.toLocaleString("en")} ${what}`]);
  const others = [...of(unchanged, "already there"), ...of(refused.length, "refused")];
  const added = `${created.toLocaleString("en")} plant${created === 1 ? "" : "s"} added`;
  return { before: [...of(created, "new"), ...others].join(", "), after: [added, ...others].join(", ") };
}

describe("the page", () => {
  for (const table of TABLES) {
    it(`imports ${table.what}: it says before what becomes of every row, and so it is`, async () => {
      const { page, signIn, button, field, reads } = await place.visit();
      page.setDefaultTimeout(WAIT_MS + table.created * ROW_MS);
      await signIn();
      await button("Import a file").click();
      const file = join(temporaryFolder(), table.name);
      writeFileSync(file, table.make());
      const began = performance.now();
      await field("File to import").setInputFiles(file);
      // Only a number in the first line shows that it is a plant.
      if (table.hasNoHeader && table.hasNoIds) await field("The first line names the columns.").click();
      const { before, after } = wordsOf(table);
      await reads(`If you import now: ${before}.`);
      const asked = performance.now();
      if ((table.unused ?? []).length > 0) await reads(new RegExp(`${table.unused![0]}.* not imported`));
      if (table.encoding === "windows-1252") await reads(/read as Windows-1252/);
      await button(/^Import [\d,]+ plants?$/).click();
      await reads(`${after}.`);
      if (table.created > 1_000)
        tell(table.what, `${seconds(asked - began)} s to the preview, ${seconds(performance.now() - asked)} s to import`);
      const exported = await (await place.service.request("/plants/export")).text();
      for (const name of table.names) expect(exported).toContain(`"name":${JSON.stringify(name)}`);
      expect(exported.trimEnd().split("\n")).toHaveLength(table.created);
    });
  }
});

function seconds(ms: number): string {
  return (ms / 1000).toFixed(1);
}
