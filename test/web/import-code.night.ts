import { cpSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "bun:test";
import type { Page, Route } from "playwright-core";
import { buildWeb } from "../../web/build.ts";
import { startBrowser } from "../support/browser.ts";
import { startTestService } from "../support/service.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { usePlace } from "../support/web/place.ts";
import { Visit } from "../support/web/visit.ts";
import { until } from "../support/until.ts";

const place = usePlace();

const CODE = /\/assets\/import-dialog-\w+\.js/;

/** The files of code that the page asks for from now on. */
function watchCode(page: Page): string[] {
  const asked: string[] = [];
  page.on("request", (request) => void (CODE.test(request.url()) && asked.push(request.url())));
  return asked;
}

const FILE = ["dropped.csv", "id;name\n1;Dropped\n"] as const;

describe("the code of the import", () => {
  it("is asked for as soon as a file is over the page, if its token may import", async () => {
    await place.plant(["1,Acer,tree"]);
    const { token: reader } = await place.makeToken(["plants:read"]);
    for (const { token, count } of [
      { token: reader, count: 0 },
      { token: place.service.token, count: 1 },
    ]) {
      const { page, signIn, sees, dialog, drop, settle } = await place.visit();
      const asked = watchCode(page);
      await signIn(token);
      await sees(["Acer"]);
      for (let times = 0; times < 5; times += 1) await drop(...FILE, { kind: "dragover" });
      await until("the code is there", () => asked.length === count);
      await settle();
      expect([asked.length, await dialog.count()]).toEqual([count, 0]);
    }
  });

  for (const { how, failing, status, says } of [
    { how: "fails", failing: CODE, status: 503, says: "The import could not be loaded: try again." },
    {
      how: "cannot be reached",
      failing: /\/(assets\/.*|livez)$/,
      status: undefined,
      says: "The service cannot be reached, so the import cannot be loaded: check the connection, then try again.",
    },
  ])
    it(`says so if it ${how}, and is loaded when asked again, with the file that was dropped`, async () => {
      place.expectStatus(0, 503);
      const { page, reads, click, drop, fail, steps } = await place.open(["2,Acer,tree"]);
      const asked = watchCode(page);
      const restore = await fail(failing, status);
      await drop(...FILE);
      await reads(says);
      await click("Try again");
      await reads(says);
      await restore();
      const before = asked.length;
      await steps("click Try again > reads is CSV with 1 plant. Nothing is stored yet.");
      expect(asked.length).toBe(before + 1);
      await steps("click Import 1 plant > reads 1 plant added. > click Done > sees Dropped, Acer");
    });

  it("can be waited for, or left alone", async () => {
    const { page, reads, steps } = await place.open();
    const held: Route[] = [];
    await page.route(CODE, (route) => void held.push(route));
    await steps("click Import a file > reads Loading… > press Escape > leaves > click Import > reads Loading…");
    for (const route of held) await route.continue();
    await reads("Or paste the rows");
  });
});

it("a page that is older than its service says that it must be loaded again to import, and has what was pasted after that", async () => {
  const [data, former, next] = [temporaryFolder(), join(temporaryFolder(), "web"), join(temporaryFolder(), "web")];
  await buildWeb(former);
  rename(former, next);
  let service = await startTestService({ data }, { web: former });
  const browser = await startBrowser();
  const { page, signIn, steps } = new Visit(await browser.newPage(), service.token);
  const lost: Error[] = [];
  page.on("pageerror", (error) => lost.push(error));
  page.on("dialog", (asked) => void asked.accept());
  await page.goto(service.url);
  await signIn();
  await steps("click Import a file > enter Or paste the rows = id,name\n3,Quercus\n > press Escape");
  // The dialog closes at once, and the step back in the history comes later: a reload before it would open the dialog again.
  await page.waitForURL(({ hash }) => hash === "");
  await steps("reload > offers Account");
  // Else it has the code of the version before.
  await (await page.context().newCDPSession(page)).send("Network.clearBrowserCache");

  const { port } = new URL(service.url);
  await service.stop();
  service = await startTestService({ data, port }, { web: next });
  await steps("click Import a file > reads The service was updated, and this page is of the version before: reload it to import.");
  await steps("click Try again > reads The service was updated, and this page is of the version before: reload it to import.");
  await steps("click Reload the page > holds Or paste the rows = id,name\n3,Quercus\n > click Preview the rows > click Import 1 plant");
  await steps("reads 1 plant added.");
  expect(lost).toEqual([]);
  await browser.close();
  await service.stop();
});

/** Copies a build with other names for its code, as a build of other code has them. */
function rename(from: string, to: string): void {
  cpSync(from, to, { recursive: true });
  const assets = join(to, "assets");
  for (const name of readdirSync(assets)) if (/\.(br|gz)$/.test(name)) rmSync(join(assets, name));
  const names = readdirSync(assets).filter((name) => name.endsWith(".js"));
  for (const name of ["index.html", ...readdirSync(assets).map((asset) => `assets/${asset}`)]) {
    let text = readFileSync(join(to, name), "utf8");
    for (const old of names) text = text.replaceAll(old, renamed(old));
    writeFileSync(join(to, name), text);
  }
  for (const name of ["index.html.br", "index.html.gz"]) rmSync(join(to, name));
  for (const name of names) renameSync(join(assets, name), join(assets, renamed(name)));
}

function renamed(name: string): string {
  // Several may differ by this alone.
  return name.replace(/-(\w+)\.js$/, (_, hash: string) => `-${hash.split("").toReversed().join("")}.js`);
}
