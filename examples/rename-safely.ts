// Renames a plant without losing anyone else's change: the plant is changed only if it is still as it was read.
//   PLANT_STORE_URL=http://127.0.0.1:8080 PLANT_STORE_TOKEN=$(cat data/first-token) npx bun examples/rename-safely.ts
import { ERROR_NUMBERS, ServiceError, createClient } from "plant-store-client";

const { PLANT_STORE_URL: url = "http://127.0.0.1:8080", PLANT_STORE_TOKEN: token = "" } = process.env;
const plants = createClient({ url, token });
const id = 9007199254740995n;

await plants.put({ id, name: "Acer palmatum" });
let isFirstTry = true;
const renamed = await rename(async (name) => {
  // While we choose the new name, someone else is faster.
  if (isFirstTry) await plants.patch(id, { name: `${name} Thunb.`, tag: "maple" });
  isFirstTry = false;
  return `${name} 'Bloodgood'`;
});
console.log(`stored: ${renamed.name}, ${renamed.tag}`);

/** Renames the plant to what `choose` returns for its present name. */
async function rename(choose: (name: string) => Promise<string>) {
  for (;;) {
    const found = await plants.find(id);
    if (!found) throw new Error("The plant is gone.");
    console.log(`read: ${found.plant.name}`);
    try {
      const name = await choose(found.plant.name);
      return (await plants.patch(id, { name }, { ifMatch: found.etag })).plant;
    } catch (thrown) {
      const isStale = thrown instanceof ServiceError && thrown.error === ERROR_NUMBERS.precondition_failed;
      if (!isStale) throw thrown;
      console.log("changed meanwhile: reading it again");
    }
  }
}
