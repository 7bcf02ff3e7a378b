import { describe, expect, it } from "bun:test";
import { joinName, NAME_PARTS } from "../../src/files/reading/plant-name.ts";
import type { NamePart, PartOfName } from "../../src/files/reading/plant-name.ts";

/** Cells by their roles, in the order of the columns; `chosen` has none. */
type Cells = Readonly<Partial<Record<NamePart | "chosen", string>>>;

function join(cells: Cells): string {
  const parts = Object.entries(cells) as [NamePart | "chosen", string][];
  return joinName(parts.map(([role, text]): PartOfName => ({ role: role === "chosen" ? undefined : role, text })));
}

function testNames(kind: string, rows: readonly (readonly [Cells, string])[]): void {
  describe(kind, () => {
    for (const [cells, name] of rows) it(`joins ${JSON.stringify(cells)}`, () => expect(join(cells)).toBe(name));
  });
}

testNames("cells without rules", [
  [{}, ""],
  [{ genus: "", species: " " }, ""],
  [{ genus: " Quercus ", species: "alba\t" }, "Quercus alba"],
  [{ genus: "Quercus", species: "" }, "Quercus"],
  [{ genus: "Taxus\r\nL.", species: "baccata" }, "Taxus L. baccata"],
  [{ genus: "QUERCUS", species: "ALBA" }, "QUERCUS ALBA"],
  [{ genus: "Quercus", species: "NULL", cultivar: "\\N" }, "Quercus"],
  [{ genus: "Quercus", species: "None", cultivar: "n.a." }, "Quercus"],
  [{ genus: "Quercus", species: "-", infraspecific: "N/A", author: "—" }, "Quercus"],
  [{ genus: "Quercus", species: "?" }, "Quercus ?"],
  [{ genus: "Quercus", species: "alba", chosen: "1987.0001" }, "Quercus alba 1987.0001"],
  [{ chosen: "1987.0001", genus: "Quercus", species: "alba", author: "L." }, "1987.0001 Quercus alba L."],
  [{ genus: "Bambusa", species: "sp." }, "Bambusa sp."],
  [{ genus: "Salix", species: "cf. alba" }, "Salix cf. alba"],
  [{ genus: "Salix", species: "spp." }, "Salix spp."],
  [{ genus: "Salix", species: "indet." }, "Salix indet."],
  [{ author: "L." }, "L."],
  [{ genusHybrid: "x", rank: "var." }, ""],
]);

testNames("a species column with more than the epithet", [
  [{ genus: "Quercus", species: "Quercus alba" }, "Quercus alba"],
  [{ genus: "Quercus", species: "Q. alba" }, "Quercus alba"],
  [{ genus: "Quercus", species: "Q alba" }, "Quercus alba"],
  [{ genus: "Quercus", species: "Qu. alba" }, "Quercus alba"],
  [{ genus: "Quercus", species: "Salix alba" }, "Quercus Salix alba"],
  [{ genus: "Quercus", species: "Quercus" }, "Quercus"],
  [{ genus: "×Cuprocyparis", species: "x Cuprocyparis leylandii" }, "×Cuprocyparis leylandii"],
  [{ species: "Quercus alba" }, "Quercus alba"],
  [{ genus: "Bison", species: "bison", infraspecific: "bison" }, "Bison bison bison"],
  [{ genus: "Salix", species: "alba 'Tristis'", cultivar: "Tristis" }, "Salix alba 'Tristis'"],
  [{ genus: "Salix", species: "alba 'Tristis'", author: "L." }, "Salix alba L. 'Tristis'"],
  [{ genus: "Quercus", species: "Quercus alba L.", author: "L." }, "Quercus alba L."],
  [{ genus: "Rosa", species: "canina", subspecies: "Rosa canina subsp. canina" }, "Rosa canina subsp. canina"],
]);

