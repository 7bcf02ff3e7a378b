import type { OwnedTable } from "./owned-table.ts";

const PLAIN = ["1|Rosa canina|Hedge", "2|Salix alba|Pond"];

/** What stands between cells and around them, and how lines end. */
export const FORMS: readonly OwnedTable[] = [
  {
    what: "semicolons, with commas in the numbers",
    file: "Nr;Name;Höhe;Beet\r\n1;Rosa canina;1,5;Hedge\r\n2;Salix alba;12,25;Pond\r\n",
    plants: PLAIN,
  },
  {
    what: "semicolons, with commas in every name",
    file: "Nr;Name;Bed\n1;Rosa, dog;A\n2;Salix, white;B\n3;Acer, red;C\n",
    plants: ["1|Rosa, dog|A", "2|Salix, white|B", "3|Acer, red|C"],
  },
  { what: "bars", file: "id|name|tag\n1|Rosa canina|Hedge\n2|Salix alba|Pond\n", plants: PLAIN },
  {
    what: "bars, with commas in the authors",
    file: "taxon_name|taxon_authors|family\nRosa canina|L., Mill.|Rosaceae\nSalix alba|L., Mill.|Salicaceae\n",
    plants: ["*|Rosa canina|Rosaceae", "*|Salix alba|Salicaceae"],
  },
  { what: "tabs", file: "Name\tLocation\nRosa canina\tHedge\nSalix alba\tPond\n", plants: ["*|Rosa canina|Hedge", "*|Salix alba|Pond"] },
  {
    what: "tabs, with quotes around cells that need them",
    file: 'id\tname\ttag\n1\t"Rosa\tcanina"\tHedge\n2\t"Salix ""Golden"""\tPond\n',
    plants: ["1|Rosa\tcanina|Hedge", '2|Salix "Golden"|Pond'],
  },
  {
    what: "tabs, with quotes that are inches",
    file: 'id\tname\tpot\n1\tRosa canina\t5"\n2\tSalix alba\t7" deep\n3\tAcer rubrum\t"old"\n',
    plants: ["1|Rosa canina|", "2|Salix alba|", "3|Acer rubrum|"],
  },
  {
    what: "tabs, with a quote that opens and is closed on a later line",
    file: 'id\tname\tnote\n1\tRosa canina\t"old\n2\tSalix alba\tnew\n3\tAcer rubrum\told"\n',
    plants: ["1|Rosa canina|", "2|Salix alba|", "3|Acer rubrum|"],
  },
  { what: "a line that says the separator", file: "sep=;\r\nid;name;tag\r\n1;Rosa canina;Hedge\r\n2;Salix alba;Pond\r\n", plants: PLAIN },
  {
    what: "a line in quotes that says the separator, behind a mark",
    file: '\ufeff"sep=\t"\nid\tname\ttag\n1\tRosa canina\tHedge\n2\tSalix alba\tPond\n',
    plants: PLAIN,
  },
  {
    what: "spaces before quotes and around cells",
    file: 'id , name , tag\n1 , "Rosa, dog rose" , Hedge\n2 , Salix alba , Pond\n',
    plants: ["1|Rosa, dog rose|Hedge", "2|Salix alba|Pond"],
  },
  { what: "lines that end in CR", file: "id,name,tag\r1,Rosa canina,Hedge\r2,Salix alba,Pond\r", plants: PLAIN },
  { what: "no end of line at the end", file: "id,name,tag\n1,Rosa canina,Hedge\n2,Salix alba,Pond", plants: PLAIN },
  {
    what: "a byte order mark and quotes around everything",
    file: '\ufeff"id","name","tag"\r\n"1","Rosa canina","Hedge"\r\n"2","Salix alba","Pond"\r\n',
    plants: PLAIN,
  },
  {
    what: "cells of several lines",
    file: 'id,name,tag,notes\n1,Rosa canina,Hedge,"seen 3 May\n4,by Ada\n"\n2,Salix alba,Pond,"wet\n\nyear"\n',
    plants: PLAIN,
  },
  {
    what: "a name over two lines",
    file: 'id;name;tag\n1;"Rosa\ncanina";Hedge\n2;Salix alba;Pond\n',
    plants: ["1|Rosa\ncanina|Hedge", "2|Salix alba|Pond"],
  },
  {
    what: "marks for nothing as tags, and a text in quotes that looks like one",
    file: 'id,name,tag\n1,Rosa canina,\\N\n2,Salix alba,NULL\n3,Acer rubrum,NA\n4,Abies alba,"NA"\n5,Picea abies,n/a\n6,Larix decidua,""\n',
    plants: ["1|Rosa canina|", "2|Salix alba|", "3|Acer rubrum|", "4|Abies alba|NA", "5|Picea abies|", "6|Larix decidua|"],
  },
  {
    what: "trailing separators in all rows",
    file: "Name,Bed,,,\nRosa canina,A,,,\nSalix alba,B,,,\n",
    plants: ["*|Rosa canina|A", "*|Salix alba|B"],
  },
  {
    what: "rows of two lengths, as a database leaves out empty cells at the end",
    file: "id,name,tag,notes\n1,Rosa canina,Hedge\n2,Salix alba,Pond,wet\n3,Acer rubrum\n",
    plants: [...PLAIN, "3|Acer rubrum|"],
  },
  {
    what: "a row with a comma too many",
    file: "id,name,tag\n1,Rosa canina,Hedge\n2,Salix, white,Pond\n3,Acer rubrum,Wood\n",
    plants: ["1|Rosa canina|Hedge", "3|Acer rubrum|Wood"],
    refused: [3],
  },
  { what: "one column with a heading", file: "Plant\nRosa canina\nSalix alba\n", plants: ["*|Rosa canina|", "*|Salix alba|"] },
  {
    what: "one column with a heading, and commas in names",
    file: "Scientific name\nAbies alba Mill., 1768\nRosa 'Peace', Meilland, 1945\nQuercus robur\n",
    plants: ["*|Abies alba Mill., 1768|", "*|Rosa 'Peace', Meilland, 1945|", "*|Quercus robur|"],
    doubts: ["one name"],
  },
  {
    what: "one name a line, with commas in few",
    file: "Abies alba\nRosa 'Peace', Meilland, 1945\nQuercus robur\nAcer rubrum\n",
    plants: ["*|Abies alba|", "*|Rosa 'Peace', Meilland, 1945|", "*|Quercus robur|", "*|Acer rubrum|"],
    doubts: ["one name"],
  },
  {
    what: "one name a line, with one comma in each",
    file: "Rose, dog\nWillow, white\nMaple, red\n",
    plants: ["*|Rose|dog", "*|Willow|white", "*|Maple|red"],
    doubts: ["first row is a plant", "column 1"],
  },
  {
    what: "one name a line, each of one word",
    file: "Rose\nWillow\nMaple\n",
    plants: ["*|Rose|", "*|Willow|", "*|Maple|"],
    doubts: ["first row is a plant"],
  },
];
