import { normalize } from "../../domain/normalization.ts";
import type { NamePart } from "./plant-name.ts";

/** What a column may be used for. The parts are joined to a name (`joinName`), if the table has no better one. */
export type Role = "id" | "name" | "tag" | "vernacular" | NamePart;

/**
 * What people and well-known lists call their columns, the likeliest first: Darwin Core (dwc.tdwg.org/terms), WCVP, WFO,
 * USDA PLANTS, ITIS, GBIF, iNaturalist, Ghini, IrisBG, BRAHMS, MCPD. Compared without case, accents, spaces, punctuation.
 */
const HEADINGS: Readonly<Record<Role, string>> = {
  id: `id, gbifID, plant id, pflanzen id, id plante, id planta, id pianta, catalogNumber, taxonID, occurrenceID,
    identifier, identifiant, identificador,
    plant name id, tsn, taxonKey, acceptedTaxonKey, usageKey, speciesKey, wfo id, ipni id, powo id, scientificNameID,
    accession number, accession no, accession nr, accession, accession code, accession id, acc no, acc num, accenumb,
    item number, item accession number, inventory number, inventarnummer, inventar nr, akzessionsnummer, akzession,
    numéro d'accession, número de accesión, pflanzennummer, plant number, plant no, brahms, specid, species id, barcode,
    nr, no, n°, lp, sr no, sl no, s no, serial no, poř č, č p, № п/п, num, number, nummer, numero, numer, lfd nr, laufende nummer, číslo, номер, 番号, 编号, 編號, 번호, #,
    key, code, kod, código, ref, artikelnummer, artikel nr, symbol, accepted symbol, plant symbol, usda symbol`,
  name: `name, scientificName, acceptedScientificName, verbatimScientificName, canonicalName, taxon, taxonname, taxon full name,
    complete name, scientific name with author, scientific name with authors, scientific name with authorship,
    full name, full scientific name, accepted name, accepted name usage, scientific names, wfo name, wcvp name,
    plant name, plant, plants, botanical name, latin name, latin, name latin, name lat, binomial, binomial name, title,
    botanischer name, wissenschaftlicher name, lateinischer name, name botanisch, name lateinisch, name latein, taxonbezeichnung,
    pflanzenname, pflanze, pflanzen, bezeichnung,
    nom scientifique, nom latin, nom botanique, nom de la plante, nom complet, nom, plante,
    nombre científico, nombre botánico, nombre latino, nombre de la planta, nombre, planta, nome científico,
    nome scientifico, nome botanico, nome latino, nome, pianta,
    wetenschappelijke naam, botanische naam, latijnse naam, plantnaam, plantennaam, naam,
    vetenskapligt namn, latinskt namn, namn, växt, videnskabeligt navn, latinsk navn, vitenskapelig navn, navn,
    tieteellinen nimi, nimi, kasvi, nazwa naukowa, nazwa łacińska, nazwa, roślina,
    vědecký název, latinský název, vědecké jméno, název, rostlina, латинское название, научное название, ботаническое название,
    назва, название, наименование, растение, рослина, имя, таксон,
    学名, 學名, 拉丁名, 植物名, 植物名称, 植物, 名前, 名称, 名稱, 학명, 식물명, 이름, 식물`,
  vernacular: `vernacularName, common name, common names, english name, english, vernacular, vernacular names,
    popular name, local name, english common name, species common name, taxon common name, crop name,
    deutscher name, trivialname, volksname, deutscher pflanzenname, gebräuchlicher name, deutsch, englischer name,
    nom commun, nom vernaculaire, nom français, nom usuel, noms communs, nombre común, nombre vulgar, nombres comunes, nombre popular,
    nome comum, nome popular, nome vulgar, nome comune, nome volgare, nome italiano,
    nederlandse naam, volksnaam, svenskt namn, dansk navn, norsk navn, suomenkielinen nimi, kansanomainen nimi,
    nazwa polska, polska nazwa, nazwa zwyczajowa, český název, české jméno, русское название, народное название,
    中文名, 中文名称, 俗名, 和名, 一般名, 국명, 일반명`,
  tag: `tag, tags, label, labels, keyword, keywords, schlagwort, stichwort, étiquette, etiqueta, etichetta, etikett, štítek, метка, タグ, 标签,
    category, kategorie, catégorie, categoría, kategori, kategoria, категория, カテゴリ, 分类, 分類,
    group, gruppe, groupe, grupo, gruppo, groep, grupp, grupa, skupina, группа,
    type, typ, tipo, family, familie, famille, familia, famiglia, familj, rodzina, čeleď, семейство, 科,
    family name, taxon family name, plant family, botanical family, pflanzenfamilie, famille botanique, familia botánica,
    heimo, родина, 科名, 과, 과명, iconic taxon name,
    bed, bed name, garden bed, beds, garden, garden location, location, location name, location code, current location, plot,
    beet, standort, ort, revier, garten, plate-bande, parterre, massif, emplacement, localisation,
    arriate, ubicación, localización, canteiro, localização, aiuola, posizione, ubicazione, perk, vak, locatie, standplaats,
    rabatt, plats, placering, plassering, penkki, sijainti, grządka, rabata, lokalizacja, stanowisko, záhon, umístění, stanoviště,
    грядка, клумба, место, расположение, 位置, 地点, 場所, 花坛, 花壇, 苗床, 위치, 화단`,
  genus: `genus, genericName, genus name, taxon genus name, gen, unit name1, gattung, gattungsname, genre, nom de genre, género, genere,
    geslacht, geslachtsnaam, släkte, släktnamn, slægt, slekt, slægtsnavn, suku, rodzaj, nazwa rodzajowa, rod, rodové jméno,
    род, рід, 属, 屬, 属名, 속, 속명`,
  genusHybrid: "genus hybrid, hybrid genus, hybrid genus indicator, genus hybrid marker, genus hybrid mark, unit ind1, gattungshybride",
  species: `specificEpithet, species epithet, sp, sp1, unit name2, epithet, species, species name, taxon species name,
    art, artepitheton, artname, epitheton, espèce, épithète, épithète spécifique, especie, epíteto específico, epíteto,
    specie, epiteto specifico, soort, soortnaam, soortaanduiding, artnamn, artepitet, artsnavn, laji, gatunek, nazwa gatunkowa,
    epitet gatunkowy, druh, druhové jméno, вид, видовой эпитет, 种, 種, 种名, 種名, 種小名, 种加词, 種加詞, 종, 종소명`,
  speciesHybrid: `species hybrid, hybrid species, hybrid species indicator, species hybrid marker, hybrid, hybrid marker, hybrid mark,
    hybrid symbol, hybrid sign, hybrid flag, is hybrid, hyb, unit ind2, hybride, híbrido, ibrido, hybryda, гибрид`,
  rank: `infraspecific rank, infrasp1 rank, infrasp rank, infraspecies rank, infra rank, rank1, unit ind3, verbatimTaxonRank,
    taxonRank, rank, rank name, taxonomic rank, rang, rangstufe, rang infraspécifique, rango, rango infraespecífico, ранг`,
  infraspecific: `infraspecificEpithet, infraspecies, infraspecies epithet, infraspecies name, infraspecific, infraspecific name, infrasp1, infrasp,
    infra, infra name, sp2, unit name3, subtaxa, subtaxon, intraspecific epithet, infraspezifisches epitheton,
    épithète infraspécifique, epíteto infraespecífico, epiteto infraspecifico, инфравидовой эпитет`,
  rank2: "rank2, infrasp2 rank, unit ind4",
  infraspecific2: "infrasp2, sp3, unit name4",
  subspecies: `subspecies, subsp, ssp, subspecies epithet, subspecific epithet, subspecies name, unterart, sous-espèce, subespecie,
    sottospecie, ondersoort, underart, alalaji, podgatunek, poddruh, подвид, підвид, 亚种, 亞種, 亜種, 아종`,
  variety: `variety, var, varietas, variety epithet, varietal epithet, varietät, variété, variedad, variedade, varietà, variëteit, varietet,
    muunnos, odmiana, разновидность, різновид, 变种, 變種, 変種, 변종`,
  form: "forma, forma epithet, form epithet, botanical form",
  group:
    "cultivar group, cv group, cultivar group name, sortengruppe, groupe de cultivars, grupo de cultivares, gruppo di cultivar, cultivargroep, 品种群",
  cultivar: `cultivarEpithet, cultivar, cultivar name, cultivars, cv, cultivated variety, sorte, sortenname, sortenbezeichnung, kultivar,
    nom de cultivar, nombre del cultivar, cultivarnaam, ras, sort, sortnamn, sortsnavn, lajike, odmiana uprawna, kultywar, odrůda,
    сорт, культивар, 品种, 品種, 园艺品种, 園芸品種, 栽培品种, 栽培品種, 품종, 재배품종`,
  author: `scientificNameAuthorship, taxon authors, taxon author, authorship, authority, author, authors, taxonomic authority, name author,
    verbatimScientificNameAuthorship, autor, autoren, autorname, auteur, auteurs, autores, autore, autori, auktor, autorzy,
    автор, авторы, 命名人, 命名者`,
  speciesAuthor: "sp author, species author, species authority, author1, binomial author, genera binomial author, artautor",
  infraspecificAuthor: `infrasp1 author, infrasp author, infraspecific author, infraspecific authority, infraspecies author, subspecies author,
    author2, subtauthor, trinomial author`,
  infraspecificAuthor2: "infrasp2 author, author3, quadranomial author, quadrinomial author",
};

