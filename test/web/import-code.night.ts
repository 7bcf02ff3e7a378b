import { cpSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "bun:test";
import type { Page, Route } from "playwright-core";
import { buildWeb } from "../../web/build.ts";
import { startBrowser } from "../support/browser.ts";
import { startTestService } from "../support/service.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { usePlace } from "../support/web/place.ts";
import { toVisit } from "../support/web/visit.ts";

const place = usePlace();

const CODE = /\/assets\/import-dialog-\w+\.js/;

/** The files of code that the page asks for from now on. */
function watchCode(page: Page): string[] {
  const asked: string[] = [];
  page.on("request", (request) => void (CODE.test(request.url()) && asked.push(request.url())));
  return asked;
}

/** A file over the page: dragged, or dropped. */
async function drag(page: Page, kind: "dragover" | "drop"): Promise<void> {
  await page.evaluate(`{
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File(["id;name\\n1;Dropped\\n"], "dropped.csv"));
    document.body.dispatchEvent(new DragEvent("${kind}", { dataTransfer, bubbles: true, cancelable: true }));
  }`);
}

describe("the code of the import", () => {
  it("is asked for as soon as a file is over the page, if its token may import", async () => {
    await place.plant(["1,Acer,tree"]);
    const { token } = await place.makeToken(["plants:read"]);
    for (const [who, count] of [
      [token, 0],
      [place.service.token, 1],
    ] as const) {
      const { page, signIn, sees, dialog } = await place.visit();
      const asked = watchCode(page);
      await signIn(who);
      await sees(["Acer"]);
      for (let times = 0; times < 5; times += 1) await drag(page, "dragover");
      await page.waitForLoadState("networkidle");
      expect([asked.length, await dialog.count()]).toEqual([count, 0]);
    }
  });

  for (const [how, says] of [
    ["fails", "The import could not be loaded: try again."],
    ["cannot be reached", "The service cannot be reached, so the import cannot be loaded: check the connection, then try again."],
  ] as const) {
    it(`says so if it ${how}, and is loaded when asked again, with the file that was dropped`, async () => {
      place.expectStatus(0, 503);
      await place.plant(["2,Acer,tree"]);
      const { page, signIn, sees, reads, button } = await place.visit();
      const asked = watchCode(page);
      await signIn();
      await sees(["Acer"]);
      const fail = (route: Route) => (how === "fails" ? route.fulfill({ status: 503 }) : route.abort("connectionrefused"));
      const failing = how === "fails" ? CODE : /\/(assets\/.*|livez)$/;
      await page.route(failing, fail);
      await drag(page, "drop");
      await reads(says);
      await button("Try again").click();
      await reads(says);
      await page.unroute(failing);
      const before = asked.length;
      await button("Try again").click();
      await reads("is CSV with 1 plant. Nothing is stored yet.");
      expect(asked.length).toBe(before + 1);
      await button("Import 1 plant").click();
      await reads("1 plant added.");
      await button("Done").click();
      await sees(["Dropped", "Acer"]);
    });
  }

  it("can be waited for, or left alone", async () => {
    const { page, signIn, reads, button, dialog } = await place.visit();
    await signIn();
    const held: Route[] = [];
    await page.route(CODE, (route) => void held.push(route));
    await button("Import a file").click();
    await reads("Loading…");
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    await button("Import").click();
    await reads("Loading…");
    for (const route of held) await route.continue();
    await reads("Or paste the rows");
  });
});

describe("a page that is older than its service", () => {
  const [data, former, next] = [temporaryFolder(), join(temporaryFolder(), "web"), join(temporaryFolder(), "web")];
  const browser = startBrowser();
  afterAll(async () => (await browser).close());

  it("says that it must be loaded again to import, and has what was pasted after that", async () => {
    await buildWeb(former);
    rename(former, next);
    let service = await startTestService({ data }, { web: former });
    const page = await (await browser).newPage();
    const { signIn, button, field, reads } = toVisit(page, service.token);
    const lost: Error[] = [];
    page.on("pageerror", (error) => lost.push(error));
    page.on("dialog", (asked) => void asked.accept());
    await page.goto(service.url);
    await signIn();
    await button("Import a file").click();
    await field("Or paste the rows").fill("id,name\n3,Quercus\n");
    await page.keyboard.press("Escape");
    // The dialog closes at once, and the step back in the history comes later: a reload before it would open the dialog again.
    await page.waitForURL(({ hash }) => hash === "");
    await page.reload();
    await button("Settings").waitFor();
    // Else it has the code of the version before.
    await (await page.context().newCDPSession(page)).send("Network.clearBrowserCache");

    const { port } = new URL(service.url);
    await service.stop();
    service = await startTestService({ data, port }, { web: next });
    await button("Import a file").click();
    await reads("The service was updated, and this page is of the version before: reload it to import.");
    await button("Try again").click();
    await reads("The service was updated, and this page is of the version before: reload it to import.");
    await button("Reload the page").click();
    expect(await field("Or paste the rows").inputValue()).toBe("id,name\n3,Quercus\n");
    await button("Preview the rows").click();
    await button("Import 1 plant").click();
    await reads("1 plant added.");
    expect(lost).toEqual([]);
    await service.stop();
  });
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
  return name.replace(/-\w+\.js$/, "-next.js");
}
