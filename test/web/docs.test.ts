import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "bun:test";
import type { Page } from "playwright-core";
import { loadContract } from "../../src/domain/contract.ts";
import { needs } from "../support/program.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { usePlace } from "../support/web/place.ts";

const { operations, served } = loadContract();
const { info, paths } = JSON.parse(served) as {
  info: { version: string };
  paths: Record<string, Record<string, { responses: object }>>;
};
const LARGEST = "9223372036854775807";

const place = usePlace();

/** Opens the reference, with a token if there is one. */
async function open(token?: string): Promise<Page> {
  const { page } = await place.visit("/docs");
  await page.locator("#createPlant").waitFor();
  if (token !== undefined) await page.locator("#token").fill(token);
  return page;
}

/** Opens the form of an operation. */
async function tryIt(page: Page, operation: string) {
  const section = page.locator(`#${operation}`);
  await section.getByText("Try it", { exact: true }).click();
  const form = section.locator("form");
  return {
    form,
    async send(): Promise<{ status: string; body: string }> {
      await form.getByRole("button", { name: "Send" }).click();
      await form.locator('[role="status"] strong').waitFor();
      const body = form.locator('[role="status"] ~ pre');
      return {
        status: await form.locator('[role="status"]').innerText(),
        body: (await body.count()) === 0 ? "" : await body.innerText(),
      };
    },
  };
}

