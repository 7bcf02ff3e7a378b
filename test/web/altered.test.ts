import { describe, expect, it } from "bun:test";
import type { Page } from "playwright-core";
import { until } from "../support/until.ts";
import { usePlace } from "../support/web/place.ts";
import type { Visit } from "../support/web/visit.ts";

// Browsers that are older than most, that alter pages, or that bring them back: what they do is done here by scripts.

const place = usePlace();

async function open(rows: readonly string[], script = ""): Promise<Visit> {
  await place.plant(rows);
  const visit = await place.visit("/?q=");
  await visit.page.addInitScript(script);
  await visit.page.reload();
  await visit.signIn();
  await visit.rows.first().waitFor();
  return visit;
}

describe("a page that the back button brings back as it was", () => {
  it("shows nothing to whoever comes when its user has signed out meanwhile, also with a dialog open", async () => {
    const { page, button, field } = await open(["1,Acer,tree"]);
    await button("Edit Acer").click();
    await field("Name").fill("Acer palmatum");
    const asked: string[] = [];
    page.on("dialog", (dialog) => {
      asked.push(dialog.type());
      void dialog.dismiss();
    });
    await Promise.all([page.waitForEvent("load"), bringBack(page, "sessionStorage.clear()")]);
    await field("Token").waitFor();
    expect(await page.getByText("Acer").count()).toBe(0);
    expect(asked).toEqual([]);
  });

  it("has the token of whoever signed in meanwhile", async () => {
    const body = JSON.stringify({ name: "reader", scopes: ["plants:read"] });
    const { token } = (await (await place.service.request("/tokens", { method: "POST", body })).json()) as { token: string };
    const { page, sees, button } = await open(["1,Acer,tree"]);
    const meanwhile = `for (const name of Object.keys(sessionStorage)) sessionStorage[name] = "${token}"`;
    await Promise.all([page.waitForEvent("load"), bringBack(page, meanwhile)]);
    await sees(["Acer"]);
    expect(await button("Add plant").count()).toBe(0);
  });

  it("stays as it was when nobody did", async () => {
    const { page, button, field } = await open(["1,Acer,tree"]);
    await button("Edit Acer").click();
    await field("Name").fill("Acer palmatum");
    await bringBack(page, "");
    await button("Save").click();
    await page.getByText("“Acer palmatum” is saved.").first().waitFor();
  });

  it("is where it was, though Safari brings it back at its top", async () => {
    const { page, rows } = await open(Array.from({ length: 90 }, (_, at) => `${at},Plant ${at},`));
    await page.evaluate("scrollTo(0, 3000)");
    await rows.getByText("Plant 65", { exact: true }).waitFor();
    await bringBack(page, "dispatchEvent(new Event('pagehide')); addEventListener('pageshow', () => scrollTo(0, 0))");
    await until("The page is where it was", () => page.evaluate<boolean>("scrollY === 3000"));
  });
});

describe("a tab that Firefox reopens with what it held seconds before it was closed", () => {
  async function reopened(path: string): Promise<Readonly<{ visit: Visit; page: Page; open: () => Promise<Page> }>> {
    const visit = await open(["1,Acer,tree"]);
    const { page } = visit;
    const held = await page.evaluate<string>("JSON.stringify({ ...sessionStorage })");
    expect(held).toContain(place.service.token);
    await visit.button("Settings").click();
    await visit.button("Sign out").click();
    await visit.field("Token").waitFor();
    const context = page.context();
    return {
      visit,
      page,
      async open() {
        const again = await context.newPage();
        await again.addInitScript(`Object.assign(sessionStorage, ${held})`);
        await again.goto(`${place.service.url}${path}`);
        return again;
      },
    };
  }

  for (const path of ["/", "/docs"])
    it(`has nobody signed in at ${path} after a sign-out, and only the checksum of the token is kept for that`, async () => {
      const { page, open: openAgain } = await reopened(path);
      const again = await openAgain();
      await again.getByLabel("Token").first().waitFor();
      expect(await again.evaluate<string>("JSON.stringify({ ...sessionStorage })")).toBe("{}");
      expect(await again.getByText("Acer").count()).toBe(0);
      expect(await page.evaluate<string>("JSON.stringify({ ...localStorage })")).toBe(
        JSON.stringify({ [`plant-store-/-out-${place.service.token.slice(-6)}`]: "" }),
      );
    });

  it("has somebody signed in who came back with the same token", async () => {
    const { visit, open: openAgain } = await reopened("/");
    await visit.signIn();
    await visit.sees(["Acer"]);
    await (await openAgain()).getByText("Acer").first().waitFor();
  });

  it("has nobody signed in who came back with the same token, stayed signed in on the device, and signed out of that", async () => {
    const { visit, page, open: openAgain } = await reopened("/");
    await page.getByLabel("Stay signed in on this device").check();
    await visit.signIn();
    await visit.sees(["Acer"]);
    await visit.choose("Sign out");
    await visit.field("Token").waitFor();
    const again = await openAgain();
    await again.getByLabel("Token").or(again.getByText("Acer")).first().waitFor();
    expect(await again.getByText("Acer").count()).toBe(0);
  });
});

