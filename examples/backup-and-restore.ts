// Writes the whole catalogue to a file, then imports it into another service, or into the same one, where nothing
// changes.
//   PLANT_STORE_URL=http://127.0.0.1:8080 PLANT_STORE_TOKEN=$(cat data/first-token) npx bun examples/backup-and-restore.ts plants.backup
//   The other service is RESTORE_URL, with RESTORE_TOKEN.
import { openAsBlob } from "node:fs";
import { rename, writeFile } from "node:fs/promises";
import { createClient } from "plant-store-client";

const { PLANT_STORE_URL: url = "http://127.0.0.1:8080", PLANT_STORE_TOKEN: token = "" } = process.env;
const { RESTORE_URL: otherUrl = url, RESTORE_TOKEN: otherToken = token } = process.env;
const path = process.argv[2] ?? "plants.backup";

// Straight from the service to the disk. Only if the stream reaches its end is the file complete and gets its name.
await writeFile(`${path}.part`, await createClient({ url, token }).exportPlants());
await rename(`${path}.part`, path);
console.log(`saved: ${path}`);

// Straight from the disk to the service, no faster than it stores. If the import fails, it is safe to run it again.
const restored = await createClient({ url: otherUrl, token: otherToken }).importPlants(await openAsBlob(path), { onConflict: "replace" });
console.log(
  `restored: ${restored.created} new, ${restored.replaced} replaced, ${restored.unchanged} unchanged, ${restored.refused} refused`,
);
for (const { line, message } of restored.problems) console.log(`line ${line}: ${message}`);
