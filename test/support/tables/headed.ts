import type { OwnedTable } from "./owned-table.ts";

const TWO = ["1|Gentiana verna|A1", "2|Primula auricula|A2"];
const MADE = ["*|Gentiana verna|A1", "*|Primula auricula|A2"];

/** Where a table begins and ends, and which of its rows are no plants. */
export const HEADED: readonly OwnedTable[] = [
  {
    what: "three title lines",
    file: "Botanischer Garten;;\nAlpinum, Stand 2025;;\nSeite 1 von 1;;\nNr;Name;Beet\n1;Gentiana verna;A1\n2;Primula auricula;A2\n",
    plants: TWO,
    skipped: 3,
  },
  {
    what: "title lines without separators",
    file: "Alpine house\nprinted 3 May\n\nNr,Name,Bed\n1,Gentiana verna,A1\n2,Primula auricula,A2\n",
    plants: TWO,
    skipped: 2,
  },
  {
    what: "lines of metadata with a word and a value",
    file: "Garden:,Kew,\nDate:,2025-05-03,\nNr,Name,Bed\n1,Gentiana verna,A1\n2,Primula auricula,A2\n",
    plants: TWO,
    skipped: 2,
  },
  {
    what: "a title that is repeated, as merged cells become",
    file: "Alpine house,Alpine house,Alpine house\nNr,Name,Bed\n1,Gentiana verna,A1\n2,Primula auricula,A2\n",
    plants: TWO,
    skipped: 1,
  },
  {
    what: "lines of comments",
    file: "# Alpine house, exported 2025-05-03\n# rows: 2\nNr,Name,Bed\n1,Gentiana verna,A1\n2,Primula auricula,A2\n",
    plants: TWO,
    skipped: 2,
  },
  {
    what: "blank rows between plants and at the end",
    file: "Name,Bed\nGentiana verna,A1\n,\n , \n\nPrimula auricula,A2\n,\n,\n",
    plants: MADE,
    skipped: 4,
  },
  {
    what: "a heading that is repeated on each page",
    file: "Nr,Name,Bed\n1,Gentiana verna,A1\nNr,Name,Bed\n2,Primula auricula,A2\n",
    plants: TWO,
    skipped: 1,
  },
  {
    what: "a total below the table",
    file: "Nr,Name,Bed,Count\n1,Gentiana verna,A1,20\n2,Primula auricula,A2,5\nTotal,,,25\n",
    plants: TWO,
    refused: [4],
  },
  {
    what: "a total in the column of names",
    file: "Name,Bed,Count\nGentiana verna,A1,20\nPrimula auricula,A2,5\nTotal,,25\n",
    plants: [...MADE, "*|Total|"],
    doubts: ["total"],
  },
  { what: "a sum without a word", file: "Name,Bed,Count\nGentiana verna,A1,20\nPrimula auricula,A2,5\n,,25\n", plants: MADE, refused: [4] },
  {
    what: "a row of sums above the plants",
    file: "Nr,Name,Bed,Count\n,,,25\n1,Gentiana verna,A1,20\n2,Primula auricula,A2,5\n",
    plants: TWO,
    refused: [2],
  },
  {
    what: "a note below the table",
    file: "Nr,Name,Bed\n1,Gentiana verna,A1\n2,Primula auricula,A2\n\nSource: the head gardener,,\n",
    plants: TWO,
    refused: [5],
  },
  {
    what: "a heading over two rows",
    file: "Plant,,Place,\nGenus,Species,House,Bed\nGentiana,verna,Alpine,A1\nPrimula,auricula,Alpine,A2\n",
    plants: MADE,
    skipped: 1,
  },
  {
    what: "a row of groups above the heading",
    file: ",Taxonomy,Taxonomy,Place\nNr,Family,Name,Bed\n1,Gentianaceae,Gentiana verna,A1\n2,Primulaceae,Primula auricula,A2\n",
    plants: ["1|Gentiana verna|Gentianaceae", "2|Primula auricula|Primulaceae"],
    skipped: 1,
  },
  {
    what: "a row of numbers of columns below the heading",
    file: "Nr,Name,Bed\n(1),(2),(3)\n1,Gentiana verna,A1\n2,Primula auricula,A2\n",
    plants: TWO,
    refused: [2],
  },
  { what: "columns without names", file: ",Name,,Bed,\n1,Gentiana verna,x,A1,w\n2,Primula auricula,y,A2,z\n", plants: TWO },
  {
    what: "R's names of rows, with an empty heading",
    file: '"","species","family"\n"1","Gentiana verna","Gentianaceae"\n"2","Primula auricula","Primulaceae"\n',
    plants: ["1|Gentiana verna|Gentianaceae", "2|Primula auricula|Primulaceae"],
  },
  {
    what: "the index of pandas",
    file: ",name,bed\n0,Gentiana verna,A1\n1,Primula auricula,A2\n",
    plants: ["0|Gentiana verna|A1", "1|Primula auricula|A2"],
  },
  {
    what: "no heading, and a number first",
    file: "1,Gentiana verna,A1\n2,Primula auricula,A2\n",
    plants: TWO,
    doubts: ["first row is a plant", "column 2"],
  },
  {
    what: "no heading, and two columns",
    file: "Gentiana verna,A1\nPrimula auricula,A2\n",
    plants: MADE,
    doubts: ["first row is a plant", "column 1"],
  },
  {
    what: "a heading in a language that we do not know, above numbers",
    file: "Uimhir,Ainm,Leaba\n1,Gentiana verna,A1\n2,Primula auricula,A2\n",
    plants: ["*|Gentiana verna|", "*|Primula auricula|"],
    doubts: ["Line 1", "Ainm"],
  },
  {
    what: "a heading in a language that we do not know, above words",
    file: "Ainm,Leaba\nGentiana verna,A1\nPrimula auricula,A2\nSilene acaulis,A3\n",
    plants: ["*|Gentiana verna|", "*|Primula auricula|", "*|Silene acaulis|"],
    doubts: ["Line 1", "Ainm"],
  },
  {
    what: "the answers of a form",
    file: '"Timestamp","Email Address","Name of the plant","Where did you see it?"\n"2025/05/03 10:00:00 AM GMT+2","a@example.org","Gentiana verna","A1"\n"2025/05/03 11:00:00 AM GMT+2","b@example.org","Primula auricula","A2"\n',
    plants: ["*|Gentiana verna|", "*|Primula auricula|"],
    doubts: ["Line 1", "Name of the plant"],
  },
  {
    what: "two headings, in two languages",
    file: "Nr,Name,Family\nNr.,Naam,Familie\n1,Gentiana verna,Gentianaceae\n2,Primula auricula,Primulaceae\n",
    plants: ["1|Gentiana verna|Gentianaceae", "2|Primula auricula|Primulaceae"],
    skipped: 1,
    doubts: ["More than one row"],
  },
  {
    what: "a heading of merged cells, whose parts are below",
    file: "Nr,Name,,Beet\n,Gattung,Art,\n1,Gentiana,verna,A1\n2,Primula,auricula,A2\n",
    plants: TWO,
    skipped: 1,
    doubts: ["More than one row"],
  },
  {
    what: "R's names of rows, without a heading",
    file: '"species"\t"family"\n"1"\t"Gentiana verna"\t"Gentianaceae"\n"2"\t"Primula auricula"\t"Primulaceae"\n',
    plants: ["1|Gentiana verna|Gentianaceae", "2|Primula auricula|Primulaceae"],
  },
  {
    what: "a plant above the heading",
    file: "Silene acaulis,,\nNr,Name,Bed\n1,Gentiana verna,A1\n2,Primula auricula,A2\n",
    plants: TWO,
    skipped: 1,
    doubts: ["above"],
  },
  {
    what: "titles of groups between the plants",
    file: "Name,Bed\nGentianaceae,\nGentiana verna,A1\nGentiana acaulis,A3\nGentiana lutea,A4\nGentiana asclepiadea,A5\nPrimulaceae,\nPrimula auricula,A2\nPrimula veris,A6\nPrimula elatior,A7\nPrimula vulgaris,A8\n",
    plants: [
      "*|Gentianaceae|",
      "*|Gentiana verna|A1",
      "*|Gentiana acaulis|A3",
      "*|Gentiana lutea|A4",
      "*|Gentiana asclepiadea|A5",
      "*|Primulaceae|",
      "*|Primula auricula|A2",
      "*|Primula veris|A6",
      "*|Primula elatior|A7",
      "*|Primula vulgaris|A8",
    ],
    doubts: ["title", "title"],
  },
  {
    what: "a note below names that are Latin",
    file: "Name,Bed\nGentiana verna,A1\nPrimula auricula,A2\nSilene acaulis,A3\nDryas octopetala,A4\n\nSource: the head gardener,\n",
    plants: [
      "*|Gentiana verna|A1",
      "*|Primula auricula|A2",
      "*|Silene acaulis|A3",
      "*|Dryas octopetala|A4",
      "*|Source: the head gardener|",
    ],
    doubts: ["note"],
  },
  {
    what: "French headings",
    file: "N°;Genre;Espèce;Cultivar;Emplacement\n1;Gentiana;verna;;A1\n2;Primula;auricula;Adrian;A2\n",
    plants: ["1|Gentiana verna|A1", "2|Primula auricula 'Adrian'|A2"],
  },
  {
    what: "Polish headings",
    file: "Lp.;Nazwa łacińska;Nazwa polska;Rodzina\n1;Gentiana verna;goryczka wiosenna;Gentianaceae\n2;Primula auricula;pierwiosnek łyszczak;Primulaceae\n",
    plants: ["1|Gentiana verna|Gentianaceae", "2|Primula auricula|Primulaceae"],
  },
  {
    what: "Japanese headings",
    file: "番号,和名,学名,科名\n1,ハルリンドウ,Gentiana thunbergii,リンドウ科\n2,サクラソウ,Primula sieboldii,サクラソウ科\n",
    plants: ["1|Gentiana thunbergii|リンドウ科", "2|Primula sieboldii|サクラソウ科"],
  },
];
