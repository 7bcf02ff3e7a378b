import { describe, expect, it } from "bun:test";
import { roleOf } from "../../src/files/reading/headings.ts";
import type { Role } from "../../src/files/reading/headings.ts";

type Headings = Readonly<Partial<Record<Role | "none", readonly string[]>>>;

/** The headings of a list, by what they are. */
const LISTS: Readonly<Record<string, Headings>> = {
  "Darwin Core": {
    id: ["taxonID", "occurrenceID", "catalogNumber", "dwc:taxonID", "dc:identifier", "dcterms:identifier"],
    name: ["scientificName", "dwc:scientificName", "http://rs.tdwg.org/dwc/terms/scientificName", "acceptedNameUsage"],
    vernacular: ["vernacularName"],
    tag: ["family", "http://rs.tdwg.org/dwc/terms/family"],
    genus: ["genus", "genericName"],
    species: ["specificEpithet"],
    infraspecific: ["infraspecificEpithet"],
    rank: ["taxonRank", "verbatimTaxonRank"],
    cultivar: ["cultivarEpithet"],
    author: ["scientificNameAuthorship"],
    none: ["kingdom", "order", "locality", "recordedBy", "decimalLatitude", "basisOfRecord", "modified"],
  },
  WCVP: {
    id: ["plant_name_id", "ipni_id", "powo_id"],
    name: ["taxon_name"],
    tag: ["family"],
    genusHybrid: ["genus_hybrid"],
    genus: ["genus"],
    speciesHybrid: ["species_hybrid"],
    species: ["species"],
    rank: ["infraspecific_rank", "taxon_rank"],
    infraspecific: ["infraspecies"],
    author: ["taxon_authors"],
    none: [
      "taxon_status",
      "parenthetical_author",
      "primary_author",
      "place_of_publication",
      "geographic_area",
      "lifeform_description",
      "reviewed",
    ],
  },
  WFO: {
    id: ["taxonID", "scientificNameID"],
    name: ["scientificName"],
    rank: ["taxonRank"],
    none: ["parentNameUsageID", "taxonomicStatus"],
  },
  "USDA PLANTS": {
    id: ["Symbol", "Accepted Symbol"],
    name: ["Scientific Name with Author", "Scientific Name"],
    vernacular: ["Common Name"],
    tag: ["Family"],
    genusHybrid: ["Hybrid Genus Indicator"],
    speciesHybrid: ["Hybrid Species Indicator"],
    subspecies: ["Subspecies"],
    variety: ["Variety"],
    form: ["Forma"],
    speciesAuthor: ["Genera/Binomial Author"],
    infraspecificAuthor: ["Trinomial Author"],
    infraspecificAuthor2: ["Quadranomial Author"],
    none: ["Synonym Symbol", "Subspecies Prefix", "Variety Prefix", "State and Province", "Growth Habit", "Duration"],
  },
  ITIS: {
    id: ["tsn"],
    name: ["complete_name"],
    genusHybrid: ["unit_ind1"],
    genus: ["unit_name1"],
    speciesHybrid: ["unit_ind2"],
    species: ["unit_name2"],
    rank: ["unit_ind3", "rank_name"],
    infraspecific: ["unit_name3"],
    author: ["taxon_author"],
    none: ["parent_tsn", "kingdom_id", "name_usage"],
  },
  GBIF: {
    id: ["gbifID", "taxonKey", "speciesKey"],
    name: ["verbatimScientificName", "acceptedScientificName"],
    author: ["verbatimScientificNameAuthorship"],
    none: ["datasetKey", "countryCode", "eventDate", "kingdomKey"],
  },
  iNaturalist: {
    name: ["scientific_name"],
    vernacular: ["common_name", "species_common_name"],
    tag: ["iconic_taxon_name", "taxon_family_name"],
    genus: ["taxon_genus_name"],
    species: ["taxon_species_name"],
    none: ["observed_on", "user_login", "user_name", "quality_grade", "place_guess", "image_url"],
  },
  "Ghini and Bauble": {
    id: ["accession", "code"],
    genus: ["genus"],
    species: ["sp"],
    speciesHybrid: ["hybrid"],
    speciesAuthor: ["sp_author"],
    rank: ["infrasp1_rank"],
    infraspecific: ["infrasp1"],
    infraspecificAuthor: ["infrasp1_author"],
    rank2: ["infrasp2_rank"],
    infraspecific2: ["infrasp2"],
    infraspecificAuthor2: ["infrasp2_author"],
    group: ["cv_group"],
    none: ["sp_qual", "trade_name", "quantity"],
  },
  IrisBG: {
    id: ["AccessionNumber", "ItemAccessionNumber", "Item Number"],
    name: ["TaxonName"],
    vernacular: ["CommonName", "VernacularName"],
    tag: ["Family", "LocationCode", "Location Name"],
    cultivar: ["CultivarName"],
    none: ["ItemStatus", "Provenance"],
  },
  BRAHMS: {
    id: ["BRAHMS", "SPECID", "BARCODE"],
    tag: ["FAMILY"],
    genus: ["GENUS"],
    species: ["SP1"],
    speciesAuthor: ["AUTHOR1"],
    rank: ["RANK1"],
    infraspecific: ["SP2"],
    infraspecificAuthor: ["AUTHOR2"],
    rank2: ["RANK2"],
    infraspecific2: ["SP3"],
    infraspecificAuthor2: ["AUTHOR3"],
    none: ["COLLECTOR", "COUNTRY", "LAT"],
  },
  "sheets in other languages": {
    id: ["Inventar-Nr.", "N°", "#", "Číslo", "编号"],
    name: ["Botanischer Name", "Nom scientifique", "Nombre científico", "Naam", "Název", "Название", "学名", "학명", "Pflanze"],
    vernacular: ["Deutscher Name", "Nom commun", "Nombre común", "Nome comune", "Nederlandse naam", "Český název", "和名", "俗名"],
    tag: ["Beet", "Standort", "Plate-bande", "Záhon", "Čeleď", "Location", "грядка", "科"],
    genus: ["Gattung", "Genre", "Género", "Genere", "Geslacht", "Släkte", "Slægt", "Rod", "Rodzaj", "Род", "属", "속"],
    species: ["Art", "Espèce", "Especie", "Specie", "Soort", "Laji", "Druh", "Gatunek", "Вид", "种", "種"],
    subspecies: ["Unterart", "Sous-espèce", "Ondersoort", "Poddruh", "Podgatunek", "Подвид", "亚种", "亜種"],
    variety: ["Varietät", "Variété", "Variedad", "Varietà", "Odmiana", "Разновидность", "变种", "変種"],
    cultivar: ["Sorte", "Kultivar", "Odrůda", "Сорт", "品种", "品種"],
    author: ["Autor", "Auteur", "Autore", "Автор"],
    rank: ["Rang", "Rango"],
  },
};

