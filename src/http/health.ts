import manifest from "../../package.json" with { type: "json" };
import type { Schemas } from "../../contract/generated/schemas.ts";
import { PlantStoreError } from "../domain/errors.ts";
import type { Handlers } from "./router.ts";
import type { HttpResponse } from "./wire/response.ts";

type HealthOptions = Readonly<{
  /** Throws the reason when the store cannot take changes now. Returns what is missing when it can take some. */
  checkStore: () => string | undefined;
  isDraining: () => boolean;
}>;

/** Whether the process is alive, and whether it should get requests. */
export function healthHandlers({ checkStore, isDraining }: HealthOptions): Pick<Handlers, "getLiveness" | "getReadiness"> {
  const ok = toResponse({ status: "ok" });
  const alive = toResponse({ status: "ok", version: manifest.version });
  return {
    getLiveness: () => alive,
    getReadiness() {
      if (isDraining()) throw new PlantStoreError("draining");
      const missing = checkStore();
      return missing === undefined ? ok : toResponse({ status: "ok", missing });
    },
  };
}

/** Not to be kept: some caches keep a response without `Cache-Control`, such as Varnish for two minutes. */
function toResponse(health: Schemas["Health"]): HttpResponse {
  return { status: 200, body: JSON.stringify(health), headers: { "cache-control": "no-store" } };
}
