import { ConnectionError, createClient, ERROR_NUMBERS, ServiceError } from "../client/client.ts";
import { PlantStoreError } from "../domain/errors.ts";
import { adviceOn, describeFailure } from "../runtime/system-failure.ts";
import type { PlantAccess } from "./plant-access.ts";
import { readPlants } from "./sent-plants.ts";

/** The plants of a running service, with the token in PLANT_STORE_TOKEN. Throws when one of the two cannot be one. */
export function openServiceAccess(url: string): PlantAccess {
  // A file of variables may have spaces or the line ends of Windows around it. No token has.
  const token = process.env["PLANT_STORE_TOKEN"]?.trim();
  if (!token) throw new Error("There is no token: set the environment variable PLANT_STORE_TOKEN.");
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? ""))
    throw new Error(`${url === "" ? "An empty text" : url} is not the address of a service: use one such as http://127.0.0.1:8080.`);
  if (!/^[\x21-\x7e]+$/.test(token) || /["']/.test(token))
    throw new Error("PLANT_STORE_TOKEN is not a token: it has spaces, quotes or other characters that no token has.");
  const client = createClient({ url, token });
  return {
    async import(source, { onConflict, dryRun, asked, onProblem }) {
      const send = (text: AsyncIterable<string> | readonly string[], how: "refuse" | "replace") =>
        client.importPlants(text, { format: "ndjson", onConflict: how, dryRun });
      const kept: string[] = [];
      try {
        const plants = await readPlants(source, asked, onProblem);
        // A row whose id was made replaces nothing. Beside others it is sent when they are: a request does not wait for another.
        const rule = plants.areIdsMade ? "refuse" : onConflict;
        const summaries = [await send(plants.lines(rule === "replace" ? kept : undefined), rule)];
        if (kept.length > 0) summaries.push(await send(kept, "refuse"));
        for (const { problems } of summaries) problems.forEach(onProblem);
        return plants.total(summaries);
      } catch (reason) {
        throw dryRun ? withAddress(reason, url) : withDoubt(withAddress(reason, url));
      }
    },
    async *export(form, filter) {
      try {
        yield* await client.exportPlants({ ...form, ...filter });
      } catch (reason) {
        throw withAddress(reason, url);
      }
    },
    close: () => Promise.resolve(),
  };
}

/** The client speaks of requests: who runs a command wants to know which service, and why. */
function withAddress(reason: unknown, url: string): unknown {
  if (!(reason instanceof ConnectionError)) return reason;
  const advice = adviceOn(reason.cause) ?? "check the address";
  return new Error(`The connection to ${url} failed (${describeFailure(reason.cause)}): ${advice}. It is safe to repeat the command.`, {
    cause: reason,
  });
}

/** What a service may refuse in the middle of a file, when it has stored what came before. */
const LATE = new Set<number>(
  (
    ["malformed_gzip", "body_too_large", "incomplete_body", "too_slow", "internal", "store_unavailable", "store_full", "draining"] as const
  ).map((name) => ERROR_NUMBERS[name]),
);

/** Says that rows may be stored, if the service or the file itself broke an import off. */
function withDoubt(reason: unknown): unknown {
  if (!(reason instanceof PlantStoreError) && !(reason instanceof ServiceError && LATE.has(reason.error))) return reason;
  return new Error(`${reason.message} Rows before that may be stored: it is safe to import the file again.`, { cause: reason });
}
