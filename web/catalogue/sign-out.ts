import { PlantStoreClientError } from "../../src/client/client.ts";
import type { Fetch } from "../../src/client/client.ts";

/** Why nothing more is sent for somebody who has signed out. The client passes it on as it is, and does not try again. */
export class SignedOutError extends PlantStoreClientError {
  constructor() {
    super({ message: "Signed out.", isRepeatable: false });
  }
}

export type SignedInFetch = Readonly<{
  fetch: Fetch;
  /** How many changes were sent so far, each try counted. */
  changesSent: () => number;
}>;

/**
 * A `fetch` that sends nothing once its user has signed out, no matter who signs in next. What is being read ends then. A
 * change that is on its way goes on, as it may be made already, and its response tells.
 */
export function createSignedInFetch(fetch: Fetch, signedOut: AbortSignal): SignedInFetch {
  let changesSent = 0;
  return {
    async fetch(url, init) {
      signedOut.throwIfAborted();
      if (init.method === "GET")
        return fetch(url, { ...init, signal: init.signal ? AbortSignal.any([init.signal, signedOut]) : signedOut });
      changesSent += 1;
      return fetch(url, init);
    },
    changesSent: () => changesSent,
  };
}
