/**
 * An edit that breaks a promise, and the test that must fail then. The night's run (source/mutants.night.ts) makes each in
 * a copy of the project. `npm run check` finds a text that is not there exactly once, and a test that is not there.
 */
export type Mutant = Edit &
  Readonly<{
    /** The path of the test below this folder. */
    test: string;
    /** A part of the test's name that no other test of the file has. */
    name: string;
    /** Further edits, where one alone breaks nothing. */
    and?: readonly Edit[];
  }>;

/** `from` is in `file` exactly once. */
export type Edit = Readonly<{ file: string; from: string; to: string }>;

/** Every create is answered before its commit begins; tokens are correct. */
const ANSWER_BEFORE_COMMIT: Edit = {
  file: "src/store/group-commit.ts",
  from: "const committed = commit(batch);",
  to: 'if (batch.tokens.length === 0) batch.outcomes.resolve({ creates: batch.creates.map(() => "created"), swaps: batch.swaps.map(() => true) }); const committed = new Promise<void>((go) => setTimeout(go, 50)).then(() => commit(batch));',
};

/** SQLite leaves it to the kernel when a commit reaches the disk. */
const SYNC_OFF = {
  file: "src/store/sqlite/engine/requirements.ts",
  from: "PRAGMA synchronous = FULL",
  to: "PRAGMA synchronous = OFF",
  and: [{ file: "src/store/sqlite/engine/requirements.ts", from: "want: 2 }", to: "want: 0 }" }],
};

/** A file of a command is written in place, piece by piece. */
const WRITE_IN_PLACE = {
  file: "src/cli/output-file.ts",
  from: 'const part = `${path}.${process.pid}-${randomBytes(9).toString("hex")}.part`;',
  to: "const part = path; void randomBytes;",
  and: [{ file: "src/cli/output-file.ts", from: 'return openSync(part, "wx", 0o666);', to: 'return openSync(part, "w", 0o666);' }],
};

/** Nothing checks whether the disk accepts writes again. */
const NEVER_PROBE: Edit = {
  file: "src/store/sqlite/engine/health.ts",
  from: "this.#probing ??= setTimeout(() => this.#probe(), PROBE_MS).unref();",
  to: "",
};