describe("a deletion that waits", () => {
  it("can be undone for as long as ever after the back button has brought its page back", async () => {
    const { page, button, sees } = await open(["1,Acer,tree", "2,Betula,tree"]);
    await button("Delete Acer").click();
    // What is read out stays as it was at the beginning.
    const seen = page.locator(".notice span[aria-hidden]");
    await seen.filter({ hasText: /in [1-6] seconds?\.$/ }).waitFor();
    await bringBack(page, "");
    await seen.filter({ hasText: /in 8 seconds\.$/ }).waitFor();
    await button("Undo").click();
    await sees(["Acer", "Betula"]);
  });
});

/** As after a visit to another page of the tab, that did something. The browser of the tests keeps no page for its back button. */
async function bringBack(page: Page, meanwhile: string): Promise<void> {
  await page.evaluate(`{ ${meanwhile} }; dispatchEvent(new PageTransitionEvent("pageshow", { persisted: true }))`);
}

it("a page whose script another version of the service does not have says what to do, and is there after that", async () => {
  place.expectStatus(404);
  const { page, field, reads } = await place.visit();
  const script = /\/assets\/index-\w+\.js$/;
  await page.route(script, (route) => route.fulfill({ status: 404 }));
  await page.reload();
  await reads("If this stays, reload it.");
  await page.unroute(script);
  await page.reload();
  await field("Token").waitFor();
});

describe("an old browser", () => {
  it("says that it is too old, and one that is not says so at no time", async () => {
    const { page, field } = await place.visit();
    await field("Token").waitFor();
    const text = page.getByText("This page needs JavaScript, and a browser of 2024 or later.");
    expect(await text.count()).toBe(0);
    await page.addInitScript("delete AbortSignal.any");
    await page.reload();
    await text.filter({ visible: true }).waitFor();
    expect(await field("Token").count()).toBe(0);
  });

  it("without JavaScript says that the page needs it", async () => {
    const { reads } = await place.visit("/", { javaScriptEnabled: false });
    await reads("This page needs JavaScript");
  });

  it("that would round an id says so", async () => {
    await place.plant(["9007199254740993,Monstera,"]);
    const { page, signIn, reads } = await place.visit();
    await page.addInitScript(
      "const { parse } = JSON; JSON.parse = (text, revive) => parse(text, revive && ((name, value) => revive(name, value)));",
    );
    await page.reload();
    await signIn();
    await reads("This browser rounds ids past 2^53: use a newer one.");
  });

  it("that refuses many steps of its history shows what was typed last, and the address follows", async () => {
    const { page, field, sees, address } = await open(["1,Acer,tree", "2,Betula,tree"], LIMIT_HISTORY);
    await field("Search names").pressSequentially("acer ", { delay: 40 });
    await page.evaluate("stepsLeft = 0");
    await field("Search names").pressSequentially("y", { delay: 40 });
    await page.getByText("No plants match.").first().waitFor();
    await field("Search names").fill("");
    await sees(["Acer", "Betula"]);
    expect(address()).toBe("/?q=acer");
    await page.evaluate("stepsLeft = 100");
    await page.waitForURL(({ search }) => search === "");
  });
});

describe("a range of rows is selected", () => {
  const plants = Array.from({ length: 9 }, (_, at) => `${at + 1},Plant ${at + 1},`);

  it("by the keyboard in Firefox too, whose clicks by a key know of no Shift", async () => {
    const { page, reads } = await open(plants, FORGET_SHIFT);
    await page.getByLabel("Select Plant 2", { exact: true }).focus();
    await page.keyboard.press("Space");
    await page.getByLabel("Select Plant 6", { exact: true }).focus();
    await page.keyboard.press("Shift+Space");
    await reads("5 plants selected");
    await page.keyboard.press("Space");
    await reads("4 plants selected");
  });

  it("by the keyboard though Shift is released first, and by no click of a screen reader after it", async () => {
    const { page, reads } = await open(plants, "");
    await page.getByLabel("Select Plant 2", { exact: true }).focus();
    await page.keyboard.press("Space");
    await page.getByLabel("Select Plant 6", { exact: true }).focus();
    for (const key of ["Shift", "Space"]) await page.keyboard.down(key);
    for (const key of ["Shift", "Space"]) await page.keyboard.up(key);
    await reads("5 plants selected");
    await page.evaluate(`document.querySelector('[aria-label="Select Plant 9"]').click()`);
    await reads("6 plants selected");
  });

  it("and no text in Safari either, which knows `user-select` by an older name alone", async () => {
    const { page, rows, reads } = await open(plants);
    await page.route("**/*.css", async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, body: (await response.text()).replaceAll(/(?<=[;{])user-select:\w+;?/g, "") });
    });
    await page.reload();
    const ticks = rows.locator("td.plant-row-tick");
    await ticks.nth(1).click({ position: { x: 2, y: 2 } });
    await ticks.nth(5).click({ position: { x: 2, y: 2 }, modifiers: ["Shift"] });
    await reads("5 plants selected");
    expect(await page.evaluate<string>("String(getSelection())")).toBe("");
  });
});

