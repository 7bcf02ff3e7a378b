import type { Schemas } from "../../contract/generated/schemas.ts";
import { PlantStoreError } from "../errors.ts";
import type { Handlers } from "./router.ts";

type HealthOptions = Readonly<{
  /** Throws the reason when the store cannot take changes now. */
  checkStore: () => void;
  isDraining: () => boolean;
}>;

/** Whether the process is alive, and whether it should get requests. */
export function healthHandlers({ checkStore, isDraining }: HealthOptions): Pick<Handlers, "getLiveness" | "getReadiness"> {
  const ok = { status: 200, body: JSON.stringify({ status: "ok" } satisfies Schemas["Health"]) };
  return {
    getLiveness: () => ok,
    getReadiness() {
      if (isDraining()) throw new PlantStoreError("draining");
      checkStore();
      return ok;
    },
  };
}
