import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "bun:test";
import type { Browser, Page } from "playwright-core";
import { loadContract } from "../../src/domain/contract.ts";
import { startBrowser } from "../support/browser.ts";
import { needs } from "../support/program.ts";
import { startTestService } from "../support/service.ts";
import type { TestService } from "../support/service.ts";
import { builtPage } from "../support/web/built-page.ts";

const { operations, served } = loadContract();
const LARGEST = "9223372036854775807";

let service: TestService;
let browser: Browser;
let page: Page;
/** Where the page sent requests, and the unexpected messages on the console. */
const requested: string[] = [];
const complaints: string[] = [];

beforeAll(async () => {
  const web = await builtPage();
  service = await startTestService({}, { web });
  browser = await startBrowser();
});
afterAll(async () => {
  await browser.close();
  await service.stop();
});

beforeEach(async () => {
  requested.length = 0;
  complaints.length = 0;
  page = await browser.newPage();
  page.on("request", (request) => requested.push(new URL(request.url()).origin));
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("console", (message) => {
    // Some of these tests ask for a status of 400 or more.
    if (["error", "warning"].includes(message.type()) && !message.text().startsWith("Failed to load resource"))
      complaints.push(message.text());
  });
  page.on("requestfailed", (request) => {
    const reason = request.failure()?.errorText;
    // Chromium sometimes says this of a response that the page has read to its end.
    if (reason !== "net::ERR_ABORTED") complaints.push(`${request.url()} ${reason}`);
  });
  await page.goto(`${service.url}/docs`);
  await page.locator("#createPlant").waitFor();
});

/** Whatever was done on the page, it sent requests only to its own service, and nothing broke. */
async function expectQuiet(): Promise<void> {
  await page.close();
  expect(complaints).toEqual([]);
  expect(new Set(requested.filter((origin) => origin !== "null"))).toEqual(new Set([service.url]));
}

/** The value of an expression in the page. As text, because the types of a browser are not those of our runtime. */
function inPage<Value>(expression: string): Promise<Value> {
  return page.evaluate(expression);
}

