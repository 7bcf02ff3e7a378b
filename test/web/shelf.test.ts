import { describe, expect, it } from "bun:test";
import { createClient } from "../../src/client/client.ts";
import { readAsChosen } from "../../web/import/choices.ts";
import { previewImport } from "../../web/import/preview.ts";
import type { Preview } from "../../web/import/preview.ts";
import { guessFile } from "../../web/import/guess.ts";
import { openFile } from "../../web/import/open-file.ts";
import { NOTHING_SENT, sendFile } from "../../web/import/send-file.ts";
import type { SentSoFar } from "../../web/import/send-file.ts";
import { startTestService } from "../support/service.ts";
import { TABLES } from "../support/shelf/tables.ts";

describe("the page's import of a table as people have it says before what becomes of every row, and so it is:", () => {
  for (const { what, name, make, created, unchanged = 0, refused = [], names, unused = [], encoding, hasNoHeader, hasNoIds } of TABLES)
    it(what, async () => {
      const service = await startTestService();
      const client = createClient({ url: service.url, token: service.token });
      const options = { client, signal: new AbortController().signal, onConflict: "refuse" } as const;
      const { file, notes, ...opened } = await openFile(new File([make()], name));
      const guessed = await guessFile(file, { ...options, ...opened });
      // Only a number in the first line shows that it is a plant.
      const asked = hasNoHeader && hasNoIds ? { columns: {}, hasHeader: false } : undefined;
      const checked = asked ? (await readAsChosen(guessed, asked, options)).checked : guessed;
      expect(checked.unusedColumns).toEqual([...unused]);
      const ofText = checked.csv.encoding === "windows-1252" ? [`read as ${checked.csv.encoding}`] : [];
      expect(/read as ([\w-]+)/.exec([...notes, ...ofText].join("\n"))?.[1]?.toLowerCase()).toBe(encoding);
      let preview: Preview | undefined;
      await previewImport(checked, { ...options, onPreview: (next) => (preview = next) });
      expect(preview!.counts).toEqual({ created, unchanged, replaced: 0, refused: refused.length });
      let sent: SentSoFar = NOTHING_SENT;
      await sendFile(checked, sent, { ...options, onProgress: (next) => (sent = next) });
      expect(sent.counts).toEqual({ read: created + unchanged + refused.length, ...preview!.counts });
      expect(sent.problems.map(({ line }) => line)).toEqual([...refused]);
      const exported = await (await service.request("/plants/export")).text();
      for (const one of names) expect(exported).toContain(`"name":${JSON.stringify(one)}`);
      await service.stop();
    });
});
