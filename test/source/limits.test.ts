import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "bun:test";
import { PROJECT } from "../support/process.ts";

const read = (path: string) => readFileSync(join(PROJECT, path), "utf8");
const page = read("docs/reference/limits.md").replaceAll(/\s+/g, " ");

const PAGES = 1 / 4096;
const S = 1000;
const MINUTES = 60 * S;
const KIB = 1024;
const MIB = 1024 * KIB;

/** What the page says, with its number as N, where the code has it, and how many of the code's units one of the page's is. */
const LIMITS: ReadonlyArray<readonly [says: string, file: string, name: string, unit?: number]> = [
  ["open files; N for the metrics", "app/service.ts", "METRICS_CONNECTIONS_MAX"],
  ["**Head of a request**: N KiB", "http/wire/head-reader.ts", "HEAD_BYTES_MAX", KIB],
  ["KiB and N headers", "http/wire/fields.ts", "FIELDS_MAX"],
  ["ahead of a response**: N KiB", "http/wire/input.ts", "BUFFERED_BYTES_MAX", KIB],
  ["**Line before a chunk**: N KiB", "http/wire/chunked.ts", "LINE_BYTES_MAX", KIB],
  ["**Trailers**: N KiB", "http/wire/chunked.ts", "TRAILER_BYTES_MAX", KIB],
  ["is closed after N s", "http/wire/timeouts.ts", "SILENCE_MS", S],
  ["may pause for N s", "http/transfer.ts", "IDLE_SECONDS"],
  ["**Between two requests**: N minutes", "http/wire/timeouts.ts", "IDLE_MS", MINUTES],
  ["more than N times its size", "files/packed-file.ts", "RATIO_MAX"],
  ["its size, and N MB,", "files/packed-file.ts", "LONG_BYTES", 1_000_000],
  ["more than N lines", "files/gunzip.ts", "MANY_LINES"],
  ["lines, and N for each of its bytes", "files/gunzip.ts", "LINES_RATIO_MAX"],
  ["must send N bytes a second", "http/import.ts", "bytesPerSecondMin"],
  ["waited for it for N s", "http/import.ts", "GRACE_SECONDS"],
  ["still sends**: N s", "http/wire/timeouts.ts", "LINGER_MS", S],
  ["5 s and N MB", "http/wire/connection.ts", "LINGER_BYTES_MAX", MIB],
  ["remembers N owners", "runtime/leaky-bucket.ts", "OWNERS_MAX"],
  ["one for each N characters", "store/commit-size.ts", "PLACE_CHARACTERS"],
  ["names with N characters", "store/commit-size.ts", "POSTGRES_COMMIT_SEARCHED"],
  ["`PLANT_STORE_BODY_BYTES_MAX`; N at the same time", "app/concurrency.ts", "BULKS_MAX"],
  ["same time. N changes of a request wait", "http/bulk-changes.ts", "AT_A_TIME"],
  ["have not begun after N s", "http/bulk-changes.ts", "BEGIN_MS_MAX", S],
  ["**Lock of the database file**: N s", "store/sqlite/engine/writer.ts", "BUSY_MS", S],
  ["against other changes**: N.", "http/plants.ts", "TRIES_MAX"],
  ["of one token, N in all. Further ones are sent", "http/admission.ts", "WAITING_MAX"],
  ["**A page**: N plants", "http/plant-lists.ts", "PAGE_MAX"],
  ["**A search**: N words", "domain/plant-filter.ts", "WORDS_MAX"],
  ["1,000 characters; N s", "store/sqlite/search/searcher.ts", "LIST_MS_MAX", S],
  ["match in the index**: N", "store/sqlite/search/expression.ts", "ALTERNATIVES_MAX"],
  ["characters of a name**: N", "domain/terms.ts", "SEARCHED_LENGTH_MAX"],
  ["also lists): N of one token", "app/concurrency.ts", "waitingMax"],
  ["512 in all; N s", "app/concurrency.ts", "waitMs", S],
  ["**Tags in a list**: N", "store/tags.ts", "TAGS_MAX"],
  ["tags that takes longer than N s", "store/tags.ts", "EXPENSIVE_MS", S],
  ["not read yet**: N MB", "http/response-budget.ts", "BYTES_MAX", MIB],
  ["in all, or N times", "http/response-budget.ts", "PLANTS_MIN"],
  ["compressed at the same time**: N", "http/representation.ts", "AT_A_TIME_MAX"],
  ["**Imports** at the same time: N", "app/concurrency.ts", "IMPORTS_MAX"],
  ["**Exports**: N", "app/concurrency.ts", "EXPORTS_MAX"],
  ["**An export**: N minutes", "store/snapshots.ts", "SNAPSHOT_MS_MAX", MINUTES],
  ["also N MB in the WAL", "store/sqlite/engine/requirements.ts", "SNAPSHOT_WAL_PAGES_MAX", MIB * PAGES],
  ["and N bytes. The plant", "files/file-limits.ts", "REST_BYTES"],
  ["takes in one step**: N", "store/sqlite/search/indexer.ts", "STEP_WORDS"],
  ["for the index for N s", "store/sqlite/search/searcher.ts", "REACH_MS_MAX", S],
  ["commit of an import**: N, or", "store/commit-size.ts", "plants"],
  ["as have N searched characters", "store/commit-size.ts", "searched"],
  ["list of tokens**: N", "store/tokens.ts", "TOKENS_PAGE_MAX"],
  ["authentication remembers**: N", "app/service-app.ts", "TOKEN_CACHE_MAX"],
  ["N for writes", "store/postgres/pooled-server.ts", "WRITES_MAX"],
  ["N for reads", "store/postgres/pooled-server.ts", "READS_MAX"],
  ["N for lists", "store/postgres/pooled-server.ts", "LISTS_MAX"],
  ["N for imports", "store/postgres/pooled-server.ts", "IMPORTS_MAX"],
  ["N for probes", "store/postgres/pooled-server.ts", "PROBES_MAX"],
  ["each export. N requests may wait", "store/postgres/engine/pool.ts", "WAITING_MAX"],
  ["at least N s for a list", "store/postgres/pooled-server.ts", "LIST_PATIENCE_MS", S],
  ["N s for an import", "store/postgres/pooled-server.ts", "IMPORT_PATIENCE_MS", S],
  ["**A new connection**: N s", "store/postgres/engine/pool.ts", "CONNECT_MS_MAX", S],
  ["**A list or search**: N s", "store/postgres/plant-lists.ts", "LIST_MS_MAX", S],
  ["of what matches: N s", "store/postgres/counts.ts", "statementMs", S],
  ["**A count of all tags**: N s", "store/postgres/tags.ts", "COUNT_MS_MAX", S],
  ["of which a request waits for N s", "store/tags.ts", "WAIT_MS_MAX", S],
  ["**A commit of an import**: N s", "store/postgres/server-plants.ts", "IMPORT_MS_MAX", S],
  ["**A start without a database**: N s", "store/postgres/store.ts", "START_MS_MAX", S],
  ["N in a second by the sampler", "tracing/sampler.ts", "own"],
  ["N that their callers wish", "tracing/sampler.ts", "caller"],
  ["N without a valid token", "tracing/sampler.ts", "stranger"],
  ["N calls of the store each", "tracing/traced-store.ts", "CALLS_MAX"],
  ["**Waiting for the collector**: N spans", "tracing/span-queue.ts", "QUEUE_MAX"],
  ["and N that are being sent", "tracing/span-queue.ts", "BATCH_MAX"],
  ["being sent, for N s", "tracing/exporter.ts", "SEND_MS_MAX", S],
];

for (const [says, file, name, unit = 1] of LIMITS) {
  it(`docs/reference/limits.md has ${name} of src/${file}: ${says}`, () => {
    const [before, behind] = says.split(/\bN\b/).map((text) => RegExp.escape(text));
    const onPage = new RegExp(`${before}([\\d.,]*\\d)${behind}`).exec(page)?.[1];
    const factors = new RegExp(`\\b${name}(?: =|:) ([\\d_ *]+)`).exec(read(`src/${file}`))?.[1];
    const inCode = factors?.split("*").reduce((product, factor) => product * Number(factor.replaceAll("_", "")), 1);
    expect(Number(onPage?.replaceAll(",", "")) * unit).toBe(inCode!);
  });
}
