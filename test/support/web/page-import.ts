import type { Client } from "../../../src/client/client.ts";
import type { Asked } from "../../../src/files/reading/reading.ts";
import { checkFile } from "../../../web/import/check-file.ts";
import type { CheckedFile } from "../../../web/import/check-file.ts";
import { previewImport } from "../../../web/import/preview.ts";
import type { Preview } from "../../../web/import/preview.ts";
import { nothingSent, sendFile } from "../../../web/import/send-file.ts";
import type { SentSoFar } from "../../../web/import/send-file.ts";
import type { OnConflict } from "../../../web/import/send-slice.ts";

/** No one stops anything. */
export const { signal } = new AbortController();

/** What the page says of a file before it sends it. */
export function check(content: string | Uint8Array, name = "plants.csv", asked: Asked = {}): Promise<CheckedFile> {
  return checkFile(new File([typeof content === "string" ? content : new Uint8Array(content)], name), asked, { signal });
}

/** What the page shows in the end of what an import would do. */
export async function preview(checked: CheckedFile, client: Client, onConflict: OnConflict = "refuse"): Promise<Preview> {
  let last: Preview | undefined;
  await previewImport(checked, { client, onConflict, signal, onPreview: (next) => (last = next) });
  return last!;
}

/** Imports a file as the page does. */
export async function send(checked: CheckedFile, client: Client, onConflict: OnConflict = "refuse"): Promise<SentSoFar> {
  let sent: SentSoFar = nothingSent();
  await sendFile(checked, sent, { client, onConflict, signal, onProgress: (next) => (sent = next) });
  return sent;
}