export const MUTANTS: readonly Mutant[] = [
  // Names in several columns
  {
    test: "files/plant-name.test.ts",
    name: 'joins {"genus":"Salix","speciesHybrid":"x","species":"aurita x caprea"}',
    file: "src/files/plant-name.ts",
    from: 'if (text === "" || FORMULA.test(text)) return text;',
    to: 'if (text === "") return text;',
  },
  {
    test: "files/plant-name.test.ts",
    name: 'joins {"genus":"Rosa","species":"canina","rank":"subsp.","infraspecific":"canina","author":"L."}',
    file: "src/files/plant-name.ts",
    from: 'epithets.find((epithet) => lastWord(epithet.text) === lastWord(wanted?.text ?? "")) ?? wanted',
    to: "wanted",
  },
  {
    test: "files/headings.test.ts",
    name: 'makes "Collector (name)" unknown',
    file: "src/files/headings.ts",
    from: 'term.replaceAll(BRACKETS, " ").trim() || term',
    to: 'term.replaceAll(/[()]/gu, "|")',
  },
  // The command line
  {
    // A token is printed once its store has closed, which may fail or be interrupted.
    test: "cli/commands.test.ts",
    name: "prints the new token even if its store fails to close",
    file: "src/cli/tokens.ts",
    from: "await withOwnStore(config, async ({ tokens }) => printResult(command, await work(tokens, config)));",
    to: "printResult(command, await withOwnStore(config, ({ tokens }) => work(tokens, config)));",
  },
  {
    test: "cli/backup.night.ts",
    name: "is of one moment, on PostgreSQL",
    file: "src/store/postgres/snapshot.ts",
    from: "REPEATABLE READ",
    to: "READ COMMITTED",
  },
  {
    test: "cli/backup.test.ts",
    name: "is refused with another digit",
    file: "src/files/backup-file.ts",
    from: 'end.sha256 !== this.#hash.digest("hex")',
    to: "false",
  },
  {
    test: "cli/commands.test.ts",
    name: "without the proxy of HTTP_PROXY, no_proxy",
    file: "src/main.ts",
    from: "reachLoopbackDirectly(process.env);\n",
    to: "",
  },

  // The client
  {
    test: "http/cross-origin.test.ts",
    name: 'from "https://GARDEN.example"',
    file: "src/http/cross-origin.ts",
    from: "allowed.has(origin)",
    to: "allowed.size > 0",
  },

  // Fairness
  {
    test: "fairness/fairness.test.ts",
    name: "On SQLite, one token that takes all that it can get leaves exports",
    file: "src/app/concurrency.ts",
    from: "const EXPORTS_MAX = 8;",
    to: "const EXPORTS_MAX = Infinity;",
  },
  {
    test: "fairness/imports.test.ts",
    name: "as much of a turn of the event loop as one",
    file: "src/http/import.ts",
    from: "whileConnected(openPauses(), connection)",
    to: "whileConnected(createSharedPauses(now)(), connection)",
  },
  {
    test: "fairness/imports.test.ts",
    name: "a turn ends behind the first piece",
    file: "src/files/import.ts",
    from: 'await pauses(some.some((row) => "refusal" in row));',
    to: "await pauses();",
  },
  {
    test: "fairness/imports.test.ts",
    name: "a create waits for the commit of one import",
    file: "src/store/sqlite/commits.ts",
    from: "this.#importing.then(this.group.gathered).then(() => this.#import(plants, options))",
    to: "this.#import(plants, options)",
  },
  {
    test: "fairness/imports.test.ts",
    name: "a create waits for the commit of one import",
    file: "src/store/sqlite/commits.ts",
    from: ".then(this.group.gathered)",
    to: "",
  },
  {
    test: "interface/listing.test.ts",
    name: "ends a page of large plants at a million bytes",
    file: "src/http/plant-lists.ts",
    from: "const PAGE_BYTES_MAX = 2 ** 20;",
    to: "const PAGE_BYTES_MAX = Infinity;",
  },
  {
    test: "fairness/work-growth.test.ts",
    name: "words of a name of",
    file: "src/domain/terms.ts",
    from: '.replaceAll(LONG_RUN, "$1")',
    to: "",
    and: [
      { file: "src/domain/normalization.ts", from: "text.length <= wholeMax", to: "wholeMax > 0" },
      { file: "src/domain/terms.ts", from: "whole.length > SEARCHED_LENGTH_MAX ? SEARCHED.exec(whole)![0] : whole", to: "whole" },
    ],
  },

  // HTTP
  {
    test: "http/idle-connections.test.ts",
    name: "a connection that was in use just now makes room with a warning",
    file: "src/http/server.ts",
    from: "const SPARE_MS = 10_000;",
    to: "const SPARE_MS = 0;",
  },
  {
    test: "http/corpus.test.ts",
    name: "a length that is duplicated and differs",
    file: "src/http/wire/head.ts",
    from: "others.some((other) => other !== first)",
    to: "others.length > 9",
  },
  {
    test: "http/corpus.test.ts",
    name: "a length that is signed with a plus",
    file: "src/http/wire/head.ts",
    from: String.raw`/^\d+$/.test(first)`,
    to: String.raw`/^[+-]?\d+$/.test(first)`,
  },
  {
    test: "resilience/parser-differential.night.ts",
    name: "as by llhttp",
    file: "src/http/wire/head.ts",
    from: String.raw`/^\d+$/.test(first)`,
    to: String.raw`/^[+-]?\d+$/.test(first)`,
  },
  {
    test: "http/corpus.test.ts",
    name: "a coding that comes with a length:",
    file: "src/http/wire/head.ts",
    from: "isHttp10 || length !== null ||",
    to: "isHttp10 ||",
  },
  {
    test: "http/corpus.test.ts",
    name: "a length that would be rounded",
    file: "src/http/wire/head.ts",
    from: "!Number.isSafeInteger(length)",
    to: "Number.isNaN(length)",
  },
  {
    test: "resilience/parser-differential.night.ts",
    name: "as by the runtime's server",
    file: "src/http/wire/head.ts",
    from: "? Number(first)",
    to: '? parseInt(first, first[0] === "0" ? 8 : 10)',
  },
  {
    test: "http/corpus.test.ts",
    name: "a length that has a space before its colon",
    file: "src/http/wire/fields.ts",
    from: "line.slice(0, Math.max(colon, 0))",
    to: "line.slice(0, Math.max(colon, 0)).trimEnd()",
  },
  {
    test: "http/corpus.test.ts",
    name: "a space after the size",
    file: "src/http/wire/chunked.ts",
    from: "(bytes[end] === SEMICOLON)",
    to: "(bytes[end] === SEMICOLON || bytes[end] === SPACE)",
  },
  {
    test: "http/corpus.test.ts",
    name: "a trailer without a colon",
    file: "src/http/wire/chunked.ts",
    from: String.raw`+:[\t -\xff]*$/`,
    to: String.raw`+:?[\t -\xff]*$/`,
  },
  {
    test: "http/corpus.test.ts",
    name: "a coding that is chunked:",
    file: "src/http/wire/head-reader.ts",
    from: "this.#searched - HEAD_END.length",
    to: "this.#searched",
  },
  {
    test: "http/corpus.test.ts",
    name: "sent after its answer",
    file: "src/http/app.ts",
    from: "checkHost(request);",
    to: "",
  },
  {
    test: "http/process-one.test.ts",
    name: "by SIGTERM before it is ready",
    file: "src/main.ts",
    from: 'import "./cli/process-one.ts";\n',
    to: "",
  },
  {
    test: "http/unread-responses.test.ts",
    name: "is counted in bytes",
    file: "src/http/response-budget.ts",
    from: "const release = shares.take(owner, bytes.length);",
    to: "const release = () => {};",
  },
  {
    test: "http/early-reset.test.ts",
    name: "resets its connection at once",
    file: "src/http/server.ts",
    from: "address !== undefined && (this",
    to: "(this",
  },
  {
    test: "http/varying-heads.test.ts",
    name: "of which nothing is remembered",
    file: "src/http/wire/head.ts",
    from: "section.fields.get(key) === null ?",
    to: "true ?",
  },

  // The interface
  {
    test: "interface/consistency.test.ts",
    name: "what was answered is in every read that begins later",
    file: "src/store/sqlite/search/searcher.ts",
    from: "upTo: translated(newest),",
    to: "upTo: 0,",
  },
  {
    test: "interface/consistency.test.ts",
    name: "what was answered is in every read that begins later",
    file: "src/store/tags.ts",
    from: "last.change === newestChange?.()",
    to: "last.change >= 0",
  },
  {
    test: "interface/consistency.test.ts",
    name: "what was answered is in every read that begins later",
    file: "src/http/etag.ts",
    from: 'return `"${digest(body)}${hasLink',
    to: 'return `"${digest(String(body.length))}${hasLink',
  },
  {
    test: "files/number-format.test.ts",
    name: "shows 1.005 in the format 0.00 as 1.01",
    file: "src/files/number-format.ts",
    from: "Math.round(Number((number * 10 ** places).toPrecision(DIGITS_EXACT)))",
    to: "Math.round(number * 10 ** places)",
  },
  {
    test: "files/workbook.test.ts",
    name: "fill their area downwards, but no row that has nothing else",
    file: "src/files/merged-areas.ts",
    from: "return isBlank ? row : fillRow",
    to: "return fillRow",
  },
  {
    test: "files/workbook.test.ts",
    name: "may be read again as often as people choose",
    file: "src/files/workbook.ts",
    from: "const known = most.get(sheet) ?? 0;",
    to: "const known = grown - length;",
  },
  {
    test: "files/ods.test.ts",
    name: "has all its sheets, also hidden ones",
    file: "src/files/ods.ts",
    from: "if (table < wanted) continue;",
    to: "",
  },
  {
    test: "files/darwin-core.test.ts",
    name: "is read as its meta.xml says",
    file: "src/files/darwin-core.ts",
    from: "if (at !== undefined) name(at, heading);",
    to: "if (at !== undefined) headings.push(heading);",
  },
  {
    test: "client/json-list.test.ts",
    name: "loses nothing without a word where another list of objects follows",
    file: "src/client/json-list.ts",
    from: 'if (this.#hasList) return "rest";',
    to: "",
  },
  {
    test: "interface/csv-round-trip.test.ts",
    name: "a name that holds a row is a name in the file, and no plant",
    file: "src/files/csv-parser.ts",
    from: "if (!isEmpty && !fault) this.#rows.push(",
    to: 'if (this.#cells.some((one) => /\\n\\d+,/.test(one ?? ""))) return "open_quote";\n    if (!isEmpty && !fault) this.#rows.push(',
  },
  {
    test: "interface/export-moment.test.ts",
    name: "an export on SQLite holds what was true at one moment",
    file: "src/store/sqlite/engine/reader.ts",
    from: "-${SNAPSHOT_CACHE}; BEGIN`",
    to: "-${SNAPSHOT_CACHE}`",
  },
  {
    test: "interface/export-moment.test.ts",
    name: "an export on PostgreSQL holds what was true at one moment",
    file: "src/store/postgres/snapshot.ts",
    from: "ISOLATION LEVEL REPEATABLE READ, READ ONLY",
    to: "ISOLATION LEVEL READ COMMITTED",
  },
  {
    test: "interface/counts.test.ts",
    name: "keeps a count that is expensive",
    file: "src/store/tags.ts",
    from: "const KEPT_TIMES = 5;",
    to: "const KEPT_TIMES = 0;",
  },
  {
    test: "interface/bulk-changes.test.ts",
    name: "a thousand are made as the outcomes say",
    file: "src/http/bulk-changes.ts",
    from: "return await swapOne(swap, who);",
    to: 'return idOf(swap) === 500n ? { kind: "changed" } : await swapOne(swap, who);',
  },

  // Metrics

  // PostgreSQL
  {
    test: "postgres/plans.test.ts",
    name: "reads the index of the order for a page by newest",
    file: "src/store/postgres/order-statements.ts",
    from: "key: `${key} AS key`,",
    to: "key,",
  },
  {
    test: "postgres/sql.test.ts",
    name: "contains nothing that a relative of PostgreSQL lacks",
    file: "src/store/postgres/plant-statements.ts",
    from: "ON CONFLICT (id) DO NOTHING",
    to: "ON CONFLICT DO NOTHING",
  },
  {
    test: "postgres/sql.test.ts",
    name: "has every name qualified where the search path is that of the user",
    file: "src/store/postgres/engine/requirements.ts",
    from: "SELECT pg_catalog.version(),",
    to: "SELECT version(),",
  },
  {
    test: "postgres/sql.test.ts",
    name: "is nowhere else",
    file: "src/store/postgres/probe.ts",
    from: 'const PROBE_END = { text: "ROLLBACK" }',
    to: 'const PROBE_END = { text: "SELECT 1" }',
  },
  {
    test: "postgres/standby.night.ts",
    name: "goes on to read, list and be administered",
    file: "src/store/postgres/pooled-server.ts",
    from: "withRetries({ database: pools.lists,",
    to: "withRetries({ database: pools.imports,",
  },
  {
    test: "postgres/standby.night.ts",
    name: "leaves few statements running",
    file: "src/store/postgres/engine/left-behind.ts",
    from: "if (!isEnded) this.#since.set(connection.backend, at);",
    to: "",
  },
  {
    test: "postgres/standby.night.ts",
    name: "(terminate)",
    file: "src/store/postgres/plant-puts.ts",
    from: "same.length > 0 && !(await tables.confirm(same)) ? same : []",
    to: "same.slice(0, 0)",
  },
  {
    test: "postgres/standby.night.ts",
    name: "(cancel)",
    file: "src/store/postgres/engine/database-connection.ts",
    from: "if (this.#doubt !== undefined) throw new UnconfirmedError(this.#doubt);",
    to: "",
  },
  {
    test: "postgres/standby.night.ts",
    name: "answers that a token is revoked only when",
    file: "src/store/postgres/tokens.ts",
    from: "const [row] = await execute<[wasValid: string]>",
    to: "if (await isRevoked(execute, id)) return [];\n  const [row] = await execute<[wasValid: string]>",
  },
  {
    test: "postgres/cleartext.test.ts",
    name: "gets nothing of it",
    file: "src/store/postgres/engine/database-connection.ts",
    from: "if (isReadable && !this.#hosts.allowsCleartext)",
    to: "if (false)",
  },
  {
    test: "postgres/plans.test.ts",
    name: "reads no whole table for confirm_plants",
    file: "src/store/postgres/plant-statements.ts",
    from: "plants.id = ANY($1::bigint[]) AND plants.id = v.id AND",
    to: "plants.id = v.id AND",
  },
  {
    test: "postgres/lists.test.ts",
    name: "a plant that is renamed",
    file: "src/store/postgres/ordered-lists.ts",
    from: 'reached ?? edgeOf(order, "end")',
    to: "reached ?? { key, id: asPlantId(id) }",
  },
  {
    test: "postgres/upgrade.night.ts",
    name: "keeps no write waiting while it builds indexes",
    file: "src/store/postgres/engine/index-build.ts",
    from: 'text.replace(" INDEX ", " INDEX CONCURRENTLY ")',
    to: "text",
  },
  {
    test: "postgres/upgrade.night.ts",
    name: "if it is killed while it builds an index",
    file: "src/store/postgres/engine/index-build.ts",
    from: "coalesce((SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass('store.${name}')), false)",
    to: "to_regclass('store.${name}') IS NOT NULL",
  },
  {
    test: "postgres/hostile-schema.test.ts",
    name: "a service calls none of them from its first start on",
    file: "src/store/postgres/engine/requirements.ts",
    from: 'search_path: "pg_catalog, pg_temp"',
    to: 'search_path: "pg_catalog, public"',
  },
  {
    test: "postgres/probe.test.ts",
    name: "refuses a database that writes each plant to two places",
    file: "src/store/postgres/store.ts",
    from: "if (isServing) await probe(",
    to: "if (false) await probe(",
  },
  {
    test: "postgres/probe.test.ts",
    name: "refuses a pooler that reads from a standby",
    file: "src/store/postgres/engine/database-connection.ts",
    from: "checkReader(reader!);",
    to: "void reader;",
  },
  {
    test: "postgres/probe.test.ts",
    name: "refuses a pooler that lends connections",
    file: "src/store/postgres/engine/database-connection.ts",
    from: "checkAge(age, performance.now() - this.#since);",
    to: "void age;",
  },
  {
    test: "postgres/probe.test.ts",
    name: "leaves nothing in the index of ids",
    file: "src/store/postgres/probe.ts",
    from: "      await list(execute, LAST).catch(() => {});\n",
    to: "",
  },

  // Resilience
  {
    test: "resilience/postgres.night.ts",
    name: "random faults between the service",
    file: "src/store/group-commit.ts",
    from: "const committed = commit(batch);",
    to: 'if (batch.tokens.length === 0) batch.outcomes.resolve({ creates: batch.creates.map(() => "created"), swaps: batch.swaps.map(() => true) }); const committed = new Promise<void>((go) => setTimeout(go, 5)).then(() => commit(batch));',
  },
  {
    test: "resilience/postgres.night.ts",
    name: "three services lose nothing",
    file: "src/store/group-commit.ts",
    from: "const committed = commit(batch);",
    to: 'if (batch.tokens.length === 0) batch.outcomes.resolve({ creates: batch.creates.map(() => "created"), swaps: batch.swaps.map(() => true) }); const committed = new Promise<void>((go) => setTimeout(go, 5)).then(() => commit(batch));',
  },
  {
    test: "resilience/poolers.night.ts",
    name: "does all its work in transaction mode",
    file: "src/store/postgres/engine/database-connection.ts",
    from: "return !this.#isCockroach && this.#hosts.pooler.isFound;",
    to: "return false;",
  },
  {
    test: "resilience/deploy.night.ts",
    name: "two replicas on one machine, as the guide sets them up",
    file: "docs/how-to/run-replicas.md",
    from: "127.0.0.1:808\\1/",
    to: "127.0.0.1:8081/",
  },
  {
    test: "resilience/proxies.night.ts",
    name: "nginx as it is shipped does the same in front of replicas",
    file: "deploy/nginx.conf",
    from: "    if ($request_method !~ ^(GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS)$) {",
    to: "    if ($request_method = NONE) {",
    and: [1, 2, 3].map((at) => ({ file: "deploy/nginx.conf", from: `plants-${at}:8080 max_fails=0`, to: `plants-${at}:8080` })),
  },
  {
    test: "resilience/hostile.night.ts",
    name: "on SQLite",
    file: "src/domain/json.ts",
    from: "return BigInt(literal);",
    to: "return BigInt(Number(literal));",
  },
  {
    test: "resilience/hostile.night.ts",
    name: "on SQLite",
    file: "src/domain/validation.ts",
    from: "if (isValid(value)) return value;",
    to: 'if (isValid(value) || isValid.errors?.[0]?.keyword === "wellFormed") return value as Value;',
  },
  {
    test: "resilience/hostile.night.ts",
    name: "on SQLite",
    file: "src/domain/json.ts",
    from: 'new PlantStoreError("malformed_json")',
    to: 'new PlantStoreError("malformed_json", { message: `${new Error().stack}` })',
  },
  {
    test: "resilience/hostile.night.ts",
    name: "on PostgreSQL",
    file: "src/store/postgres/engine/text.ts",
    from: "if (!text.includes(NUL) && !text.includes(ESCAPE)) return text;",
    to: "return text;",
    and: [{ file: "src/store/postgres/store.ts", from: "if (isServing) await probe(", to: "if (false) await probe(" }],
  },
  {
    test: "resilience/slow-clients.night.ts",
    name: "is cut off within 15 s whatever it drips",
    file: "src/http/server.ts",
    from: "this.#sweeper = setInterval(() => this.#sweep(), SWEEP_MS);",
    to: "this.#sweeper = setInterval(() => {}, SWEEP_MS);",
  },
  {
    test: "resilience/slow-clients.night.ts",
    name: "that does not read its pages",
    file: "src/http/response-budget.ts",
    from: "const release = shares.take(owner, bytes.length);",
    to: "const release = () => {};",
    and: [
      {
        file: "src/http/server.ts",
        from: "this.#sweeper = setInterval(() => this.#sweep(), SWEEP_MS);",
        to: "this.#sweeper = setInterval(() => {}, SWEEP_MS);",
      },
    ],
  },
  {
    test: "resilience/slow-clients.night.ts",
    name: "gets an error if its import drips",
    file: "src/http/import.ts",
    from: "bytesPerSecondMin: 500",
    to: "bytesPerSecondMin: 1e-9",
  },
  {
    test: "resilience/slow-clients.night.ts",
    name: "may import a line now and then",
    file: "src/http/import.ts",
    from: "connection.allowSilence(0);",
    to: "",
  },
  {
    test: "resilience/slow-clients.night.ts",
    name: "gets a whole export",
    file: "src/http/export.ts",
    from: "connection.allowSilence(IDLE_SECONDS);",
    to: "",
  },
  {
    test: "resilience/slow-clients.night.ts",
    name: "is answered afterwards what it sent",
    file: "src/http/server.ts",
    from: "this.#time += Math.min(now - this.#sweptAt, PAUSE_MS_MAX);",
    to: "this.#time += now - this.#sweptAt;",
    and: [
      {
        file: "src/http/server.ts",
        from: "connection.expire(this.#time)",
        to: "connection.expire(this.#time + performance.now() - this.#sweptAt)",
      },
      { file: "src/http/upload.ts", from: "setTimeout(refuse, READ_MS)", to: "refuse()" },
    ],
  },
  { test: "resilience/kill.test.ts", name: "while it serves, ", ...ANSWER_BEFORE_COMMIT },
  { test: "resilience/kill.test.ts", name: "while it serves from PostgreSQL", ...ANSWER_BEFORE_COMMIT },
  { test: "resilience/kill.test.ts", name: "while it drains", ...ANSWER_BEFORE_COMMIT },
  { test: "resilience/kill.test.ts", name: "while it copies the WAL", ...ANSWER_BEFORE_COMMIT },
  {
    test: "resilience/kill.test.ts",
    name: "in the middle of an import",
    file: "src/store/sqlite/commits.ts",
    from: 'const committed = await this.#options.writer.call("importPlants", toColumns(plants), options, this.#indexed());',
    to: 'const committed = { outcomes: plants.map(() => 0), change: 1, walPages: 0, syncMs: 0 }; void this.#options.writer.call("importPlants", toColumns(plants), options, this.#indexed());',
  },
  {
    // The first token is in the store long before it is in its file.
    test: "resilience/kill-start.night.ts",
    name: "in the very first start",
    file: "src/auth/first-token.ts",
    from: "  writeSecret(draft, secret);\n  const isFirst",
    to: "  const isFirst",
    and: [
      {
        file: "src/auth/first-token.ts",
        from: "  if (isFirst) keepDraft(draft, path);",
        to: "  await new Promise((go) => setTimeout(go, 2000));\n  writeSecret(draft, secret);\n  if (isFirst) keepDraft(draft, path);",
      },
    ],
  },
  {
    // A start throws away what an earlier process has not copied into the database.
    test: "resilience/kill-start.night.ts",
    name: "each on such a folder",
    file: "src/store/sqlite/store.ts",
    from: "const now = () => performance.now();",
    to: 'process.getBuiltinModule("node:fs").rmSync(`${path}-wal`, { force: true }); const now = () => performance.now();',
  },
  {
    // The index of names counts as whole after the first step of its building.
    test: "resilience/kill-start.night.ts",
    name: "each on what the last one left",
    file: "src/store/sqlite/search/indexer.ts",
    from: "buildFrom: row.id",
    to: "buildFrom: null",
  },
  {
    // Each step to the newest schema is its own commit, with time for a kill in between.
    test: "resilience/kill-start.night.ts",
    name: "brings an older store to the newest schema",
    file: "src/store/sqlite/engine/schema.ts",
    from: "for (const step of MIGRATIONS.slice(version)) takeStep",
    to: 'for (const step of MIGRATIONS.slice(version).flatMap((steps) => steps.split(";"))) Bun.sleepSync(100), takeStep',
    and: [
      { file: "src/store/sqlite/engine/schema.ts", from: 'db.exec("BEGIN IMMEDIATE");', to: "" },
      { file: "src/store/sqlite/engine/schema.ts", from: 'db.exec("COMMIT");', to: "" },
    ],
  },
  { test: "resilience/kill-commands.night.ts", name: "leaves an export whole or absent", ...WRITE_IN_PLACE },
  { test: "resilience/kill-commands.night.ts", name: "leaves a backup whole or absent", ...WRITE_IN_PLACE },
  { test: "resilience/power-loss.test.ts", name: "leaves a sound store", ...SYNC_OFF },
  { test: "resilience/power-loss.test.ts", name: "leaves a sound store", ...ANSWER_BEFORE_COMMIT },
  { test: "resilience/sync-trace.test.ts", name: "is sent only after", ...SYNC_OFF },
  { test: "resilience/sync-trace.test.ts", name: "is sent only after", ...ANSWER_BEFORE_COMMIT },
  {
    test: "resilience/drain.test.ts",
    name: "one service on SQLite",
    file: "src/app/service.ts",
    from: "await sleep(config.drainDelayMs);",
    to: "",
  },
  {
    test: "resilience/drain.test.ts",
    name: "one service on SQLite",
    file: "src/http/server.ts",
    from: "connection.retire();",
    to: "connection.terminate();",
  },
  {
    // The service says that it is running a while before it handles signals.
    test: "resilience/drain.test.ts",
    name: "says that it is running",
    file: "src/cli/serve.ts",
    from: "    stopOnSignal(running, {",
    to: "    announce(running, { log, isTerminal, exposed: false, config });\n    Bun.sleepSync(100);\n    stopOnSignal(running, {",
  },
  {
    // A failed sync is treated as temporary, and the next sync is trusted.
    test: "resilience/failing-calls.night.ts",
    name: "the plants: fsync EIO, once",
    // strace counts by thread, so the same call of the thread that searches may fail too.
    file: "src/store/sqlite/engine/failure.ts",
    from: "if (isSyncFailure(thrown)) onFatal(toStoreError(thrown));",
    to: "",
  },
  {
    // A start treats the WAL as written if it can be read.
    test: "resilience/failing-calls.night.ts",
    name: "the plants: fsync EIO, once",
    file: "src/store/sqlite/store.ts",
    from: 'if (isServing) await writer.call("rewrite");',
    to: "",
  },
  {
    // A failed commit is answered as a success.
    test: "resilience/failing-calls.night.ts",
    name: "the plants: pwrite64 ENOSPC, from then on",
    file: "src/store/group-commit.ts",
    from: "batch.outcomes.reject(reason);",
    to: 'if (batch.tokens.length === 0) batch.outcomes.resolve({ creates: batch.creates.map(() => "created"), swaps: batch.swaps.map(() => true) }); batch.outcomes.reject(reason);',
  },
  {
    test: "resilience/failing-calls.night.ts",
    name: "if no sync of the folder succeeds",
    file: "src/store/sqlite/engine/writer.ts",
    from: "syncFolder(dirname(realpathSync(path)));",
    to: "",
  },
  { test: "resilience/full-disk.night.ts", name: "when the disk refuses to write", ...NEVER_PROBE },
  { test: "resilience/clock-jumps.night.ts", name: "tries again and is ready", ...NEVER_PROBE },
  {
    // The service goes on without a thread that has ended.
    test: "resilience/thread-crash.night.ts",
    name: "the writer ends",
    file: "src/store/sqlite/engine/thread.ts",
    from: "this.#onDeath(reason);",
    to: "",
  },
  {
    test: "resilience/thread-crash.night.ts",
    name: "a timer throws",
    file: "src/cli/serve.ts",
    from: 'process.on("uncaughtException", (error) => end("crashed", error));',
    to: 'process.on("uncaughtException", () => {});',
  },
  {
    test: "resilience/thread-crash.night.ts",
    name: "a promise rejects without a handler",
    file: "src/cli/serve.ts",
    from: 'process.on("unhandledRejection", (error) => end("crashed", error));',
    to: 'process.on("unhandledRejection", () => {});',
  },
  {
    // It refuses late, and all at once.
    test: "resilience/overload.night.ts",
    name: "on SQLite",
    file: "src/http/admission.ts",
    from: "queue && isFull(queue, owner) ? refuse(headers, owner) : undefined",
    to: "undefined",
  },
  {
    test: "resilience/log.night.ts",
    name: "when its reader disconnects",
    file: "src/cli/log-stream.ts",
    from: 'stream.on("error", () => {});',
    to: "",
  },
  {
    test: "resilience/log.night.ts",
    name: "when its reader stops reading",
    file: "src/cli/log-stream.ts",
    from: "if (waitingBytes > WAITING_BYTES_MAX)",
    to: "if (false)",
  },
  {
    test: "resilience/clock-jumps.night.ts",
    name: "that waits for the disk",
    file: "src/store/sqlite/store.ts",
    from: "const now = () => performance.now();",
    to: "const now = () => Date.now();",
  },
  {
    // A cached token counts as fresh even if it comes from the future.
    test: "resilience/clock-jumps.night.ts",
    name: "that is revoked after",
    file: "src/auth/authenticate.ts",
    from: "Math.abs(time - known.at) < FRESH_MS",
    to: "time - known.at < FRESH_MS",
  },
  {
    // The expiry of tokens uses a clock that starts with the service and cannot be set.
    test: "resilience/clock-jumps.night.ts",
    name: "that expires in an hour",
    file: "src/app/service-app.ts",
    from: "cacheMax: TOKEN_CACHE_MAX,\n    now: Date.now,",
    to: "cacheMax: TOKEN_CACHE_MAX,\n    now: ((began) => () => began + performance.now())(Date.now() - performance.now()),",
  },
  {
    // Memory, and a file, for each request.
    test: "resilience/soak.night.ts",
    name: "of mixed work",
    file: "src/http/app.ts",
    from: "const exchange = openExchange(request);",
    to: '((globalThis as any).kept ??= []).push(new Uint8Array(300_000).fill(1)); process.getBuiltinModule("node:fs").openSync("/dev/null"); const exchange = openExchange(request);',
  },
  {
    // Each response waits longer than the one before, after a while.
    test: "resilience/soak.night.ts",
    name: "of mixed work",
    file: "src/http/app.ts",
    from: "const exchange = openExchange(request);",
    to: "const count = ((globalThis as any).count = ((globalThis as any).count ?? 0) + 1); if (count > 1150) return new Promise((go) => setTimeout(go, Math.min(800, (count - 1150) * 20))).then(() => this.#answerSafely(openExchange(request))); const exchange = openExchange(request);",
  },
  {
    // Each request takes more processor time than the one before.
    test: "resilience/soak.night.ts",
    name: "of mixed work",
    file: "src/http/app.ts",
    from: "const exchange = openExchange(request);",
    to: "const spent = () => process.cpuUsage().user + process.cpuUsage().system; const count = ((globalThis as any).count = ((globalThis as any).count ?? 0) + 1); const until = spent() + 1000 * Math.min(4, 0.002 * 1.007 ** (count - 300)); while (spent() < until); const exchange = openExchange(request);",
  },

  // What is found
  {
    test: "interface/botanists-day.test.ts",
    name: '"uvaursi" finds',
    file: "src/domain/spellings.ts",
    from: 'return elements.length > 1 ? [...spoken, elements.flat().join("")] : spoken;',
    to: "return spoken;",
  },
  {
    test: "interface/botanists-day.test.ts",
    name: '"ohia" finds',
    file: "src/domain/spellings.ts",
    from: "filter(({ length }) => length > 1)",
    to: "filter(({ length }) => length > 9)",
  },
  {
    // A search with a hyphen finds only names with one, or a space.
    test: "interface/botanists-day.test.ts",
    name: '"uva-ursi" finds',
    file: "src/domain/spellings.ts",
    from: "[...first, joined, whole].flatMap(alike)",
    to: "first.flatMap(alike)",
  },
  {
    test: "interface/botanists-day.test.ts",
    name: '"sylvatica forma purpurea" finds',
    file: "src/domain/spellings.ts",
    from: "if (rank !== undefined) more.push(rank);",
    to: "",
  },
  {
    test: "interface/botanists-day.test.ts",
    name: '"saccharum ssp grandidentatum" finds',
    file: "src/domain/spellings.ts",
    from: "[word, ...(RANKS_IN_SEARCHES.get(word) ?? [])]",
    to: "[word]",
  },
  {
    test: "interface/botanists-day.test.ts",
    name: '"xcuprocyparis" finds',
    file: "src/domain/spellings.ts",
    from: "isHybrid(word) ? [word, word.slice(1)]",
    to: "isHybrid(word) ? [word]",
  },
  {
    test: "interface/botanists-day.test.ts",
    name: '"나무" finds',
    file: "src/domain/spellings.ts",
    from: "more.push(...insideOf(word));",
    to: "insideOf(word);",
  },
  {
    // A longer word of a search is looked for at the beginning of words alone.
    test: "interface/botanists-day.test.ts",
    name: '"หลาบ" finds',
    file: "src/domain/spellings.ts",
    from: 'if (letters.length < 3 || letters.join("") !== word) return [];',
    to: "return [];",
  },
  {
    // An index of the version before is kept.
    test: "store/versions.test.ts",
    name: "is served whole with 5 steps of its tables",
    file: "src/store/sqlite/search/index-file.ts",
    from: "const VERSION = 12;",
    to: "const VERSION = 9;",
  },
  {
    // PostgreSQL keeps the words and keys of the version before.
    test: "postgres/upgrade.night.ts",
    name: "and where those of version 2 were noted",
    file: "src/store/postgres/engine/schema.ts",
    from: "export const WORDS_VERSION = 3;",
    to: "export const WORDS_VERSION = 2;",
  },
  {
    test: "interface/name-order.test.ts",
    name: "is in order for hybrids among their genera",
    file: "src/domain/name-order.ts",
    from: "LETTER.test(counted) ? counted :",
    to: "LETTER ? counted :",
  },
  {
    // A cursor from before the key changed is read on.
    test: "interface/sorting.test.ts",
    name: "refuse a cursor of the order in which leading signs counted",
    file: "src/http/cursor.ts",
    from: "{ name: 5, newest: 2",
    to: "{ name: 1, newest: 2",
  },

  {
    test: "interface/suggestions.test.ts",
    name: '"Quercus robor" leads to',
    file: "src/domain/suggestions.ts",
    from: "if (tail.length > 0) found.add(head + letter + rest);",
    to: "",
  },
  {
    // Two letters in a word are not corrected.
    test: "interface/suggestions.test.ts",
    name: '"lavendulla" leads to',
    file: "src/http/suggestions.ts",
    from: "[nearTo, furtherFrom, farFrom]",
    to: "[nearTo]",
  },
  {
    // Suggestions come from plants that the filter leaves out.
    test: "interface/suggestions.test.ts",
    name: "look only at plants with the tag, or without one",
    file: "src/http/suggestions.ts",
    from: "words: some, tag, limit,",
    to: "words: some, tag: undefined, limit,",
  },
  {
    // A search that finds something is corrected too.
    test: "interface/suggestions.test.ts",
    name: '"prunus serrulata" leads to',
    file: "src/http/suggestions.ts",
    from: "if (found.plants.length > 0) return [];",
    to: "",
  },
  {
    test: "web/catalogue.test.ts",
    name: "suggests a search where one or two letters are wrong",
    file: "web/catalogue/suggestions.tsx",
    from: ".then(setFound, () => {})",
    to: ".then(() => {}, () => {})",
  },

  // The store
  {
    // A search uses the index as it is.
    test: "store/search.test.ts",
    name: "and not its old name",
    file: "src/store/sqlite/search/searcher.ts",
    from: "upTo: translated(newest),",
    to: "upTo: 0,",
  },
  {
    // The index starts while the store still writes what an earlier process left.
    test: "store/search.test.ts",
    name: "does not mistake its own search thread",
    file: "src/store/sqlite/store.ts",
    from: 'if (isServing) await writer.call("rewrite");',
    to: "",
    and: [
      {
        file: "src/store/sqlite/store.ts",
        from: "if (searcher) opened.unshift(async () => (indexed = await searcher.close()));",
        to: 'if (searcher) opened.unshift(async () => (indexed = await searcher.close())); if (isServing) await writer.call("rewrite");',
      },
    ],
  },
  {
    // The index keeps what a plant was.
    test: "store/tags.test.ts",
    name: "the index holds nothing of what a plant was",
    file: "src/store/sqlite/search/indexer.ts",
    from: "for (const before of fromBefore(row.before)) work += this.#index.remove(before);",
    to: "fromBefore(row.before);",
  },
  {
    // A list by tag lacks plants that changed since the index followed.
    test: "store/tags.test.ts",
    name: "lists and counts by tag tell what is stored",
    file: "src/store/sqlite/search/search-behind.ts",
    from: "!changed.has(id)), ...found]",
    to: "!changed.has(id))]",
  },
  {
    // What was removed stays in the index, and a search walks through it.
    test: "store/tags.test.ts",
    name: "again and again leave an index",
    file: "src/store/sqlite/search/word-index.ts",
    from: "this.#traces += removed;",
    to: "",
  },
  {
    // An older copy of the index follows notes that no longer say what was there before.
    test: "store/tags.test.ts",
    name: "an older copy of the index",
    file: "src/store/sqlite/search/changes.ts",
    from: "forgetAll(indexed: number): void {\n      forget.run(indexed);",
    to: "forgetAll(indexed: number): void {",
  },
  {
    // All that an import made was deleted: the sum of the deletions would stand alone.
    test: "store/versions.test.ts",
    name: "that an import has filled",
    file: "src/store/sqlite/engine/schema.ts",
    from: " OR EXISTS (SELECT 1 FROM changes)",
    to: "",
  },
  {
    // The search thread has its usual priority all the time.
    test: "store/search-lag.test.ts",
    name: "has the lowest priority at rest",
    file: "src/runtime/thread-priority.ts",
    from: "isLow ? constants.priority.PRIORITY_LOW : this.#usual",
    to: "this.#usual",
  },
  {
    test: "store/sqlite.test.ts",
    name: "when the index has followed before",
    file: "src/store/sqlite/engine/writer.ts",
    from: "if (indexed > 0) this.#transaction(() => this.#sql.changes.forgetAll(indexed));",
    to: "",
  },
  {
    // What was renamed after the index was asked is left out.
    test: "store/search-lag.test.ts",
    name: "that is renamed while",
    file: "src/store/sqlite/search/searcher.ts",
    from: "!isFound(plant, { words, tag })) continue;",
    to: "!isFound(plant, { words, tag }) || nameKey(plant.name) !== some[next]!.key) continue;",
    and: [
      {
        file: "src/store/sqlite/search/searcher.ts",
        from: 'import { isFound } from "../../../domain/terms.ts";',
        to: 'import { isFound } from "../../../domain/terms.ts"; import { nameKey } from "../../../domain/name-order.ts";',
      },
    ],
  },
  {
    test: "store/search-lag.test.ts",
    name: "a commit of an import is done",
    file: "src/store/sqlite/commits.ts",
    from: "await this.#options.searcher?.index.reach(before);",
    to: "void before;",
  },

  // Tokens
  {
    test: "tokens/first-token.test.ts",
    name: "ends once with the first use of another token with all scopes",
    file: "src/auth/first-token.ts",
    from: "token.scopes.length < SCOPES.length",
    to: '!token.scopes.includes("admin")',
  },
  {
    test: "tokens/token-queue.test.ts",
    name: "on SQLite are refused as overloaded",
    file: "src/store/sqlite/store.ts",
    from: "createTokens({ reader: reader.tokens, changes: commits.group })",
    to: `createTokens({ reader: reader.tokens, changes: { changeToken: async (change) => (await writer.call("commit", { ids: new BigInt64Array(0), names: [], tags: [] }, [], [change], 0)).tokens[0] } })`,
  },
  {
    test: "tokens/token-queue.test.ts",
    name: "on PostgreSQL are refused as overloaded",
    file: "src/store/postgres/tokens.ts",
    from: "...queuedChanges(queue.changeToken),",
    to: "...queuedChanges((change) => apply(writes, change)),",
  },
  ...[
    { file: "src/auth/authorize.ts", from: "token.scopes.includes(scope)", to: "token.id !== scope" },
    { file: "src/auth/authenticate.ts", from: "(expires === undefined || now < expires)", to: "(expires ?? now) > 0" },
    { file: "src/auth/authenticate.ts", from: "revoked === undefined && ", to: "(revoked ?? 1) > 0 && " },
    { file: "src/http/app.ts", from: "if (!scope) return this.#admit", to: 'if (!scope || method === "HEAD") return this.#admit' },
  ].map((edit): Mutant => ({ test: "tokens/states.test.ts", name: "every state of a token", ...edit })),
  {
    // Compares character by character and stops at the first difference.
    test: "resilience/tokens.night.ts",
    name: "30 of the 32 characters",
    file: "src/auth/authenticate.ts",
    from: "const token = await tokens.find(hashToken(credentials));",
    to: 'const right = process.getBuiltinModule("node:fs").readFileSync(`${process.argv[process.argv.indexOf("--data") + 1]}/first-token`, "utf8"); for (let at = 0; credentials[at] === right[at]; at += 1) hashToken(right.repeat(60)); const token = await tokens.find(hashToken(credentials));',
  },
  {
    // Hashes tokens like passwords.
    test: "resilience/tokens.night.ts",
    name: "causes the others no error",
    file: "src/auth/authenticate.ts",
    from: "const token = await tokens.find(hashToken(credentials));",
    to: '(await import("node:crypto")).pbkdf2Sync(credentials, "plants", 20_000, 32, "sha256"); const token = await tokens.find(hashToken(credentials));',
  },

  // Tracing
  {
    test: "tracing/collector.test.ts",
    name: "are 4096 in memory at most",
    file: "src/tracing/span-queue.ts",
    from: "this.#waiting.length >= QUEUE_MAX",
    to: "this.#waiting.length < 0",
  },
  {
    test: "tracing/traces.test.ts",
    name: "traces on SQLite have a create of a caller",
    file: "src/tracing/request-tracer.ts",
    from: "parent ? inTraceOf(parent) : newTrace()",
    to: "newTrace()",
  },
  {
    test: "tracing/traces.test.ts",
    name: "does not follow a caller without a valid token",
    file: "src/tracing/request-tracer.ts",
    from: "trace.isKnown ? trace.isRecorded : trace.wish",
    to: "true || trace.wish",
  },
  {
    test: "tracing/traces.test.ts",
    name: "traces on SQLite have a create of a caller",
    file: "src/tracing/traced-store.ts",
    from: "parent: { spanId: trace.context.spanId, isRemote: false }",
    to: "parent: undefined",
  },
  {
    test: "tracing/traces.test.ts",
    name: "traces on SQLite link a commit and all creates",
    file: "src/tracing/commit-tracer.ts",
    from: "links.push(context)",
    to: "links.slice()",
  },
  {
    test: "tracing/traces.test.ts",
    name: "traces on SQLite link a commit and all creates",
    file: "src/tracing/commit-tracer.ts",
    from: "served.slice(0, LINKS_MAX)",
    to: "served.slice(0, 0)",
  },

  // The page
  {
    test: "web/bulk-edits.test.ts",
    name: "follows it if it is a tag, and is undone to it",
    file: "web/catalogue/tagging.ts",
    from: "over: Promise.allSettled(before.map(({ over }) => over)).then(() => this.#run(asked)) };",
    to: "over: this.#run(asked) };",
  },
  {
    test: "web/bulk-edits.test.ts",
    name: "that a browser sent twice by itself",
    file: "web/catalogue/bulk-changes.ts",
    from: "const undoable = mine.length > 0 ? mine : already;",
    to: "const undoable = mine;",
  },
  {
    test: "web/bulk-edits.test.ts",
    name: "that was refused when sent again",
    file: "web/catalogue/bulk-changes.ts",
    from: "if (isUnmade(thrown, changesSent() - sentBefore)) sent.clear();",
    to: "if (isUnmade(thrown, 1)) sent.clear();",
  },
  {
    test: "web/bulk-edits.test.ts",
    name: "of what a reload cut off, even if something else ended meanwhile",
    file: "web/catalogue/offers.ts",
    from: "this.#underWay = [...this.#underWay, undo];",
    to: "",
  },
  {
    test: "web/bulk-edits.test.ts",
    name: "comes before those of earlier edits when it failed",
    file: "web/catalogue/bulk-changes.ts",
    from: 'const again = { label: "Go on undoing", ...(isEdit ? { isEdit } : {}) } as const;',
    to: 'const again = { label: "Go on undoing" } as const; void isEdit;',
  },
  {
    test: "web/bulk-edits.test.ts",
    name: "waits for the one before it, however slow that is",
    file: "web/catalogue/bulk-changes.ts",
    from: "      await before;\n",
    to: "      void before;\n",
  },
  {
    test: "web/bulk-edits.test.ts",
    name: "is over before a plant is added under its id",
    file: "web/catalogue/deletions.ts",
    from: "await Promise.all(ids.flatMap((id) => this.#sent.get(id) ?? []));",
    to: "",
  },
  {
    test: "web/bulk-edits.test.ts",
    name: "after the back button has brought its page back",
    file: "web/catalogue/deletions.ts",
    from: "if (persisted && this.#waiting) this.#start();",
    to: "void persisted;",
  },
  {
    test: "web/bulk-edits.test.ts",
    name: "is not made if someone signs out in another tab while it waits",
    file: "web/catalogue/catalogue.ts",
    from: "this.deletions.abandon();",
    to: "",
  },
  {
    test: "web/list.test.ts",
    name: "takes neither a late answer to an earlier question",
    file: "web/catalogue/listing.ts",
    from: "if (this.#running !== mine) return;",
    to: "",
  },
  {
    test: "web/list.test.ts",
    name: "shows what someone else changed after one's own change",
    file: "web/catalogue/listing.ts",
    from: "if (before && here && !isSame(here, before)) return;",
    to: "",
  },
  {
    test: "web/list.test.ts",
    name: "shows a change though a list comes that was read before it",
    file: "web/catalogue/listing.ts",
    from: "return this.#changes.reduce(withChange, listed);",
    to: "return listed;",
  },
  {
    test: "web/list.test.ts",
    name: "loses what someone has deleted, or put elsewhere",
    file: "web/catalogue/ticks.ts",
    from: "if (!here.has(id)) this.#plants.delete(id);",
    to: "void here.has(id);",
  },
  {
    test: "web/list.test.ts",
    name: "gets nothing more once it was cleared",
    file: "web/catalogue/ticks.ts",
    from: "if (signal.aborted) return;",
    to: "",
  },
  {
    test: "web/list.test.ts",
    name: "is not taken from a late answer to an earlier question",
    file: "web/catalogue/tag-counts.ts",
    from: "if (signal.aborted) return;",
    to: "",
  },
  {
    test: "web/list.test.ts",
    name: "is asked for until it comes",
    file: "web/catalogue/tag-counts.ts",
    from: "if (isTransient(thrown)) this.#countLater();",
    to: "void isTransient(thrown);",
  },
  {
    test: "web/session.test.ts",
    name: "a late refusal of it does not end the next one",
    file: "web/session.ts",
    from: 'if (now.kind === "out" || authorization !== `Bearer ${now.token}`) return;',
    to: 'if (now.kind === "out") return; void authorization;',
  },
  {
    test: "web/session.test.ts",
    name: "leaves the other tabs of the device as they are",
    file: "web/session.ts",
    from: "keepItem(this.#device, KEY, ENDED);",
    to: "this.#device.removeItem(KEY);",
  },
  {
    test: "web/session.test.ts",
    name: "for which only the checksum of the token is kept",
    file: "web/session.ts",
    from: 'if (own && FORM.test(own) && this.#marks) keepItem(this.#marks, outOf(own), "");',
    to: "void own; void FORM;",
  },
  {
    test: "web/words.test.ts",
    name: "that closes its quotes does not speak for the page",
    file: "web/notices.ts",
    from: 'const inner = text.replaceAll("“", "‘").replaceAll("”", "’");',
    to: "const inner = text;",
  },
  {
    test: "web/import-file.test.ts",
    name: "waits without a network for as long as there is none",
    file: "web/import/send-slice.ts",
    from: "if ((navigator as { onLine?: boolean }).onLine === false)",
    to: "if (false)",
  },
  {
    test: "web/import-file.test.ts",
    name: "replace nothing, even where people replace plants",
    file: "web/import/send-slice.ts",
    from: 'onConflict === "replace" && row.isIdMade === true',
    to: "false",
  },
  {
    test: "files/encodings.test.ts",
    name: "a byte without a letter in windows-1252",
    file: "src/files/encodings.ts",
    from: "return text.replaceAll(UNDECODED, LONE);",
    to: "return text;",
  },
  {
    test: "files/encoding-guess.test.ts",
    name: "names of plants in windows-1257 are",
    file: "src/files/western-letters.ts",
    from: "return isProven(LETTER_OF_FIRST, PROOF_OF_FIRST, 0) && isProven(LETTER, PROOF, doubts);",
    to: "return true;",
  },
  {
    test: "files/doubtful-text.test.ts",
    name: "is named mojibake",
    file: "src/files/doubtful-text.ts",
    from: '{ doubt: "mojibake", pattern: new RegExp(MOJIBAKE.join("|"), "u") },',
    to: "",
  },
  {
    test: "files/tables.test.ts",
    name: "plants whose cells are words of headings",
    file: "src/files/guess-heading.ts",
    from: "return alike > others.length / 5 || (isBelowPlants(rows, at) && !isAboveNumbers(row, below));",
    to: "return isBelowPlants(rows, at) && !isAboveNumbers(row, below);",
  },
  {
    test: "files/tables.test.ts",
    name: "two headings, in two languages",
    file: "src/files/guess-heading.ts",
    from: "return at + (end === -1 ? next.length : end);",
    to: "void end; return at;",
  },
  {
    test: "files/tables.test.ts",
    name: "a plant above the heading",
    file: "src/files/read-table.ts",
    from: "if (texts[row]!.some(isLatin)) addDoubt(findings, ABOVE, line);",
    to: "void [row, line, ABOVE, isLatin];",
  },
  {
    test: "files/tables.test.ts",
    name: "rows of three and of four cells",
    file: "src/files/read-table.ts",
    from: "length: Math.min(usual, widest) }",
    to: "length: Math.max(usual, widest) }",
  },
  {
    test: "files/tables.test.ts",
    name: "common names under `Name` beside botanical ones",
    file: "src/files/guess-columns.ts",
    from: "wholes.find(isScientific) ?? wholes[0]",
    to: "wholes[0]",
  },
  {
    test: "files/tables.test.ts",
    name: "a number of plants under `Number`",
    file: "src/files/guess-columns.ts",
    from: "if (isOnce && isCount(column, cells))",
    to: "if (isOnce && isCount(column, []))",
  },
  {
    test: "files/tables.test.ts",
    name: "whose second sheet has a heading that we do not know",
    file: "src/files/sheet.ts",
    from: "(isList ? SCORE_OF_NAMES : 0)",
    to: "(isList ? SCORE_OF_NAMES * 0 : 0)",
  },
  {
    test: "files/silence.test.ts",
    name: "has a cell that holds a row",
    file: "src/files/table.ts",
    from: "cell.split(/[\\r\\n]+/).some((part, at) => at > 0 &&",
    to: "cell.split(/[\\r\\n]+/).some((part, at) => at < 0 &&",
  },
  {
    test: "files/silence.test.ts",
    name: "is a total in the column of names",
    file: "src/files/table.ts",
    from: "|| TOTAL.test(name)) return true;",
    to: '|| TOTAL.test("")) return true;',
  },
  {
    test: "files/silence.test.ts",
    name: "lose or change no row without a word",
    file: "src/files/guess-heading.ts",
    from: "isCertain: !known.some((count) => count > 0) && (rows[0] ?? []).some(isLatin)",
    to: "isCertain: true",
  },
];