/** The role of a heading, and how likely it is beside others of that role: 0 is the likeliest. */
export type Known = Readonly<{ role: Role; rank: number }>;

const KNOWN: ReadonlyMap<string, Known> = new Map(
  (Object.entries(HEADINGS) as [Role, string][]).flatMap(([role, headings]) =>
    headings.split(",").map((heading, rank) => [toPlain(heading.trim()), { role, rank }] as const),
  ),
);

/** A heading with more words around a known one is less likely than any that is known as it is. */
const LOOSE_RANK = 1000;
/** One that has words that we do not know is the least likely: it may be a plant, as in `Money plant / plant`. */
const PARTLY_RANK = 2000;

/** Longer than any that we know, with its address. There may be a hundred thousand. */
const LENGTH_MAX = 100;
/** With more signs, or letters that stand for several, a cell is no heading, and takes long to compare. */
const LIKELY = /^(?:[\p{L}\p{N}\s]*[^\p{L}\p{N}\s]){0,16}[\p{L}\p{N}\s]*$/u;
const SEVERAL = /[\u3300-\u33ff\ufb50-\ufdff\ufe70-\ufeff]/;

/** Whether all of a heading is known, and not only a part of it. */
export function isWholly({ rank }: Known): boolean {
  return rank < PARTLY_RANK;
}

