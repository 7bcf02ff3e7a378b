import { CATALOGUE } from "../../contract/generated/error-catalogue.ts";
import { PlantStoreError } from "../domain/errors.ts";
import { normalize } from "../domain/normalization.ts";

/** What a column may be taken for. */
export const FIELDS = ["id", "name", "tag"] as const;
export type PlantField = (typeof FIELDS)[number];

/** The columns that were chosen, by name, or position as in `column 4`. Empty for none. */
export type ColumnChoice = Readonly<Partial<Record<PlantField, string>>>;

/** The positions of the columns of each field. In each row, the first that is there and not empty counts. */
export type Places = Readonly<Record<PlantField, readonly number[]>>;

/** The columns that we know, under our names and those of Darwin Core (dwc.tdwg.org/terms). */
const KNOWN = { id: ["id", "catalogNumber"], name: ["name", "scientificName", "vernacularName"], tag: ["tag"] } as const;

/**
 * What else people call them, the likeliest first. Compared without case, accents, spaces and punctuation. The first
 * one that a file has is taken, if it has no column that we know.
 */
const GUESSED: Readonly<Record<PlantField, readonly string[]>> = {
  id: [
    // As in `Id.`: without its punctuation it is the name that we know.
    "id, plant id, pflanzen id, id plante, id planta, id pianta, gbifID, taxonID, occurrenceID, identifier, identifiant, identificador",
    "catalog number, accession number, accession no, accession, inventory number, inventarnummer, inventar nr, pflanzennummer, plant number, plant no",
    "nr, no, n°, num, number, nummer, numero, numer, lfd nr, laufende nummer, číslo, номер, 番号, 编号, 編號, #",
    "key, code, kod, código, ref, artikelnummer, artikel nr",
  ].flatMap(toWords),
  name: [
    "name, scientificName, acceptedScientificName, verbatimScientificName, canonicalName, species, taxon, taxonname",
    "plant name, plant, plants, botanical name, latin name, latin, common name, cultivar, title",
    "botanischer name, wissenschaftlicher name, lateinischer name, pflanzenname, pflanze, pflanzen, art, artname, sorte, bezeichnung",
    "deutscher name, trivialname, nom scientifique, nom latin, nom botanique, nom de la plante, nom, plante, espèce, nom commun",
    "nombre científico, nombre botánico, nombre de la planta, nombre, planta, especie, nombre común, nome científico",
    "nome scientifico, nome botanico, nome, pianta, nome comune, wetenschappelijke naam, botanische naam, plantnaam, naam, soort",
    "vetenskapligt namn, namn, växt, videnskabeligt navn, navn, tieteellinen nimi, nimi, kasvi, nazwa, nazwa łacińska, roślina",
    "název, rostlina, назва, название, наименование, растение, рослина, имя, 学名, 植物名, 植物, 名前, 名称, 名稱, 이름, 식물",
  ].flatMap(toWords),
  tag: [
    "tag, tags, label, labels, keyword, keywords, schlagwort, stichwort, étiquette, etiqueta, etichetta, etikett, štítek, метка, タグ, 标签",
    "category, kategorie, catégorie, categoría, kategori, kategoria, категория, カテゴリ, 分类, 分類",
    "group, gruppe, groupe, grupo, gruppo, groep, grupp, grupa, skupina, группа",
    "type, typ, tipo, family, familie, famille, familia, famiglia, familj, rodzina, čeleď, семейство, 科",
  ].flatMap(toWords),
};

/** What is said of columns that are missing: of files whose first line names the columns, and of those where none does. */
export const MISSING = {
  named: {
    both: CATALOGUE.invalid_csv_header.message,
    id: "The first line does not name the column `id`: name it, as in id,name,tag, or choose one with `idColumn`, as in column 1, or have ids made with `ids=content` or `firstId`.",
    name: "The first line does not name the column `name`: name it, as in id,name,tag, or choose one with `nameColumn`, as in column 2. If that line is a plant, send `header=absent`.",
  },
  unnamed: {
    both: "No column is taken for the id, and none for the name: choose them with `idColumn` and `nameColumn`, as in column 1.",
    id: "No column is taken for the id: choose one with `idColumn`, as in column 1, or have ids made with `ids=content` or `firstId`.",
    name: "No column is taken for the name: choose one with `nameColumn`, as in column 2.",
  },
} as const;

/** What is said of a file that has no row, where its first line shows that there were some. */
export const JOINED =
  "No row is below the line that names the columns, and that line has columns that are not imported: if the file has rows, `curl -d` has removed its line ends, so send it with `--data-binary`.";

/** The same of a file that begins with a plant. */
export const JOINED_PLANTS =
  "The file is one line without a line end, and has cells that are not imported: if the file has more lines, `curl -d` has joined them, so send it with `--data-binary`; otherwise add a line end.";

const NAMES = new Set(FIELDS.flatMap((field) => [...KNOWN[field].map(toPlain), ...GUESSED[field]]));

/** Whether these look like the names of columns with rows behind them on the same line: we know some of them, but not all. */
export function areJoined(names: readonly string[]): boolean {
  const known = names.filter((name) => NAMES.has(toPlain(name))).length;
  return known > 0 && known < names.filter((name) => name !== "").length;
}