/** Opens the form of an operation. */
async function tryIt(operation: string) {
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

/** The output of a line in a shell that has the token. Not synchronous, because the service is in this process. */
function run(line: string): Promise<string> {
  const { stdout } = Bun.spawn(["sh", "-c", line], { env: { ...process.env, TOKEN: service.token }, stderr: "inherit" });
  return new Response(stdout).text();
}

async function signIn(): Promise<void> {
  await page.locator("#token").fill(service.token);
}

describe("the reference at /docs", () => {
  it("has every operation of the served contract, with its scope and all its responses", async () => {
    for (const { id, method, path, scope } of operations) {
      const section = page.locator(`#${id}`);
      expect(await section.locator("h3").innerText()).toContain(`${method} ${path}`);
      const wanted = scope === undefined ? "needs no token" : scope === "any" ? "any valid token" : `scope ${scope}`;
      expect(await section.locator(".docs-scope").innerText()).toBe(wanted);
      const { paths } = JSON.parse(served) as { paths: Record<string, Record<string, { responses: object }>> };
      const statuses = Object.keys(paths[path]![method.toLowerCase()]!.responses);
      expect(await section.locator("details > summary > strong").allInnerTexts()).toEqual(statuses);
      expect(await page.locator(`nav a[href="#${id}"]`).count()).toBe(1);
    }
    expect(await page.locator("h1").innerText()).toContain((JSON.parse(served) as { info: { version: string } }).info.version);
    await expectQuiet();
  });

  it("has no broken link to itself, and no id twice", async () => {
    const targets = await inPage<string[]>(
      `[...document.querySelectorAll('a[href^="#"]')].map((link) => link.getAttribute("href").slice(1))`,
    );
    const ids = await inPage<string[]>(`[...document.querySelectorAll("[id]")].map(({ id }) => id)`);
    expect(targets.filter((target) => !ids.includes(target))).toEqual([]);
    expect(new Set(ids).size).toBe(ids.length);
    await expectQuiet();
  });

  it("leaves translators its prose, and nothing that is to be sent or was answered", async () => {
    await tryIt("listPlants");
    await page.locator("#listPlants .docs-attempt pre").waitFor({ state: "attached" });
    const translated = `({ translate, textContent }) => translate && textContent.trim() !== ""`;
    expect(await inPage(`[...document.querySelectorAll("code, pre, form, nav a")].filter(${translated}).length`)).toBe(0);
    expect(await inPage(`[...document.querySelectorAll("h2, .docs-summary, dd")].every(({ translate }) => translate)`)).toBe(true);
    await expectQuiet();
  });

  it("shows the ids in its examples with every digit", async () => {
    expect(await page.locator("#createPlant").textContent()).toContain('"id": -9223372036854775808');
    await expectQuiet();
  });

  it("creates a plant with the largest id, and shows it exactly, also in a list and after a refused change", async () => {
    await signIn();
    const create = await tryIt("createPlant");
    await create.form.getByLabel("body", { exact: true }).fill(`{"id": ${LARGEST}, "name": "Ginkgo biloba", "tag": "tree"}`);
    expect(await create.send()).toEqual({ status: "200", body: '{\n  "name": "Ginkgo biloba",\n  "tag": "tree"\n}' });

    const get = await tryIt("getPlant");
    await get.form.getByLabel("id path, required").fill(LARGEST);
    expect(await get.send()).toEqual({ status: "200", body: `{\n  "id": ${LARGEST},\n  "name": "Ginkgo biloba",\n  "tag": "tree"\n}` });

    const list = await tryIt("listPlants");
    await list.form.getByLabel("q query").fill("gink");
    await list.form.getByLabel("tag query").fill("tree");
    await list.form.getByLabel("after query").fill("9223372036854775806");
    expect((await list.send()).body).toContain(`"id": ${LARGEST},`);

    await create.form.getByLabel("body", { exact: true }).fill(`{"id": ${LARGEST}, "name": "Acer"}`);
    expect((await create.send()).status).toBe("409");
    expect(await (await service.request(`/plants/${LARGEST}`)).text()).toBe(`{"id":${LARGEST},"name":"Ginkgo biloba","tag":"tree"}`);
    await expectQuiet();
  });

  const SMALLEST = "/plants/-9223372036854775808";

  /** Opens the form that creates the plant with the smallest id, and returns the shell command that it shows. */
  async function openSmallest() {
    await signIn();
    const { form, send } = await tryIt("createPlant");
    await form.getByLabel("An example for the body").selectOption("application/json: untagged");
    await form.getByText("As a command with curl").click();
    const line = await form.locator("pre").first().innerText();
    return { line, send };
  }

  it("sends an example with the smallest id unchanged, and shows it as a shell command without the token", async () => {
    const { line, send } = await openSmallest();
    expect(line).toContain('"id": -9223372036854775808');
    expect(line).not.toContain(service.token);
    expect((await send()).status).toBe("200");
    expect(await (await service.request(SMALLEST)).json()).toMatchObject({ name: "Ginkgo biloba" });
    await expectQuiet();
  });

  needs("curl").it("shows a shell command that does what the form does", async () => {
    const { line } = await openSmallest();
    await service.request(SMALLEST, { method: "DELETE" });
    expect(await run(`${line} --silent --output /dev/null --write-out '%{http_code}'`)).toBe("200");
    expect(await (await service.request(SMALLEST)).json()).toMatchObject({ name: "Ginkgo biloba" });
    await expectQuiet();
  });

  it("says what is missing without a token, and shows the service's message for every refusal", async () => {
    const { form, send } = await tryIt("getPlant");
    expect(await form.innerText()).toContain("Without a token the response is 401");
    const { status, body } = await send();
    expect([status, JSON.parse(body)]).toEqual(["401", { error: 40100, message: expect.stringContaining("Authorization: Bearer") }]);
    await expectQuiet();
  });

  it("imports a file, creates and revokes a token, and shows responses without a body", async () => {
    await signIn();
    const { send } = await tryIt("importPlants");
    expect(JSON.parse((await send()).body)).toMatchObject({ read: 2, refused: 0 });
    const create = await tryIt("createToken");
    const made = JSON.parse((await create.send()).body) as { id: string; token: string };
    expect((await service.request("/plants", { headers: { authorization: `Bearer ${made.token}` } })).status).toBe(200);
    const revoke = await tryIt("revokeToken");
    await revoke.form.getByLabel("id path, required").fill(made.id);
    expect(await revoke.send()).toEqual({ status: "204", body: "" });
    await expectQuiet();
  });

  it("shows the beginning of a response that is too long, and says so", async () => {
    const plants = Array.from({ length: 8000 }, (_, at) => `{"id":${at + 10},"name":"A plant with a name of some length"}`).join("\n");
    await service.request("/plants/import", { method: "POST", body: plants, headers: { "content-type": "application/x-ndjson" } });
    await signIn();
    const { form, send } = await tryIt("exportPlants");
    const { status, body } = await send();
    expect([status, body.length <= 200_000]).toEqual(["200", true]);
    expect(await form.innerText()).toContain("There is more");
    await expectQuiet();
  });

  it("keeps the token for the tab, not in the URL, and does not send it to public paths", async () => {
    await signIn();
    const { send } = await tryIt("getLiveness");
    const [sent] = await Promise.all([page.waitForRequest(/livez/), send()]);
    expect(await sent.headerValue("authorization")).toBeNull();
    expect(page.url()).toBe(`${service.url}/docs`);
    await page.reload();
    await page.locator("#createPlant").waitFor();
    const [again] = await Promise.all([page.waitForRequest(/session/), (await tryIt("getSession")).send()]);
    expect(await again.headerValue("authorization")).toBe(`Bearer ${service.token}`);
    expect(await inPage("[localStorage.length, document.cookie]")).toEqual([0, ""]);
    const other = await browser.newPage();
    await other.goto(`${service.url}/docs`);
    expect(await other.locator("#token").inputValue()).toBe("");
    await other.close();
    await expectQuiet();
  });

  it("has the sign-in of the catalogue, also of another tab, and loses it when that one signs out", async () => {
    const context = await browser.newContext();
    const catalogue = await context.newPage();
    await catalogue.goto(service.url);
    await catalogue.getByLabel("Token").fill(service.token);
    await catalogue.getByLabel("Stay signed in on this device").check();
    await catalogue.getByRole("button", { name: "Sign in" }).click();
    await catalogue.getByRole("button", { name: "Settings" }).waitFor();
    page = await context.newPage();
    await page.goto(`${service.url}/docs`);
    await page.getByText("Signed in: “Try it” sends your token").waitFor();
    const { send } = await tryIt("getSession");
    expect((await send()).status).toBe("200");
    await catalogue.getByRole("button", { name: "Settings" }).click();
    await catalogue.getByRole("button", { name: "Sign out" }).click();
    await page.locator("#token").waitFor();
    expect([await page.locator("#token").inputValue(), (await send()).status]).toEqual(["", "401"]);
    expect(await inPage("localStorage.length + sessionStorage.length")).toBe(0);
    await context.close();
  });

  it("signs the catalogue out too", async () => {
    await signIn();
    await page.reload();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.locator("#token").waitFor();
    await page.goto(service.url);
    await page.getByRole("button", { name: "Sign in" }).waitFor();
    await expectQuiet();
  });

  it("names one version of the interface, but for the address of the base, which is frozen", async () => {
    const { version } = (JSON.parse(served) as { info: { version: string } }).info;
    const text = await inPage<string>("document.body.textContent");
    const rest = text.replaceAll(/\/openapi\/1\.0\.0\.json|The base interface, 1\.0\.0|RFC \d+, [\d.]+/g, "");
    const named = rest.match(/(?<![\d.])\d+\.\d+\.\d+(?![\d.])/g)!.filter((found) => !rest.includes(`openapi": "${found}`));
    expect(new Set(named)).toEqual(new Set([version]));
    await expectQuiet();
  });

  it("keeps nothing of a password that was pasted by mistake, once it is taken out", async () => {
    const field = page.getByRole("textbox", { name: "Token" });
    for (const word of ["hunter2", "correct-horse-battery-staple-correct-horse-battery"]) {
      await field.fill(word);
      await field.fill("");
    }
    expect(await inPage("localStorage.length + sessionStorage.length")).toBe(0);
    await expectQuiet();
  });

  it("has no violation of axe-core in light and dark, with everything open, and fits a phone", async () => {
    await page.setViewportSize({ width: 360, height: 800 });
    await inPage("document.querySelectorAll('details').forEach((one) => { one.open = true; })");
    await page.locator("#createToken form").waitFor();
    await page.evaluate(readFileSync(fileURLToPath(import.meta.resolve("axe-core/axe.min.js")), "utf8"));
    // The dark page differs from the light one in nothing but colours.
    for (const [colorScheme, rules] of [
      ["light", ""],
      ["dark", 'runOnly: ["color-contrast", "link-in-text-block"],'],
    ] as const) {
      await page.emulateMedia({ colorScheme });
      const violations = `axe.run({ ${rules} resultTypes: ["violations"], selectors: false }).then(({ violations }) => violations)`;
      const found = await inPage<readonly { id: string; nodes: readonly { html: string }[] }[]>(violations);
      expect(found.map(({ id, nodes }) => `${colorScheme}, ${id}: ${nodes[0]?.html}`)).toEqual([]);
    }
    expect(await inPage<number>("document.documentElement.scrollWidth - innerWidth")).toBe(0);
    await expectQuiet();
  });

  it("opens at the operation in the URL", async () => {
    await page.goto("about:blank");
    await page.goto(`${service.url}/docs#revokeToken`);
    await page.locator("#revokeToken").waitFor();
    expect(await inPage('Math.abs(document.querySelector("#revokeToken").getBoundingClientRect().top) < innerHeight')).toBe(true);
    await expectQuiet();
  });
});
