import { ConnectionError, createClient, ERROR_NUMBERS, ServiceError } from "../client/client.ts";
import type { ImportProgress } from "../client/client.ts";
import { PlantStoreError } from "../domain/errors.ts";
import { adviceOn, describeFailure } from "../runtime/system-failure.ts";
import { toCsvQuery } from "../files/csv-options.ts";
import { fileLimits } from "../files/row.ts";
import type { Problem } from "../files/import.ts";
import { toSentCsv } from "../files/sheet.ts";
import { TableError } from "../files/table-error.ts";
import type { PlantAccess } from "./plant-access.ts";

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
    async import(source, { packed, onSent, onConflict, dryRun, csv, onProblem }) {
      const format = source.format === "sheet" ? "csv" : source.format;
      const reasons = new Map<number, PlantStoreError>();
      const bytes = source.format === "sheet" ? toSentCsv(source.sheet, { ...SENDER_LIMITS, csv }, reasons) : source.bytes;
      const call = { format, onConflict, dryRun, ...(format === "csv" ? toCsvQuery(csv) : {}) };
      let sent = 0;
      function onProgress({ bytes: all }: ImportProgress): void {
        onSent(all - sent);
        sent = all;
      }
      const sending = packed ? client.importPlants(packed, { ...call, onProgress }) : client.importPlants(bytes, call);
      const summary = await sending.catch((reason: unknown) => {
        throw dryRun ? withAddress(reason, url) : withDoubt(withAddress(reason, url));
      });
      const problems = summary.problems.map((problem) => withReason(problem, reasons.get(problem.line)));
      problems.forEach(onProblem);
      return { ...summary, problems };
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

/** What a service accepts is for it to say: here only the faults of cells count. */
const SENDER_LIMITS = fileLimits(Infinity);

/** A row of a workbook was refused here, and sent as a line that is refused there. */
function withReason(problem: Problem, reason: PlantStoreError | undefined): Problem {
  return reason ? { line: problem.line, error: reason.number, message: reason.message } : problem;
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
  const isOfFile = reason instanceof PlantStoreError || reason instanceof TableError;
  if (!isOfFile && !(reason instanceof ServiceError && LATE.has(reason.error))) return reason;
  return new Error(`${reason.message} Rows before that may be stored: it is safe to import the file again.`, { cause: reason });
}