for (const [list, headings] of Object.entries(LISTS)) {
  describe(`the headings of ${list}`, () => {
    for (const [role, texts] of Object.entries(headings)) {
      for (const text of texts) it(`take ${text} for ${role}`, () => expect(roleOf(text)?.role ?? "none").toBe(role as Role | "none"));
    }
  });
}

describe("a heading with more words around one that is known", () => {
  for (const [heading, role] of [
    ["Name (Gattung, Art)", "name"],
    ["Taxon / Taxón", "name"],
    ["Pianta / Növény", "name"],
    ["Növény / Plant", "name"],
    ["Rod / Genus", "genus"],
    ["Family - Famille", "tag"],
    ["Famille\nFamily", "tag"],
    ["Species (Latin)", "species"],
    ["species_epithet", "species"],
    ["  GENUS: ", "genus"],
    ["(Genus)", "genus"],
    ["Bed [north]", "tag"],
    ["Genus / Species", "name"],
    ["Genus Species", "name"],
    ["Gattung, Art", "name"],
    ["Gattung und Art", "name"],
    ["Genre + espèce + cultivar", "name"],
    ["Name (deutsch)", "vernacular"],
    ["Name, common", "vernacular"],
    ["Art (deutsch)", "vernacular"],
    ["Name (English)", "vernacular"],
    ["name_en", "vernacular"],
    ["Nom (français)", "vernacular"],
    ["Name (Latin)", "name"],
    ["plant no", "id"],
    ["Bed (English)", "tag"],
    ["Collector (name)", undefined],
    ["Donor-Name", undefined],
    ["Collector name", undefined],
    ["Genus notes", undefined],
    ["constructor", undefined],
    ["", undefined],
    [`Genus (${"x".repeat(100)})`, undefined],
  ] as const) {
    it(`makes ${JSON.stringify(heading)} ${role ?? "unknown"}`, () => expect(roleOf(heading)?.role).toBe(role));
  }
});

describe("the likeliest of some headings", () => {
  for (const [first, ...others] of [
    ["id", "gbifID", "catalogNumber", "occurrenceID", "taxonKey", "accession", "nr", "code", "Symbol", "Id / Nr"],
    ["name", "scientificName", "acceptedScientificName", "taxon", "plant", "Plant (Latin)", "Name (full)"],
    ["tag", "category", "type", "family", "bed", "location", "Tag (color)"],
    ["specificEpithet", "species", "Species (whole name)"],
    ["infraspecific_rank", "taxonRank", "rank"],
    ["gbifID", "plant id", "catalogNumber"],
  ] as const) {
    it(`is ${first} before ${others.join(", ")}`, () => {
      const { role, rank = Infinity } = roleOf(first) ?? {};
      for (const other of others) {
        expect(roleOf(other)?.role).toBe(role);
        expect(roleOf(other)!.rank).toBeGreaterThan(rank);
      }
    });
  }

  it("has the rank 0 among our own names", () => {
    expect(["id", "name", "tag", "Tag."].map((heading) => roleOf(heading)?.rank)).toEqual([0, 0, 0, 0]);
  });
});