const FORGET_SHIFT = `addEventListener("click", (event) => {
  if (event.detail === 0) Object.defineProperty(event, "shiftKey", { value: false });
}, true)`;

/** As Safari does after a hundred in half a minute. */
const LIMIT_HISTORY = `
  globalThis.stepsLeft = 100;
  for (const name of ["pushState", "replaceState"]) {
    const take = history[name].bind(history);
    History.prototype[name] = (...step) => {
      if ((stepsLeft -= 1) < 0) throw new DOMException("Attempt to use history." + name + "() too often", "SecurityError");
      take(...step);
    };
  }
`;

it("the arrow down chooses a word where words are composed, and goes to the plants where none is", async () => {
  const { page, field } = await open(["1,Acer,tree"]);
  await field("Search names").focus();
  const press = (isComposing: boolean) =>
    page.evaluate<string>(`(() => {
      const event = new KeyboardEvent("keydown", { key: "ArrowDown", isComposing: ${isComposing}, bubbles: true, cancelable: true });
      document.activeElement.dispatchEvent(event);
      return document.activeElement.tagName + (event.defaultPrevented ? " prevented" : "");
    })()`);
  expect([await press(true), await press(false)]).toEqual(["INPUT", "A prevented"]);
});

describe("an extension that marks words", () => {
  it("leaves each row with the plant that it is of", async () => {
    const plants = Array.from({ length: 300 }, (_, at) => `${at + 1},Plant ${at + 1},tag ${at + 1}`);
    const { page, rows, field, sees } = await open(plants);
    await page.evaluate(MARK_WORDS);
    expect(await rows.locator("mark").count()).toBeGreaterThan(10);
    await field("Search names").fill("250");
    await sees(["Plant 250"]);
    await field("Search names").fill("");
    await page
      .getByText(/^300 plants\.$/)
      .first()
      .waitFor();
    await page.evaluate("scrollTo(0, 6000)");
    await rows.getByText("Plant 130", { exact: true }).waitFor();
    const shown = await rows.evaluateAll((all: { innerText: string }[]) =>
      all.map(({ innerText }) => innerText.split(/\s*[\t\n]\s*/).join("|")),
    );
    expect(shown.filter((text) => !/^\|?(\d+)\|Plant \1\|tag \1\|?$/.test(text))).toEqual([]);
  });

  it("leaves the seconds in which a deletion can be undone as they are", async () => {
    const { page, button } = await open(["1,Plant 1,", "2,Plant 2,"]);
    await button("Delete Plant 1").click();
    await page.evaluate(MARK_WORDS);
    const seen = page.locator(".notice p span").last();
    await seen.filter({ hasText: /^“Plant 1” will be deleted in [1-6] seconds\.$/ }).waitFor();
  });
});

/** Puts an element around each word "Plant" and each number, in what is there and in what comes. */
const MARK_WORDS = `(() => {
  function markIn(root) {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    const texts = [];
    while (walker.nextNode()) texts.push(walker.currentNode);
    for (let text of texts.filter(({ parentElement }) => parentElement.closest("mark, script, style, title") === null)) {
      for (let at = text.data.search(/Plant|[0-9]/); at !== -1; at = text.data.search(/Plant|[0-9]/)) {
        const word = text.splitText(at);
        text = word.splitText(/^(Plant|[0-9]+)/.exec(word.data)[0].length);
        const mark = document.createElement("mark");
        word.replaceWith(mark);
        mark.append(word);
      }
    }
  }
  markIn(document.body);
  new MutationObserver((changes) => {
    for (const node of changes.flatMap(({ addedNodes }) => [...addedNodes])) if (node instanceof Element && node.tagName !== "MARK") markIn(node);
  }).observe(document.body, { childList: true, subtree: true });
})()`;