// ICN (Shenzhen Code) H.1 to H.3, and ICNCP 24 for `+`.
testNames("hybrids", [
  [{ genus: "Salix", speciesHybrid: "x", species: "fragilis" }, "Salix ×fragilis"],
  [{ genus: "Salix", speciesHybrid: "X", species: "capreola" }, "Salix ×capreola"],
  [{ genus: "Mentha", speciesHybrid: "×", species: "smithiana" }, "Mentha ×smithiana"],
  [{ genus: "Polypodium", speciesHybrid: "true", species: "shivasiae" }, "Polypodium ×shivasiae"],
  [{ genus: "Salix", speciesHybrid: "false", species: "alba" }, "Salix alba"],
  [{ genus: "Salix", species: "x fragilis" }, "Salix ×fragilis"],
  [{ genus: "Salix", species: "× fragilis" }, "Salix ×fragilis"],
  [{ genus: "Salix", species: "Salix x fragilis" }, "Salix ×fragilis"],
  [{ genus: "Salix", speciesHybrid: "×", species: "×fragilis" }, "Salix ×fragilis"],
  [{ genus: "Rosa", species: "xanthina" }, "Rosa xanthina"],
  [{ genus: "Xanthium", species: "X. strumarium" }, "Xanthium strumarium"],
  [{ genus: "x Cuprocyparis", species: "leylandii" }, "×Cuprocyparis leylandii"],
  [{ genus: "xCuprocyparis", species: "leylandii" }, "×Cuprocyparis leylandii"],
  [{ genus: "Xanthorrhoea", species: "preissii" }, "Xanthorrhoea preissii"],
  [{ genusHybrid: "×", genus: "Agropogon", species: "littoralis" }, "×Agropogon littoralis"],
  [{ genusHybrid: "+", genus: "Laburnocytisus", cultivar: "Adamii" }, "+Laburnocytisus 'Adamii'"],
  [{ genus: "Salix", species: "alba × S. fragilis" }, "Salix alba × S. fragilis"],
  [{ genus: "Salix", species: "Salix alba × S. fragilis" }, "Salix alba × S. fragilis"],
  [{ genus: "Salix", speciesHybrid: "x", species: "aurita x caprea" }, "Salix aurita x caprea"],
  [{ genus: "Mentha", species: "piperita", rank: "nothosubsp", infraspecific: "pyramidalis" }, "Mentha piperita nothosubsp. pyramidalis"],
]);

