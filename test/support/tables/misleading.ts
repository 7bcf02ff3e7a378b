import type { OwnedTable } from "./owned-table.ts";

const UNNAMED = "first row is a plant";
const LEFT_OUT = "leave out";
const TITLE = "a title";

/** A list of one column whose first name has the word of a heading in it. */
function listOf(first: string, { isOfLines = false } = {}): OwnedTable {
  return {
    what: `a list of names whose first one is ${JSON.stringify(first)}`,
    file: `${first}\nIris bearded\nRosa shrub\nTulip late\nNarcissus mini\n`,
    plants: [`*|${first}|`, "*|Iris bearded|", "*|Rosa shrub|", "*|Tulip late|", "*|Narcissus mini|"],
    doubts: [...(isOfLines ? ["one name"] : []), UNNAMED],
  };
}

/** Rows that look like others: plants like headings, titles like plants, quotes of the file like those of a name. */
export const MISLEADING: readonly OwnedTable[] = [
  ...["Crocus - species", "Crocus / species", "Tulipa & art", "Crocus - Plants", "Money plant / plant", "Dahlia - hybrid"].map((first) =>
    listOf(first),
  ),
  ...["Rosa, species", "Plant, spider", "Narcissus, name", "Dahlia, garden"].map((first) => listOf(first, { isOfLines: true })),
  {
    what: "a first plant whose place is the word of a heading",
    file: "Rosa,Garden\nIris,Park\nTilia,Street\nAcer,Wood\n",
    plants: ["*|Rosa|Garden", "*|Iris|Park", "*|Tilia|Street", "*|Acer|Wood"],
    doubts: [UNNAMED, "column 1"],
  },
  {
    what: "a first plant whose two other cells are words of headings",
    file: "Rosa,Hybrid,Garden\nIris,Dwarf,Park\nTilia,Tall,Street\n",
    plants: ["*|Rosa|", "*|Iris|", "*|Tilia|"],
    doubts: [UNNAMED, "column 1"],
  },
  ...["sp.", "spp.", "ssp.", "cv."].map((first) => ({
    what: `a first plant whose epithet is ${first}`,
    file: `Carex,${first}\nRosa,canina\nIris,pumila\nTilia,cordata\nBetula,pendula\n`,
    plants: [`*|Carex ${first}|`, "*|Rosa canina|", "*|Iris pumila|", "*|Tilia cordata|", "*|Betula pendula|"],
    doubts: [UNNAMED, "genus and species"],
  })),
  {
    what: "rows of genera that are left out below the first",
    file: "Genus,Species,Cultivar\nRosa,canina,\n,rugosa,\n,,Peace\n〃,gallica,\nditto,alba,\nNA,arvensis,\n..,villosa,\n=,alba,\n,Acer rubrum,\nRosa,〃,\n",
    plants: ["*|Rosa canina|", "*|Acer rubrum|"],
    refused: [3, 4, 5, 6, 7, 8, 9, 11],
  },
  {
    what: "names and places that a sign repeats",
    file: 'Name,Bed\nRosa canina,A\n〃 alba,B\n""" gallica",〃\nrugosa,C\nRosa gallica,ditto\nAbies alba,-\nx Cuprocyparis leylandii,E\n',
    plants: [
      "*|Rosa canina|A",
      "*|〃 alba|B",
      '*|" gallica|〃',
      "*|rugosa|C",
      "*|Rosa gallica|ditto",
      "*|Abies alba|-",
      "*|x Cuprocyparis leylandii|E",
    ],
    doubts: [LEFT_OUT, LEFT_OUT, "quotes", LEFT_OUT, LEFT_OUT],
  },
  {
    what: "a quote that is open over three rows of two cells",
    file: 'Plant,Bed\n"Rosa canina,A\nAcer rubrum,B\nTilia",C\nIris,D\n',
    plants: ["*|Rosa canina,A\nAcer rubrum,B\nTilia|C", "*|Iris|D"],
    doubts: ["holds what looks like a row"],
  },
  {
    what: "a quote that is open over three rows of one cell",
    file: 'Plant\n"Rosa canina\nAcer rubrum\nTilia"\nIris\n',
    plants: ["*|Rosa canina\nAcer rubrum\nTilia|", "*|Iris|"],
    doubts: ["holds what looks like a row"],
  },
  {
    what: "notes of several lines beside the name, with commas",
    file: 'Plant,Notes\nRosa canina,"seen in May, wet\nin the hedge, by Ada"\nIris,x\n',
    plants: ["*|Rosa canina|", "*|Iris|"],
    doubts: ["Line 1"],
  },
  {
    what: "rows that are quoted once more",
    file: '"name,tag"\n"Rosa,shrub"\n"Acer,tree"\n',
    plants: ["*|Rosa,shrub|", "*|Acer,tree|"],
    doubts: ["one name"],
  },
  {
    what: "single quotes around all cells",
    file: "'name','tag'\n'Rosa canina','shrub'\n'Rose','shrub'\n",
    plants: ["*|'Rosa canina'|'shrub'", "*|'Rose'|'shrub'"],
    doubts: ["names of the columns have quotes", "may belong to the file"],
  },
  {
    what: "curly quotes around all cells",
    file: "name,tag\n“Rosa canina”,“shrub”\n“Rose”,\n",
    plants: ["*|“Rosa canina”|“shrub”", "*|“Rose”|"],
    doubts: ["may belong to the file", "may belong to the file"],
  },
  {
    what: "quotes without a partner, between tabs",
    file: 'Plant\tBed\n"Rosa canina\tA\nAcer rubrum\tB\nTilia"\tC\n"Iris" blue\tD\nRosa "Peace"\tE\n',
    plants: ['*|"Rosa canina|A', "*|Acer rubrum|B", '*|Tilia"|C', '*|"Iris" blue|D', '*|Rosa "Peace"|E'],
    doubts: ["may belong to the file", "may belong to the file"],
  },
  {
    what: "cultivars in their own quotes",
    file: "Name,Bed\n'Peace',A\nRosa 'Peace',B\n",
    plants: ["*|'Peace'|A", "*|Rosa 'Peace'|B"],
  },
  {
    what: "titles in a list of names",
    file: "Plant list\n\nTrees:\nAcer rubrum\n# Shrubs\nRosa canina\nBed 1\nIris pumila\nPage 2\nRosa alba\n3. Salix alba\n(2 rows)\n",
    plants: [
      "*|Plant list|",
      "*|Trees:|",
      "*|Acer rubrum|",
      "*|# Shrubs|",
      "*|Rosa canina|",
      "*|Bed 1|",
      "*|Iris pumila|",
      "*|Page 2|",
      "*|Rosa alba|",
      "*|3. Salix alba|",
      "*|(2 rows)|",
    ],
    doubts: [UNNAMED, TITLE, TITLE, TITLE, TITLE, TITLE, TITLE, TITLE],
  },
  {
    what: "the number of rows below them",
    file: '"Name","Bed"\n"Rosa, pink","1"\n"Iris","2"\n"2 rows"\n',
    plants: ["*|Rosa, pink|1", "*|Iris|2", "*|2 rows|"],
    doubts: [TITLE],
  },
  {
    what: "a heading below twenty-five rows of notes",
    file: `${Array.from({ length: 25 }, (_, at) => `note ${at},\n`).join("")}Species,Bed\nRosa canina,A\n`,
    plants: [...Array.from({ length: 25 }, (_, at) => `*|note ${at}|`), "*|Species|Bed", "*|Rosa canina|A"],
    doubts: [UNNAMED, "not among the first twenty", "column 1"],
  },
  {
    what: "the title of a list that looks like a name, and the day below it",
    file: "Liste der Pflanzen\nRosa canina\nAcer rubrum\nIris pumila\nTilia cordata\nRosa alba\nRosa gallica\nAbies alba\nSalix alba\nBeta vulgaris\nStand 3. Mai 2024\n",
    plants: [
      "*|Liste der Pflanzen|",
      ...["Rosa canina", "Acer rubrum", "Iris pumila", "Tilia cordata", "Rosa alba", "Rosa gallica", "Abies alba", "Salix alba"].map(
        (name) => `*|${name}|`,
      ),
      "*|Beta vulgaris|",
      "*|Stand 3. Mai 2024|",
    ],
    doubts: [UNNAMED, TITLE, TITLE],
  },
  {
    what: "names that are numbered by letters",
    file: "Plant A\nPlant B\nPlant C\n",
    plants: ["*|Plant A|", "*|Plant B|", "*|Plant C|"],
    doubts: [UNNAMED],
  },
  {
    what: "a second table beside the first whose headings are numbered",
    file: "Plant,Plot,Plant 2,Plot 2\nRosa canina,A,Acer rubrum,B\nIris pumila,B,Salix alba,C\n",
    plants: ["*|Rosa canina|A", "*|Iris pumila|B"],
    doubts: ["called Plant 2 too"],
  },
  {
    what: "crops and their varieties",
    file: "Plant,Variety,Qty\nTomato,Gardener's Delight,3\nTomato,Sungold,5\nPea,Kelvedon Wonder,100\n",
    plants: ["*|Tomato 'Gardener's Delight'|", "*|Tomato 'Sungold'|", "*|Pea 'Kelvedon Wonder'|"],
  },
  {
    what: "varieties before the species that they are of",
    file: "Seed;Variety;Species;Bed\nTomato;Sungold;Solanum lycopersicum;A\nTomato;Moneymaker;Solanum lycopersicum;B\n",
    plants: ["*|Solanum lycopersicum 'Sungold'|A", "*|Solanum lycopersicum 'Moneymaker'|B"],
  },
  {
    what: "cultivars that are in the whole name too",
    file: "Nr,Taxon,Cultivar\n1,Salix alba 'Tristis','Tristis'\n2,Rosa 'Peace',Peace\n",
    plants: ["1|Salix alba 'Tristis'|", "2|Rosa 'Peace'|"],
  },
  {
    what: "words of gardeners for varieties",
    file: "Genus,Species,Variety\nRosa,canina,unknown\nTulipa,,dwarf mix\nOcimum,basilicum,purple\nBrassica,oleracea,capitata\nRosa,,Peace\n",
    plants: [
      "*|Rosa canina unknown|",
      "*|Tulipa dwarf mix|",
      "*|Ocimum basilicum purple|",
      "*|Brassica oleracea var. capitata|",
      "*|Rosa 'Peace'|",
    ],
    doubts: ["no epithet", "no epithet", "no epithet"],
  },
  { what: "numbers under `Sort`", file: "Genus,Species,Sort\nSalix,alba,1\nRosa,canina,2\n", plants: ["*|Salix alba|", "*|Rosa canina|"] },
  {
    what: "yes and no under `Variety`",
    file: "Genus,Species,Variety\nSalix,alba,yes\nRosa,canina,no\n",
    plants: ["*|Salix alba|", "*|Rosa canina|"],
  },
  {
    what: "two tables side by side",
    file: "Genus,Species,Genus,Species\nRosa,canina,Acer,rubrum\nIris,pumila,Tilia,cordata\n",
    plants: ["*|Rosa canina|", "*|Iris pumila|"],
    doubts: ["called Genus too"],
  },
  {
    what: "two rows of a heading, the upper one of merged groups over all columns",
    file: "Taxon,Taxon,Taxon,Place,Place\nGenus,Species,Cultivar,House,Bed\nAcer,palmatum,Osakazuki,H1,3\nRosa,canina,,H2,4\n",
    plants: ["*|Acer palmatum 'Osakazuki'|3", "*|Rosa canina|4"],
    skipped: 1,
  },
];