describe("something else in the place of the service", () => {
  it("is not taken for the sample file", async () => {
    for (const status of [0, 503]) place.expectStatus(status);
    const { page, signIn, button, reads, dialog } = await place.visit();
    await signIn();
    for (const answer of [undefined, { status: 503, contentType: "application/json" }, { status: 200, contentType: "text/html" }]) {
      await page.route("**/sample.csv", (route) => (answer ? route.fulfill({ ...answer, body: "<p>\nPlease sign in\n" }) : route.abort()));
      await button("Try thirty real plants").click();
      await reads("The file could not be loaded: try again.");
      expect(await dialog.count()).toBe(0);
      await page.unrouteAll({ behavior: "ignoreErrors" });
    }
    await button("Try thirty real plants").click();
    await reads("sample.csv is CSV with 30 plants.");
  });

  it("that wants a sign-in is named, with a way that loses nothing", async () => {
    const { page, button, field, reads, sees } = await open(["1,Acer,tree"]);
    await button("Edit Acer").click();
    await field("Name").fill("Acer palmatum");
    await page.route("**/plants/1", (route) => route.fulfill({ status: 302, headers: { location: "https://sign-in.example/" } }));
    await button("Save").click();
    await reads(
      "Something else responded instead of the service (0), such as the sign-in of a proxy: open this page in another tab, then try again.",
    );
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await button("Save").click();
    await sees(["Acer palmatum"]);
  });
});

describe("a network that is not only a way", () => {
  for (const { status, contentType, body } of [
    { status: 401, contentType: "text/html", body: "<h1>Sign in</h1>" },
    { status: 401, contentType: "application/json", body: '{"error":"invalid_token"}' },
    { status: 403, contentType: "text/html", body: "<h1>Blocked</h1>" },
    { status: 511, contentType: "text/html", body: "<h1>Sign in</h1>" },
  ]) {
    it(`and answers ${status} with ${body} is named, and ends no sign-in of the service`, async () => {
      place.expectStatus(status);
      const { page, button, field, reads, sees } = await open(["1,Acer,tree"]);
      await button("Edit Acer").click();
      await field("Name").fill("Acer palmatum");
      await page.route("**/plants/1", (route) => route.fulfill({ status, contentType, body }));
      await button("Save").click();
      await reads(
        `Something else responded instead of the service (${status}), such as the sign-in of a proxy: open this page in another tab`,
      );
      await page.unrouteAll({ behavior: "ignoreErrors" });
      await button("Save").click();
      await sees(["Acer palmatum"]);
      await page.reload();
      await sees(["Acer palmatum"]);
    });
  }

  it("and takes the token away says so, and ends no sign-in", async () => {
    place.expectStatus(401);
    const { page, field, reads, sees } = await open(["1,Acer,tree"]);
    await page.route("**/plants?*", async (route) => {
      const { authorization: _, ...headers } = await route.request().allHeaders();
      await route.fulfill({ response: await route.fetch({ headers }) });
    });
    await field("Search names").fill("acer");
    await reads("Something on the way to the service alters what is sent: tell its operator.");
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await page.reload();
    await sees(["Acer"]);
  });

  it("and takes the ETag away says so, and that a plant may be stored, as it is", async () => {
    const { page, button, field, reads } = await open(["1,Acer,tree"]);
    await page.route(/\/plants(\/\d+)?$/, async (route) => {
      const response = await route.fetch();
      const { etag: _, ...headers } = response.headers();
      await route.fulfill({ response, headers });
    });
    await button("Add plant").click();
    await field("Name").fill("Ginkgo");
    await button("Save").click();
    await reads("Something on the way to the service alters what is sent: tell its operator. A change may be stored all the same.");
    expect(await (await place.service.request("/plants?q=ginkgo")).json()).toHaveLength(1);
  });
});

describe("marks without a width, which come along from where something was copied,", () => {
  it("become no part of a name, a tag, an id or a token, and stay within a name", async () => {
    await place.plant(["1,Acer,tree"]);
    const { page, signIn, rows, button, field, reads } = await place.visit();
    await signIn(`\u200b${place.service.token}\u2060`);
    await rows.first().waitFor();
    await button("Add plant").click();
    await field("Name").fill("\u200e Bambus\u200bgras \u200b");
    await field("Tag").fill("tree\u200b");
    await button("Choose the id").click();
    await field("Id").fill("\u200e7\u200e");
    await button("Save").click();
    await reads("is saved.");
    expect(await (await place.service.request("/plants/7")).json()).toEqual({ id: 7, name: "Bambus\u200bgras", tag: "tree" });
    expect(await page.locator(".tag-bars-label").allInnerTexts()).toEqual(["tree", "Without a tag"]);
  });
});
