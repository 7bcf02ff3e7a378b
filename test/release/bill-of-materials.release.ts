// What a scanner for known weaknesses reads of a release.
import { Database } from "bun:sqlite";
import { describe, expect, it } from "bun:test";
import { billOfMaterials } from "../../deploy/release/bill-of-materials.ts";
import { runtimeParts } from "../../deploy/release/runtime-parts.ts";

type Bill = Readonly<{
  components: readonly Readonly<{ "bom-ref": string; name: string; version?: string; purl: string; licenses: readonly object[] }>[];
  dependencies: readonly Readonly<{ ref: string; dependsOn: readonly string[] }>[];
}>;

describe("the bill of materials", () => {
  const bill = JSON.parse(billOfMaterials(0)) as Bill;
  const find = (name: string) => bill.components.find((component) => component.name === name);

  it("has the library of each version that the runtime reports, in this version", () => {
    using database = new Database(":memory:");
    const row = database.query<{ version: string }, []>("SELECT sqlite_version() AS version").get();
    expect(find("sqlite")).toMatchObject({ version: row!.version, purl: `pkg:generic/sqlite@${row!.version}` });
    const named = {
      boringssl: "boringssl",
      icu: "icu",
      webkit: "webkit",
      zlib: "zlib-ng",
      zstd: "zstd",
      mimalloc: "mimalloc",
      ares: "c-ares",
    };
    for (const [key, name] of Object.entries(named)) expect(find(name)?.version).toBe(process.versions[key]);
    expect(find("brotli")).toBeDefined();
  });

  it("says that the runtime depends on them, and has each reference once", () => {
    const { dependsOn } = bill.dependencies.find(({ ref }) => ref === `bun@${Bun.version}`)!;
    expect(dependsOn).toEqual(expect.arrayContaining(["bun/sqlite", "bun/boringssl", "bun/brotli"]));
    const refs = bill.components.map((component) => component["bom-ref"]);
    expect(new Set(refs).size).toBe(refs.length);
    expect(bill.components.filter(({ licenses }) => licenses.length === 0)).toEqual([]);
  });

  it("is not made when the runtime reports a library that nobody has described", () => {
    expect(() => runtimeParts({ ...process.versions, libnew: "1.0" })).toThrow(
      "Bun contains libnew: describe it in deploy/release/runtime-parts.ts.",
    );
  });
});
