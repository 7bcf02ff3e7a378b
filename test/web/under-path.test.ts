import { afterAll, expect, it } from "bun:test";
import { startBrowser } from "../support/browser.ts";
import { startTestService } from "../support/service.ts";
import { builtPage } from "../support/web/built-page.ts";
import { Visit } from "../support/web/visit.ts";

const NAMES = ["Acer", "Ficus"];
const web = await builtPage();
const [green, blue] = await Promise.all([startTestService({}, { web }), startTestService({}, { web })]);
const browser = await startBrowser();

/** Two services under two paths of one origin. Each is asked only with its own token. */
const strangers: string[] = [];
const origin = Bun.serve({
  port: 0,
  fetch(request) {
    const { pathname, search } = new URL(request.url);
    const [, name, rest = ""] = /^\/(green|blue)(\/.*)$/.exec(pathname) ?? [];
    const service = name === "green" ? green : blue;
    if (request.headers.get("authorization")?.endsWith(service.token) === false) strangers.push(pathname);
    return name === undefined
      ? new Response(null, { status: 404 })
      : fetch(new Request(`${service.url}${rest}${search}`, request), { decompress: false });
  },
});
afterAll(() => Promise.all([browser.close(), origin.stop(true), green.stop(), blue.stop()]));

it("the page works under a path, also the import and the codes of labels, and keeps its token and its undo from the service under another path of its origin", async () => {
  for (const service of [green, blue]) for (const name of NAMES) await service.post(`{"id":${name.length},"name":"${name}","tag":"tree"}`);
  const page = await browser.newPage();
  const { button, field, reads, sees } = new Visit(page, green.token);
  const signIn = async (path: string, token: string) => {
    await page.goto(`${origin.url.href}${path}/`);
    await field("Token").fill(token);
    await page.getByLabel("Stay signed in on this device").check();
    await button("Sign in").click();
    await sees(NAMES);
  };
  await signIn("green", green.token);
  await page.getByRole("checkbox", { name: "Select all plants that are loaded" }).click();
  await button("Remove tag").click();
  await reads("Removed the tag from 2 plants.");

  await signIn("blue", blue.token);
  expect(await button("Undo").count()).toBe(0);
  await button("Account").click();
  await button("Sign out").click();
  await field("Token").waitFor();

  // No one has signed out here, and nothing is undone yet.
  await page.goto(`${origin.url.href}green/`);
  await sees(NAMES);
  await button("Undo").click();
  await reads("Restored 2 plants.");
  await button("Export").click();
  await button("Print labels").click();
  await page.getByRole("img", { name: `QR code of ${origin.url.href}green/#plant=4` }).waitFor();
  await button("Close").click();
  await button("Import").click();
  await field("Or paste the rows").fill("id,name\n1,Rosa\n");
  await button("Preview the rows").click();
  await reads("If you import now: 1 new.");
  expect(strangers).toEqual([]);
});