describe("the reference at /docs", () => {
  it("has every operation of the contract with its scope and responses, one version, whole links, and opens at one", async () => {
    const page = await open();
    for (const { id, method, path, scope } of operations) {
      const section = page.locator(`#${id}`);
      expect(await section.locator("h3").innerText()).toContain(`${method} ${path}`);
      const wanted = scope === undefined ? "needs no token" : scope === "any" ? "any valid token" : `scope ${scope}`;
      expect(await section.locator(".docs-scope").innerText()).toBe(wanted);
      const statuses = Object.keys(paths[path]![method.toLowerCase()]!.responses);
      expect(await section.locator("details > summary > strong").allInnerTexts()).toEqual(statuses);
      expect(await page.locator(`nav a[href="#${id}"]`).count()).toBe(1);
    }
    expect(await page.locator("h1").innerText()).toContain(info.version);
    expect(await page.locator("#createPlant").textContent()).toContain('"id": -9223372036854775808');
    const targets = await page.evaluate<string[]>(
      `[...document.querySelectorAll('a[href^="#"]')].map((link) => link.getAttribute("href").slice(1))`,
    );
    const ids = await page.evaluate<string[]>(`[...document.querySelectorAll("[id]")].map(({ id }) => id)`);
    expect(targets.filter((target) => !ids.includes(target))).toEqual([]);
    expect(new Set(ids).size).toBe(ids.length);
    // The base is frozen, and has an address and a version of its own.
    const text = (await page.evaluate<string>("document.body.textContent")).replaceAll(
      /\/openapi\/1\.0\.0\.json|The base interface, 1\.0\.0|RFC \d+, [\d.]+/g,
      "",
    );
    const named = text.match(/(?<![\d.])\d+\.\d+\.\d+(?![\d.])/g)!.filter((found) => !text.includes(`openapi": "${found}`));
    expect(new Set(named)).toEqual(new Set([info.version]));
    await page.goto("about:blank");
    await page.goto(`${place.service.url}/docs#revokeToken`);
    await page.locator("#revokeToken").waitFor();
    expect(await page.evaluate('Math.abs(document.querySelector("#revokeToken").getBoundingClientRect().top) < innerHeight')).toBe(true);
  });

  it("creates, reads and lists the plant with the largest id exactly, and shows the service's message for every refusal", async () => {
    place.expectStatus(401, 409);
    const page = await open();
    const get = await tryIt(page, "getPlant");
    expect(await get.form.innerText()).toContain("Without a token the response is 401");
    const refused = await get.send();
    const message = expect.stringContaining("Authorization: Bearer");
    expect([refused.status, JSON.parse(refused.body)]).toEqual(["401", { error: 40100, message }]);
    await page.locator("#token").fill(place.service.token);
    const create = await tryIt(page, "createPlant");
    const body = create.form.getByLabel("body", { exact: true });
    await body.fill(`{"id": ${LARGEST}, "name": "Ginkgo biloba", "tag": "tree"}`);
    expect(await create.send()).toEqual({ status: "200", body: '{\n  "name": "Ginkgo biloba",\n  "tag": "tree"\n}' });
    await get.form.getByLabel("id path, required").fill(LARGEST);
    expect(await get.send()).toEqual({ status: "200", body: `{\n  "id": ${LARGEST},\n  "name": "Ginkgo biloba",\n  "tag": "tree"\n}` });
    const list = await tryIt(page, "listPlants");
    await list.form.getByLabel("tag query").fill("tree");
    await list.form.getByLabel("after query").fill("9223372036854775806");
    expect((await list.send()).body).toContain(`"id": ${LARGEST},`);
    await body.fill(`{"id": ${LARGEST}, "name": "Acer"}`);
    expect((await create.send()).status).toBe("409");
    expect(await place.exported()).toBe(`{"id":${LARGEST},"name":"Ginkgo biloba","tag":"tree"}\n`);
  });

  needs("curl").it("shows an example as a command for the shell, without the token, which does what the form does", async () => {
    const page = await open(place.service.token);
    const { form, send } = await tryIt(page, "createPlant");
    await form.getByLabel("An example for the body").selectOption("application/json: untagged");
    await form.getByText("As a command with curl").click();
    const line = await form.locator("pre").first().innerText();
    expect(line).toContain('"id": -9223372036854775808');
    expect(line).not.toContain(place.service.token);
    expect((await send()).status).toBe("200");
    const sent = await place.exported();
    await place.remove(-(2n ** 63n));
    // Not synchronous, because the service is in this process.
    const env = { ...process.env, TOKEN: place.service.token };
    const { stdout } = Bun.spawn(["sh", "-c", `${line} --silent --output /dev/null --write-out '%{http_code}'`], {
      env,
      stderr: "inherit",
    });
    expect([await new Response(stdout).text(), await place.exported()]).toEqual(["200", sent]);
  });

  needs("curl").it(
    "begins with a command that lists plants when it is pasted, with the first token, or with one's own if asked to",
    async () => {
      await place.plant(["1,Acer,tree"]);
      const page = await open();
      const command = page.locator("header pre");
      const cwd = temporaryFolder();
      mkdirSync(join(cwd, "data"));
      async function paste(line: string): Promise<unknown> {
        return JSON.parse(await new Response(Bun.spawn(["sh", "-c", line], { cwd, stderr: "ignore" }).stdout).text());
      }
      writeFileSync(join(cwd, "data/first-token"), `${place.service.token}\n`);
      const listed = [{ id: 1, name: "Acer", tag: "tree" }];
      expect(await paste(await command.innerText())).toEqual(listed);
      rmSync(join(cwd, "data"), { recursive: true });
      await page.locator("#token").fill(place.service.token);
      expect(await command.innerText()).not.toContain(place.service.token);
      await page.getByRole("button", { name: "Put my token in" }).click();
      expect(await paste(await command.innerText())).toEqual(listed);
    },
  );

  it("imports a file, makes and revokes a token, and shows the beginning of a response that is too long", async () => {
    await place.plant(Array.from({ length: 8000 }, (_, at) => `${at + 10},A plant with a name of some length,`));
    const page = await open(place.service.token);
    expect(JSON.parse((await (await tryIt(page, "importPlants")).send()).body)).toMatchObject({ read: 2, refused: 0 });
    const made = JSON.parse((await (await tryIt(page, "createToken")).send()).body) as { id: string; token: string };
    expect((await place.service.request("/plants", { headers: { authorization: `Bearer ${made.token}` } })).status).toBe(200);
    const revoke = await tryIt(page, "revokeToken");
    await revoke.form.getByLabel("id path, required").fill(made.id);
    expect(await revoke.send()).toEqual({ status: "204", body: "" });
    const { form, send } = await tryIt(page, "exportPlants");
    const { status, body } = await send();
    expect([status, body.length <= 200_000]).toEqual(["200", true]);
    expect(await form.innerText()).toContain("There is more");
  });

  it("keeps the token for the tab, nothing of a password, sends neither to public paths, and shares the sign-in of the catalogue", async () => {
    place.expectStatus(401);
    const page = await open();
    const inTab = () => page.evaluate("[sessionStorage.length, localStorage.length, document.cookie]");
    for (const word of ["hunter2", "correct-horse-battery-staple-correct-horse-battery", ""]) await page.locator("#token").fill(word);
    expect(await inTab()).toEqual([0, 0, ""]);
    await page.locator("#token").fill(place.service.token);
    const live = await tryIt(page, "getLiveness");
    const [sent] = await Promise.all([page.waitForRequest(/livez/), live.send()]);
    expect(await sent.headerValue("authorization")).toBeNull();
    await page.reload();
    const session = await tryIt(page, "getSession");
    const [again] = await Promise.all([page.waitForRequest(/session/), session.send()]);
    expect(await again.headerValue("authorization")).toBe(`Bearer ${place.service.token}`);
    expect([page.url(), await inTab()]).toEqual([`${place.service.url}/docs`, [1, 0, ""]]);
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.locator("#token").waitFor();

    const catalogue = await place.visit();
    await catalogue.page.getByLabel("Stay signed in on this device").check();
    await catalogue.signIn();
    const { page: other } = await catalogue.openTab("/docs");
    await other.getByText("Signed in: “Try it” sends your token").waitFor();
    const shared = await tryIt(other, "getSession");
    expect((await shared.send()).status).toBe("200");
    await catalogue.choose("Sign out");
    await other.locator("#token").waitFor();
    expect([await other.locator("#token").inputValue(), (await shared.send()).status]).toEqual(["", "401"]);
  });
});
