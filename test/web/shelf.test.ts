import { describe, expect, it } from "bun:test";
import { createClient } from "../../src/client/client.ts";
import { readSlices } from "../../web/import/slices.ts";
import { startTestService } from "../support/service.ts";
import { TABLES } from "../support/shelf/tables.ts";
import { FORMS } from "../support/tables/forms.ts";
import { HEADED } from "../support/tables/headed.ts";
import { NAMED } from "../support/tables/named.ts";
import { PACKED } from "../support/tables/packed.ts";
import { PUBLIC_LISTS } from "../support/tables/public-lists.ts";
import { check, preview, send } from "../support/web/page-import.ts";

describe("the page's import of a table as people have it says before what becomes of every row, and so it is:", () => {
  for (const { what, name, make, created, unchanged = 0, refused = [], names, unused = [], encoding, ...more } of TABLES)
    it(what, async () => {
      const { isAsked, hasNoHeader, hasNoIds } = more;
      const service = await startTestService();
      const client = createClient({ url: service.url, token: service.token });
      const guessed = await check(make(), name);
      expect(guessed.likely[0]?.encoding).toBe(isAsked ? encoding : undefined);
      const checked = isAsked ? await check(make(), name, { encoding: encoding! }) : guessed;
      expect(checked.findings.unusedColumns).toEqual([...unused]);
      expect(checked.findings.encoding).toBe(encoding);
      if (hasNoHeader) expect(checked.findings.reading).toMatchObject({ heading: 0 });
      if (hasNoIds) expect(checked.findings.reading).toMatchObject({ id: "", ids: { kind: "content" } });
      const { counts } = await preview(checked, client);
      expect(counts).toEqual({ created, unchanged, replaced: 0, refused: refused.length });
      const sent = await send(checked, client);
      expect(sent.counts).toEqual({ read: created + unchanged + refused.length, ...counts });
      expect(sent.problems.map(({ line }) => line)).toEqual([...refused]);
      const exported = await (await service.request("/plants/export")).text();
      for (const one of names) expect(exported).toContain(`"name":${JSON.stringify(one)}`);
      await service.stop();
    });
});

describe("the page reads a table as its owner sees it:", () => {
  for (const { what, file, plants, refused = [] } of [...FORMS, ...HEADED, ...NAMED, ...PUBLIC_LISTS, ...PACKED])
    it(what, async () => {
      const checked = await check(file, "list.txt");
      const rows = (await Array.fromAsync(readSlices(checked))).flatMap((slice) => slice.rows);
      const read = rows.flatMap((row) =>
        "plant" in row ? [`${row.isIdMade ? "*" : row.plant.id}|${row.plant.name}|${row.plant.tag ?? ""}`] : [],
      );
      expect(read).toEqual([...plants]);
      expect(checked.problems.map(({ line }) => line)).toEqual([...refused]);
      expect([checked.lines.length, checked.refused]).toEqual([plants.length + refused.length, refused.length]);
    });
});
