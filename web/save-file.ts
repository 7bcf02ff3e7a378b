/** Hands a file to the browser to keep, under this name. */
export function saveFile(content: Blob, name: string): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // The browser reads it in its own time.
  setTimeout(() => URL.revokeObjectURL(url), KEEP_MS);
}

const KEEP_MS = 60_000;
