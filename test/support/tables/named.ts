import type { OwnedTable } from "./owned-table.ts";

const CODES = ["*|Rosa canina|A", "*|Salix alba|B"];

/** Which columns make the id, the name and the tag. */
export const NAMED: readonly OwnedTable[] = [
  {
    what: "genus, species, rank and epithet",
    file: "Genus,Species,Rank,Epithet,Author\nAcer,palmatum,var.,dissectum,(Thunb.) Miq.\nQuercus,robur,,,L.\n",
    plants: ["*|Acer palmatum var. dissectum (Thunb.) Miq.|", "*|Quercus robur L.|"],
  },
  {
    what: "genre, espèce, rang et épithète",
    file: "Genre;Espèce;Rang;Épithète;Auteur\nAcer;palmatum;var.;dissectum;Miq.\nSalix;alba;subsp.;vitellina;L.\n",
    plants: ["*|Acer palmatum var. dissectum Miq.|", "*|Salix alba subsp. vitellina L.|"],
  },
  {
    what: "codes of a garden",
    file: "Accession,Name,Bed\n1987.0001,Rosa canina,A\n2019-0456,Salix alba,B\n",
    plants: CODES,
    doubts: ["1987.0001"],
  },
  { what: "numbers with leading zeros", file: "Nr;Name;Beet\n0012;Rosa canina;A\n0013;Salix alba;B\n", plants: CODES, doubts: ["0012"] },
  {
    what: "codes that are numbers with an exponent to others",
    file: "Code,Name,Bed\n1E3,Rosa canina,A\n2E3,Salix alba,B\n",
    plants: CODES,
    doubts: ["1E3"],
  },
  {
    what: "whole numbers with decimals",
    file: "Nr,Name,Bed\n2004.0,Rosa canina,A\n2005.0,Salix alba,B\n",
    plants: CODES,
    doubts: ["2004.0"],
  },
  { what: "numbers in groups", file: "Nr;Name;Beet\n1.000;Rosa canina;A\n1.001;Salix alba;B\n", plants: [], refused: [2, 3] },
  {
    what: "the same number twice",
    file: "Nr,Name,Bed\n1,Rosa canina,A\n1,Salix alba,B\n",
    plants: CODES,
    doubts: ["the same number twice"],
  },
  {
    what: "a column called id with a code in it",
    file: "id,name,tag\n1,Rosa canina,A\n0012,Salix alba,B\n1E3,Acer rubrum,C\n2004.0,Abies alba,D\n",
    plants: ["1|Rosa canina|A"],
    refused: [3, 4, 5],
  },
  { what: "ids that some plants lack", file: "id,name,tag\n1,Rosa canina,A\n,Salix alba,B\n", plants: ["1|Rosa canina|A"], refused: [3] },
  { what: "a column of numbers that are no ids", file: "Count,Name,Bed\n20,Rosa canina,A\n5,Salix alba,B\n", plants: CODES },
  {
    what: "a year beside the name",
    file: "Year,Name,Height\n1998,Rosa canina,2\n2004,Salix alba,10\n",
    plants: ["*|Rosa canina|", "*|Salix alba|"],
  },
  {
    what: "a common name first",
    file: "Common name,Botanical name,Family\nDog rose,Rosa canina,Rosaceae\nWhite willow,Salix alba,Salicaceae\n",
    plants: ["*|Rosa canina|Rosaceae", "*|Salix alba|Salicaceae"],
  },
  { what: "common names only", file: "Nr,Common name,Bed\n1,Dog rose,A\n2,White willow,B\n", plants: ["1|Dog rose|A", "2|White willow|B"] },
  {
    what: "a common name under `Name`, and the genus and the species",
    file: "Name,Genus,Species,Bed\nDog rose,Rosa,canina,A\nWhite willow,Salix,alba,B\n",
    plants: CODES,
  },
  {
    what: "the parts of a name, with rank and author",
    file: "ID,Genus,Species,Rank,Infraspecific epithet,Author,Location\n1,Rosa,canina,,,L.,A\n2,Salix,alba,var.,vitellina,(L.) Stokes,B\n",
    plants: ["1|Rosa canina L.|A", "2|Salix alba var. vitellina (L.) Stokes|B"],
  },
  {
    what: "German parts of a name, in another order",
    file: "Beet;Sorte;Art;Gattung;Nr.\nA;Peace;;Rosa;1\nB;Tristis;alba;Salix;2\n",
    plants: ["1|Rosa 'Peace'|A", "2|Salix alba 'Tristis'|B"],
  },
  {
    what: "the group in the first column",
    file: "Group,Plant,Qty\nRoses,Rosa canina,2\nWillows,Salix alba,1\n",
    plants: ["*|Rosa canina|Roses", "*|Salix alba|Willows"],
  },
  {
    what: "an empty column of tags beside one with tags",
    file: "id,name,tag,family\n1,Rosa canina,,Rosaceae\n2,Salix alba,,Salicaceae\n",
    plants: ["1|Rosa canina|Rosaceae", "2|Salix alba|Salicaceae"],
  },
  {
    what: "coordinates under `Location`, and a bed",
    file: 'Name,Location,Bed\nRosa canina,"50.0123,14.4567",A\nSalix alba,"50.0456,14.4987",B\n',
    plants: CODES,
  },
  {
    what: "the parts of a name, without a heading",
    file: "4,Rosa,canina\n2,Salix,alba\n9,Acer,rubrum\n",
    plants: ["4|Rosa canina|", "2|Salix alba|", "9|Acer rubrum|"],
    doubts: ["first row is a plant", "column 2 and the column 3", "counts something"],
  },
  { what: "two columns of the same name", file: "Name,Bed,Bed\nRosa canina,A,x\nSalix alba,B,y\n", plants: CODES },
  {
    what: "common names under `Name` beside botanical ones",
    file: "Name;Botanischer Name;Beet\nHundsrose;Rosa canina;A\nSilberweide;Salix alba;B\n",
    plants: CODES,
  },
  {
    what: "common names beside Latin ones, without a heading",
    file: "Dog rose;Rosa canina;A\nWhite willow;Salix alba;B\n",
    plants: ["*|Rosa canina|", "*|Salix alba|"],
    doubts: ["first row is a plant", "column 2"],
  },
  {
    what: "a number of plants under `Number`",
    file: "Number,Name,Bed\n20,Rosa canina,A\n5,Salix alba,B\n",
    plants: ["20|Rosa canina|A", "5|Salix alba|B"],
    doubts: ["counts something"],
  },
  {
    what: "numbers of plants in the first column, without a heading",
    file: "20,Rosa canina\n5,Salix alba\n",
    plants: ["20|Rosa canina|", "5|Salix alba|"],
    doubts: ["first row is a plant", "column 2", "counts something"],
  },
  { what: "an empty column of numbers", file: "Nr,Name,Bed\n,Rosa canina,A\n,Salix alba,B\n", plants: CODES },
  {
    what: "rows of three and of four cells, without a heading",
    file: "1,Rosa canina,A\n2,Salix, white,B\n3,Acer rubrum,C\n",
    plants: ["1|Rosa canina|A", "3|Acer rubrum|C"],
    refused: [2],
    doubts: ["first row is a plant", "different numbers of cells", "column 2"],
  },
  { what: "a row without a name", file: 'Nr,Name,Bed\n1,Rosa canina,A\n2,,B\n3," ",C\n', plants: ["1|Rosa canina|A"], refused: [3, 4] },
  {
    what: "plants whose cells are words of headings",
    file: "Group,A\nArt,B\nTyp,C\nFamily,D\n",
    plants: ["*|Group|A", "*|Art|B", "*|Typ|C", "*|Family|D"],
    doubts: ["first row is a plant", "column 1"],
  },
  {
    what: "plants whose cells are words for names",
    file: "Art,A\nSorte,B\nPlant,C\nGenus,D\n",
    plants: ["*|Art|A", "*|Sorte|B", "*|Plant|C", "*|Genus|D"],
    doubts: ["first row is a plant", "column 1"],
  },
  {
    what: "an export of ours, whose cells stand as they are",
    file: 'id,name,tag\n5,Ginkgo,tree\n9,"list:\n5,Evil,tree\nend",x\n10," note ",\n',
    plants: ["5|Ginkgo|tree", "9|list:\n5,Evil,tree\nend|x", "10| note |"],
  },
];
