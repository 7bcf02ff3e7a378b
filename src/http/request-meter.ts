import type { ErrorCode } from "../domain/errors.ts";
import { SECONDS } from "../runtime/metrics.ts";
import type { Histogram, Metrics } from "../runtime/metrics.ts";

export type RequestMeter = ReturnType<typeof createRequestMeter>;

/** Counts the requests and the errors that they got. */
export function createRequestMeter(metrics: Metrics) {
  const durations = metrics.histogram({
    name: "plant_store_http_request_duration_seconds",
    help: "Requests by operation of the contract and status: from the head to the response, without the time to send that.",
    labels: ["operation", "status"],
    bounds: SECONDS,
  });
  const errors = metrics.counter({
    name: "plant_store_http_errors_total",
    help: "Error responses by code, the name of the error in the contract.",
    labels: ["code"],
  });
  // One for each status, by operation: finding it by its labels would cost a request three times as much.
  const found = new Map<string, Histogram[]>();

  function find(operation: string, status: number): Histogram {
    const histogram = durations(operation, String(status));
    const byStatus = found.get(operation) ?? [];
    byStatus[status] = histogram;
    found.set(operation, byStatus);
    return histogram;
  }

  return {
    /** `operation`: of the contract; else "static" or "none". `since`: when the request began, by `performance.now()`. */
    answered(operation: string, status: number, since: number): void {
      const histogram = found.get(operation)?.[status] ?? find(operation, status);
      histogram.observe((performance.now() - since) / 1000);
    },
    failed(code: ErrorCode): void {
      errors(code).value += 1;
    },
  };
}
