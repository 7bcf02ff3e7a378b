// Adds two plants and finds them by id, by tag and by words in their names. Running it again changes nothing.
//   PLANT_STORE_URL=http://127.0.0.1:8080 PLANT_STORE_TOKEN=$(cat data/first-token) npx bun examples/add-and-find.ts
import { createClient } from "plant-store-client";

const { PLANT_STORE_URL: url = "http://127.0.0.1:8080", PLANT_STORE_TOKEN: token = "" } = process.env;
const plants = createClient({ url, token });

// An id is any 64-bit integer, so it is a bigint. As a number, 9007199254740993 would be rounded to another id.
await plants.create({ id: 9007199254740993n, name: "Monstera adansonii", tag: "example" });
await plants.create({ id: 9007199254740994n, name: "Ginkgo biloba", tag: "example" });

const found = await plants.find(9007199254740993n);
console.log(`by id: ${found?.plant.name}`);

// However many there are: the loop fetches page after page.
for await (const { id, name } of plants.list({ tag: "example" })) console.log(`by tag: ${id} ${name}`);

// Words may be prefixes, in any order.
for await (const { id, name } of plants.list({ q: "adans mon", tag: "example" })) console.log(`by words: ${id} ${name}`);
