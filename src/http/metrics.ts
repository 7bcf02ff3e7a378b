import { randomUUID } from "node:crypto";
import { PlantStoreError } from "../domain/errors.ts";
import type { Log } from "../runtime/log.ts";
import type { Metrics } from "../runtime/metrics.ts";
import { chooseType } from "./accept.ts";
import type { App } from "./app.ts";
import { toErrorResponse, toExpected } from "./error-response.ts";
import { OPEN_METRICS, PROMETHEUS_TEXT } from "./exposition.ts";
import type { HttpRequest } from "./wire/request.ts";
import type { HttpResponse } from "./wire/response.ts";

/**
 * Serves `GET /metrics` and nothing else, without a token: it has an address of its own, which the network can close to
 * the world.
 */
export function createMetricsApp(metrics: Metrics, log: Log): Pick<App, "answer" | "refuse"> {
  let reading: ReturnType<Metrics["read"]> | undefined;

  /** Many who ask at once share one look: on PostgreSQL it takes connections that lists need. */
  function read(): ReturnType<Metrics["read"]> {
    reading ??= metrics.read().finally(() => (reading = undefined));
    return reading;
  }

  async function answer({ path, method, headers }: HttpRequest): Promise<HttpResponse> {
    if (path !== "/metrics") throw new PlantStoreError("unknown_path");
    if (method !== "GET" && method !== "HEAD") throw new PlantStoreError("method_not_allowed", { headers: { allow: "GET, HEAD" } });
    const type = chooseType(headers.get("accept"), [PROMETHEUS_TEXT.type, OPEN_METRICS.type]);
    const { write } = type === OPEN_METRICS.type ? OPEN_METRICS : PROMETHEUS_TEXT;
    return { status: 200, body: write(await read()), headers: { "content-type": type, vary: "Accept" } };
  }

  const fail = (thrown: unknown) => toErrorResponse(toExpected(thrown, log, randomUUID()));
  return { answer: (request) => answer(request).catch(fail), refuse: fail };
}
