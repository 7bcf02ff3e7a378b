import { fileURLToPath } from "node:url";
import manifest from "../../package.json" with { type: "json" };

export const PROJECT = fileURLToPath(new URL("../..", import.meta.url));

export const VERSION = manifest.version;
