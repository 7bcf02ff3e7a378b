import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "bun:test";
import { CATALOGUE } from "../../contract/generated/error-catalogue.ts";
import { builtPage } from "../support/web/built-page.ts";
import { usePlace } from "../support/web/place.ts";

const place = usePlace();

const CODE = /\/assets\/import-dialog-\w+\.js/;

describe("the code of the import", () => {
  it("has the message of each error that it throws, and none of those that only a service sends", async () => {
    const folder = await builtPage();
    const names = readdirSync(join(folder, "assets")).filter((name) => name.endsWith(".js"));
    const code = names.map((name) => readFileSync(join(folder, "assets", name), "utf8")).join("\n");
    const thrown = [...code.matchAll(/\bnew \w+\("([a-z_]+)"/g)]
      .map(([, word = ""]) => word)
      .filter((word) => Object.hasOwn(CATALOGUE, word));
    expect(new Set(thrown).size).toBeGreaterThan(5);
    expect(thrown.filter((word) => !code.includes(`${word}:{error:`))).toEqual([]);
    expect(code).not.toContain(CATALOGUE.overloaded.message);
  });

  it("is asked for when its dialog opens, once, and not before", async () => {
    await place.plant(["1,Acer,tree"]);
    const { page, signIn, steps, settle } = await place.visit();
    const asked: string[] = [];
    page.on("request", (request) => void (CODE.test(request.url()) && asked.push(request.url())));
    await signIn();
    await steps("sees Acer > click Edit Acer > has Name > press Escape");
    await settle();
    expect(asked).toEqual([]);
    await steps("click Import > has Or paste the rows > press Escape > click Import > has Or paste the rows");
    expect(asked).toHaveLength(1);
  });
});

it("the page is less than 50 KB, its import less than 52 KB more, compressed", async () => {
  const folder = await builtPage();
  const assets = join(folder, "assets");
  const page = readFileSync(join(folder, "index.html"), "utf8");
  const sizeOf = (name: string) => statSync(join(assets, `${name}.br`)).size;
  const first = Array.from(page.matchAll(/assets\/([\w-]+\.(?:js|css))/g), ([, name = ""]) => name);
  expect(first.map((name) => name.replace(/-\w+\./, ".")).toSorted()).toEqual(["index.css", "index.js"]);
  expect(first.reduce((total, name) => total + sizeOf(name), statSync(join(folder, "index.html.br")).size)).toBeLessThan(50_000);
  const [code = ""] = readdirSync(assets).filter((name) => /^import-dialog-\w+\.js$/.test(name));
  expect(sizeOf(code)).toBeLessThan(52_000);
});