type PlaceOptions = Readonly<{
  choice: ColumnChoice;
  /** Whether names that we do not know may be guessed. */
  guess: boolean;
  /** Whether a file may have no ids. */
  isWithoutIds: boolean;
}>;

/** Finds the columns of each field by the names in the first line. Throws `invalid_csv_header`. */
export function placeColumns(names: readonly string[], { choice, guess, isWithoutIds }: PlaceOptions): Places {
  const lower = names.map((name) => name.toLowerCase());
  const find = (known: readonly string[]) => known.map((name) => lower.indexOf(name.toLowerCase())).filter((at) => at !== -1);
  const taken = new Set(FIELDS.flatMap((field) => (choice[field] === undefined ? find(KNOWN[field]) : chosen(names, choice[field]))));
  const plain = new Map<string, number>();
  if (guess) {
    for (const [at, name] of names.entries()) {
      // No name that is guessed is as long, and there may be a hundred thousand that are empty.
      if (name === "" || name.length > NAME_LENGTH_MAX || taken.has(at)) continue;
      const letters = toPlain(name);
      if (!plain.has(letters)) plain.set(letters, at);
    }
  }

  function place(field: PlantField): readonly number[] {
    const wanted = choice[field];
    if (wanted !== undefined) return chosen(names, wanted);
    // A download of GBIF has both: its own number, and that of the collection, which is often no number.
    const isGbif = field === "id" && plain.has("gbifid") && !lower.includes("id");
    const known = isGbif ? [] : find(KNOWN[field]);
    if (known.length > 0 || !guess) return known;
    const likeliest = GUESSED[field].map((name) => plain.get(name)).find((at) => at !== undefined);
    return likeliest === undefined ? [] : [likeliest];
  }

  return complete({ id: place("id"), name: place("name"), tag: place("tag") }, isWithoutIds, "named");
}

/**
 * The columns of a file that does not name them: those of its first row, and at least one for each field that is wanted.
 * Where that row ends early, a field keeps the column that it has by the order while another one is left out.
 */
export function nameByPosition(cells: number, choice: ColumnChoice): string[] {
  const wanted = FIELDS.filter((field) => choice[field] !== "");
  const asked = wanted.map((field) => toPosition(choice[field] ?? "") + 1).filter((position) => position <= FIELDS.length);
  return Array.from({ length: Math.max(cells, wanted.length, ...asked) }, (_, at) => toColumnName("", at));
}

/** Takes such columns for `id`, `name` and `tag` in this order, leaving out those that were chosen. Throws `invalid_csv_header`. */
export function placeInOrder(names: readonly string[], { choice, isWithoutIds }: Omit<PlaceOptions, "guess">): Places {
  const taken = new Set(FIELDS.flatMap((field) => chosen(names, choice[field] ?? "")));
  const rest = names.map((_, at) => at).filter((at) => !taken.has(at));
  const place = (field: PlantField) => (choice[field] === undefined ? rest.splice(0, 1) : chosen(names, choice[field]));
  return complete({ id: place("id"), name: place("name"), tag: place("tag") }, isWithoutIds, "unnamed");
}

/** The same places, if they are enough. */
function complete(places: Places, isWithoutIds: boolean, kind: keyof typeof MISSING): Places {
  const lacksId = places.id.length === 0 && !isWithoutIds;
  const lacksName = places.name.length === 0;
  if (!lacksId && !lacksName) return places;
  throw invalidHeader(MISSING[kind][!lacksName ? "id" : lacksId ? "both" : "name"]);
}

/** Its name, or its position if it has none. */
export function toColumnName(name: string, at: number): string {
  return name === "" ? `column ${at + 1}` : Array.from(name).slice(0, NAME_LENGTH_MAX).join("");
}

/** How many characters of the name of a column are reported. */
const NAME_LENGTH_MAX = 100;

function chosen(names: readonly string[], wanted: string): readonly number[] {
  if (wanted === "") return [];
  const lower = wanted.trim().toLowerCase();
  const named = names.findIndex((name) => name.toLowerCase() === lower);
  const at = named === -1 ? toPosition(lower) : named;
  if (at >= 0 && at < names.length) return [at];
  throw invalidHeader("The file has no column that was asked for: check its name, or give its position, as in column 4.");
}

/** From 0; -1 if it is none. */
function toPosition(wanted: string): number {
  return Number(/^column ([1-9]\d{0,4})$/i.exec(wanted.trim())?.[1] ?? 0) - 1;
}

function toWords(line: string): string[] {
  return line.split(",").map(toPlain);
}

/** A name of signs alone, such as `#`, is its signs. */
function toPlain(name: string): string {
  const letters = normalize(name, "NFKD")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, "");
  return letters === "" ? name.trim() : letters;
}

/** In this file, because the page bundles only errors whose names are in its own sources (web/build.ts). */
export function invalidHeader(message?: string): PlantStoreError {
  return new PlantStoreError("invalid_csv_header", message === undefined ? {} : { message });
}