// ICN 24, Recommendation 5A.
testNames("ranks below the species", [
  [{ genus: "Acer", species: "saccharum", rank: "ssp", infraspecific: "nigrum" }, "Acer saccharum subsp. nigrum"],
  [{ genus: "Acer", species: "palmatum", infraspecific: "dissectum", rank: "VARIETY" }, "Acer palmatum var. dissectum"],
  [{ genus: "Pinus", species: "nigra", rank: "Unterart", infraspecific: "laricio" }, "Pinus nigra subsp. laricio"],
  [{ genus: "Pinus", species: "nigra", rank: "sous-espèce", infraspecific: "laricio" }, "Pinus nigra subsp. laricio"],
  [{ genus: "Fagus", species: "sylvatica", rank: "f", infraspecific: "purpurea" }, "Fagus sylvatica f. purpurea"],
  [{ genus: "Saxifraga", species: "aizoon", rank: "subvar", infraspecific: "brevifolia" }, "Saxifraga aizoon subvar. brevifolia"],
  [{ genus: "Poa", species: "annua", rank: "lusus", infraspecific: "alba" }, "Poa annua lusus alba"],
  [{ genus: "Quercus", species: "alba", rank: "SPECIES" }, "Quercus alba"],
  [{ genus: "Quercus", species: "alba", rank: "sp.", infraspecific: "repanda" }, "Quercus alba repanda"],
  [{ genus: "Rosa", species: "canina", infraspecific: "dumetorum" }, "Rosa canina dumetorum"],
  [{ genus: "Rosa", species: "canina", rank: "var.", infraspecific: "subsp. dumetorum" }, "Rosa canina subsp. dumetorum"],
  [{ genus: "Rosa", species: "canina", subspecies: "dumetorum" }, "Rosa canina subsp. dumetorum"],
  [{ genus: "Rosa", species: "canina", subspecies: "ssp. dumetorum" }, "Rosa canina ssp. dumetorum"],
  [{ genus: "Brassica", species: "oleracea", variety: "capitata" }, "Brassica oleracea var. capitata"],
  [{ genus: "Solanum", species: "lycopersicum", variety: "Moneymaker" }, "Solanum lycopersicum 'Moneymaker'"],
  [{ genus: "Apium", species: "graveolens", variety: "dulce" }, "Apium graveolens var. dulce"],
  [{ genus: "Salix", species: "alba", variety: "vitellina (L.) Stokes" }, "Salix alba var. vitellina (L.) Stokes"],
  [{ chosen: "Brassica oleracea", variety: "capitata" }, "Brassica oleracea var. capitata"],
  [{ genus: "Rosa", species: "canina", variety: "unknown" }, "Rosa canina unknown"],
  [{ genus: "Rosa", species: "canina", subspecies: "mixed" }, "Rosa canina mixed"],
  [{ genus: "Ocimum", species: "basilicum", variety: "purple" }, "Ocimum basilicum purple"],
  [{ genus: "Salix", species: "caprea", variety: "yes" }, "Salix caprea yes"],
  [{ genus: "Tulipa", species: "", variety: "dwarf mix" }, "Tulipa dwarf mix"],
  [{ genus: "Poa", species: "sp.", variety: "alba" }, "Poa sp. alba"],
  [{ genus: "Fagus", species: "sylvatica", form: "pendula" }, "Fagus sylvatica f. pendula"],
  [{ genus: "Salix", species: "alba", rank: "cv.", infraspecific: "Tristis" }, "Salix alba 'Tristis'"],
  [
    { genus: "Acer", species: "saccharum", rank: "ssp.", infraspecific: "nigrum", rank2: "var.", infraspecific2: "glabrum" },
    "Acer saccharum subsp. nigrum var. glabrum",
  ],
]);

// ICN 46, and 26.1 for autonyms.
testNames("authors", [
  [{ genus: "Quercus", author: "L." }, "Quercus L."],
  [{ genus: "Quercus", species: "alba", author: "L." }, "Quercus alba L."],
  [{ author: "L.", genus: "Salix", species: "alba", cultivar: "Tristis" }, "Salix alba L. 'Tristis'"],
  [{ genus: "Rosa", species: "canina", rank: "subsp.", infraspecific: "canina", author: "L." }, "Rosa canina L. subsp. canina"],
  [
    { genus: "Acer", species: "palmatum", rank: "var", infraspecific: "dissectum", author: "(Thunb.) K.Koch" },
    "Acer palmatum var. dissectum (Thunb.) K.Koch",
  ],
  [
    {
      genus: "Acer",
      species: "saccharum",
      speciesAuthor: "Marshall",
      rank: "subsp.",
      infraspecific: "nigrum",
      infraspecificAuthor: "(F.Michx.) Desmarais",
    },
    "Acer saccharum Marshall subsp. nigrum (F.Michx.) Desmarais",
  ],
  [
    { genus: "Rosa", species: "canina", speciesAuthor: "L.", subspecies: "canina", infraspecificAuthor: "L." },
    "Rosa canina L. subsp. canina",
  ],
  [
    { genus: "Poa", species: "alpina", speciesAuthor: "L.", subspecies: "minor", variety: "alba", infraspecificAuthor2: "Gaudin" },
    "Poa alpina L. subsp. minor var. alba Gaudin",
  ],
  [{ genus: "Acer", speciesAuthor: "L." }, "Acer L."],
  [
    { genus: "Acer", species: "palmatum", cultivar: "Osakazuki", variety: "Ōsakazuki", author: "Thunb." },
    "Acer palmatum Thunb. 'Osakazuki' 'Ōsakazuki'",
  ],
]);

