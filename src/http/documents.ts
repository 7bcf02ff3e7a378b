import type { Contract } from "../contract.ts";
import type { Handlers } from "./router.ts";

/** The two contracts, for whoever wants to read them. */
export function documentHandlers({ served, base }: Contract): Pick<Handlers, "getContract" | "getBaseContract"> {
  return {
    getContract: () => ({ status: 200, body: served }),
    getBaseContract: () => ({ status: 200, body: base }),
  };
}