/** As in `Plant A`, which is no `Planta`. */
const NUMBERED = /\p{L}{3} \p{Lu}$/u;

/** The vocabulary before a term, as in `dwc:family` and `http://rs.tdwg.org/dwc/terms/family`. */
const VOCABULARY = /^(?:https?:\/\/\S*[/#]|(?:dwc|dwciri|dc|dcterms|gbif|ncbi|tdwg|abcd):)(?=[^/#]+$)/iu;
/** A name of people, as in `Name (deutsch)` and `name_en`. */
const OF_PEOPLE =
  /^(.+?)[\s_:.,/([-]+(?:common|vernacular|local|trivial|popular|english|englisch|german|deutsch|french|français|spanish|español|italiano|nederlands|svenska|dansk|norsk|polski|česky|русский|en|de|fr|es|it|nl|sv|da|pl|cs|ru)[)\]]?$/iu;
const BRACKETS = /\([^)]*\)?|\[[^\]]*\]?|\{[^}]*\}?/gu;
/** What stands between two languages, or between the parts of a name. A hyphen needs spaces: `Donor-Name` is no name. */
const BETWEEN = /[/|\\;,&+\r\n]|\s[-–—:]\s|\s(?:and|und|et|y|ed?|en|och|og|i|a|и)\s/iu;

/** The role of a heading, and how likely it is beside others of that role: 0 is the likeliest. Undefined if it is not known. */
export function roleOf(heading: string): Known | undefined {
  if (heading.length > LENGTH_MAX || SEVERAL.test(heading) || !LIKELY.test(heading) || NUMBERED.test(heading)) return undefined;
  const term = heading.trim().replace(VOCABULARY, "");
  // What stands in brackets explains what stands before them: a `Collector (name)` is no name.
  const plain = term.replaceAll(BRACKETS, " ").trim() || term;
  return find(term) ?? toLoose(ofPeople(term) ?? find(plain) ?? ofPieces(plain.split(BETWEEN)) ?? ofWords(plain.split(/\s+/u)));
}

/** How many characters of cells are compared for a guess: a hostile file takes 10 ms then. */
const ASKED_MAX = 12_000;

/** The roles of headings, each of which is compared once, until so many characters were. */
export function createRoleFinder(charactersMax = ASKED_MAX): (heading: string) => Known | undefined {
  const known = new Map<string, Known | undefined>();
  let characters = 0;
  return (heading) => {
    if (heading === "" || heading.length > LENGTH_MAX) return undefined;
    if (!known.has(heading)) {
      characters += heading.length;
      known.set(heading, characters > charactersMax ? undefined : roleOf(heading));
    }
    return known.get(heading);
  };
}

function find(text: string): Known | undefined {
  return KNOWN.get(toPlain(text));
}

function ofPeople(term: string): Known | undefined {
  const { role } = find(OF_PEOPLE.exec(term)?.[1] ?? "") ?? {};
  return role === "name" || role === "species" ? find("common name") : undefined;
}

function toLoose(known: Known | undefined): Known | undefined {
  return known && { role: known.role, rank: known.rank + LOOSE_RANK };
}

/** `Genus / Species` is a name, `Plant / Planta` is what one of them is. */
function ofPieces(pieces: readonly string[]): Known | undefined {
  const known = pieces.map(find).filter((piece) => piece !== undefined);
  if (isWhole(known)) return WHOLE;
  return known[0] && { role: known[0].role, rank: known[0].rank + (known.length < pieces.length ? PARTLY_RANK : 0) };
}

/** `Genus Species` is a name, but `Collector Name` is none. */
function ofWords(words: readonly string[]): Known | undefined {
  const known = words.map(find).filter((word) => word !== undefined);
  return known.length === words.length && isWhole(known) ? WHOLE : undefined;
}

const WHOLE: Known = { role: "name", rank: 0 };

function isWhole(known: readonly Known[]): boolean {
  return known.some(({ role }) => role === "genus") && known.some(({ role }) => role === "species");
}

/** A heading of signs alone, such as `#`, is its signs. */
function toPlain(heading: string): string {
  const letters = normalize(heading, "NFKD")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]/gu, "");
  return letters === "" ? heading.trim() : letters;
}