// ICNCP 14, 15 and 17.
testNames("cultivars and groups", [
  [{ genus: "Salix", species: "alba", cultivar: "Tristis" }, "Salix alba 'Tristis'"],
  [{ genus: "Salix", species: "alba", cultivar: "'Tristis'" }, "Salix alba 'Tristis'"],
  [{ genus: "Salix", species: "alba", cultivar: "‘Tristis’" }, "Salix alba ‘Tristis’"],
  [{ genus: "Salix", species: "alba", cultivar: '"Tristis"' }, "Salix alba 'Tristis'"],
  [{ genus: "Salix", species: "alba", cultivar: "„Tristis“" }, "Salix alba 'Tristis'"],
  [{ genus: "Salix", species: "alba", cultivar: "'Tristis" }, "Salix alba 'Tristis'"],
  [{ genus: "Salix", species: "alba", cultivar: "cv. Tristis" }, "Salix alba 'Tristis'"],
  [{ genus: "Lilium", cultivar: "Jacob's Ladder" }, "Lilium 'Jacob's Ladder'"],
  [{ genus: "Hydrangea", cultivar: "Lollipop Girls'" }, "Hydrangea 'Lollipop Girls''"],
  [{ genus: "Tulipa", cultivar: "'t Zand" }, "Tulipa ''t Zand'"],
  [{ genus: "Rosa", cultivar: "Rock 'n' Roll" }, "Rosa 'Rock 'n' Roll'"],
  [{ genus: "Rosa", cultivar: "'Peace' × 'Iceberg'" }, "Rosa 'Peace' × 'Iceberg'"],
  [{ genus: "Rosa", cultivar: "Radrazz Knock Out®" }, "Rosa Radrazz Knock Out®"],
  [{ genus: "Rosa", cultivar: "hybrid" }, "Rosa hybrid"],
  [{ genus: "Acer", species: "palmatum", cultivar: "var. dissectum" }, "Acer palmatum var. dissectum"],
  [{ genus: "Acer", cultivar: "?" }, "Acer ?"],
  [{ genus: "Brassica", species: "oleracea", cultivar: "Capitata Group" }, "Brassica oleracea Capitata Group"],
  [{ genus: "Brassica", species: "oleracea", group: "Capitata" }, "Brassica oleracea Capitata Group"],
  [{ genus: "Cymbidium", cultivar: "Alexanderi grex" }, "Cymbidium Alexanderi grex"],
  [{ genus: "Hydrangea", group: "Hortensia Group", cultivar: "Ami Pasquier" }, "Hydrangea (Hortensia Group) 'Ami Pasquier'"],
]);

describe("NAME_PARTS", () => {
  it("has the parts in the order in which a name is written", () => {
    const cells: Cells = { genus: "Acer", species: "saccharum", infraspecific: "nigrum", group: "Some", cultivar: "Temple" };
    const columns = (Object.entries(cells) as [NamePart, string][]).map(([role, text]) => ({ role, text }));
    const sorted = columns.toReversed().toSorted((a, b) => NAME_PARTS.indexOf(a.role) - NAME_PARTS.indexOf(b.role));
    expect(joinName(sorted)).toBe("Acer saccharum nigrum (Some Group) 'Temple'");
  });
});

describe("a cell longer than any part of a name", () => {
  it("is written as it is, where it stands", () => {
    const text = `x${"' 'A".repeat(100_000)}`;
    expect(join({ genus: "Rosa", cultivar: text })).toBe(`Rosa ${text}`);
    expect(join({ genus: "Rosa", species: `a${" ".repeat(400_000)}b`, author: "L." })).toBe(`Rosa L. a${" ".repeat(400_000)}b`);
  });
});
