import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { PROJECT } from "../process.ts";
import { queryOnce } from "./database-server.ts";

/** Arguments that a call of ours may have: of one alone, of each of several, and of each of three. */
const TYPES = [
  ..."text name bigint integer oid regclass boolean bytea bigint[] text[] name[] tsvector tsquery".split(" "),
  ..."real numeric interval timestamptz anyarray anyelement".split(" "),
];
const PAIRED = "text,name,bigint,integer,oid,regclass,boolean,numeric,double precision,timestamptz,interval".split(",");
const TRIPLED = ["text", "boolean", "oid"];
/** What an operator may have on each of its sides. */
const SIDES = [...PAIRED, "bytea", "tsvector", "tsquery", "real", '"char"', "bigint[]"];
const SYMBOLS = "= <> < > <= >= || + - * / @@ ~~".split(" ");
const COMPARED = "= <> < > <= >= @@ ~~".split(" ");
const NAMED_TYPES = "text name oid regclass tsvector tsquery bytea interval numeric float8 bool int8 int4 timestamptz".split(" ");

/** Any word in the source of the engine may be the name of a table of the system, and before a parenthesis of a function. */
function findInSource(pattern: RegExp): readonly string[] {
  const folder = join(PROJECT, "src/store/postgres");
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"));
  const words = files.flatMap((name) => readFileSync(join(folder, name), "utf8").match(pattern) ?? []);
  return [...new Set(words)];
}

/**
 * Lets `role`, which may do no more than create there, put overloads of all functions, operators, types and tables of the
 * system that the service may use into the schema public. Each of them counts its calls, and fails.
 */
export async function makeHostile(database: string, role: string): Promise<void> {
  await queryOnce(database, `GRANT CREATE ON SCHEMA public TO ${role}`);
  const run = (sql: string) => queryOnce(database, `SET ROLE ${role}; SET search_path = pg_catalog; ${sql}`);
  await run("CREATE SEQUENCE public.calls; GRANT ALL ON public.calls TO PUBLIC");
  const literal = (list: readonly string[]) => `'{${list.map((one) => `"${one.replaceAll('"', String.raw`\"`)}"`).join()}}'::text[]`;
  const body = `LANGUAGE plpgsql AS $f$ BEGIN PERFORM pg_catalog.nextval('public.calls'); RAISE EXCEPTION 'a hostile %%', %L; END $f$`;
  await run(`DO $do$ DECLARE
      used record; arguments text; symbol text; l text; r text; made int := 0;
    BEGIN
      -- Those of arguments that cannot be, or are there already, are left out.
      FOR used IN SELECT proname, max(pronargs) AS most, min(pronargs) AS least,
          (array_agg(format_type(prorettype, NULL) ORDER BY pronargs))[1] AS type, bool_or(proretset) AS is_set
          FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace AND proname = ANY (${literal(findInSource(/\b[a-z][a-z_0-9]+(?=\()/g))}) GROUP BY proname LOOP
        FOR arguments IN
          SELECT '' WHERE used.least = 0
          UNION ALL SELECT a FROM unnest(${literal(TYPES)}) AS a
          UNION ALL SELECT a || ', ' || b FROM unnest(${literal(PAIRED)}) AS a, unnest(${literal(PAIRED)}) AS b WHERE used.most > 1
          UNION ALL SELECT a || ', ' || b || ', ' || c FROM unnest(${literal(TRIPLED)}) AS a, unnest(${literal(TRIPLED)}) AS b,
            unnest(${literal(TRIPLED)}) AS c WHERE used.most > 2
        LOOP
          BEGIN
            EXECUTE format($b$CREATE FUNCTION public.%I(%s) RETURNS %s %s ${body}$b$, used.proname, arguments,
              CASE WHEN used.is_set THEN 'SETOF' ELSE '' END,
              CASE WHEN used.type LIKE 'any%' OR used.type IN ('internal', 'record', 'trigger') THEN 'text' ELSE used.type END,
              used.proname || ' (' || arguments || ')');
            made := made + 1;
          EXCEPTION WHEN OTHERS THEN NULL;
          END;
        END LOOP;
      END LOOP;
      FOREACH symbol IN ARRAY ${literal(SYMBOLS)} LOOP
        FOR l, r IN SELECT a, b FROM unnest(${literal(SIDES)}) AS a, unnest(${literal(SIDES)}) AS b LOOP
          EXECUTE format($b$CREATE FUNCTION public.%I(%s, %s) RETURNS %s ${body}$b$, 'operator ' || symbol, l, r,
            CASE WHEN symbol = ANY (${literal(COMPARED)}) THEN 'boolean' WHEN symbol = '||' THEN 'text' ELSE l END,
            l || ' ' || symbol || ' ' || r);
          EXECUTE format('CREATE OPERATOR public.%s (FUNCTION = public.%I, LEFTARG = %s, RIGHTARG = %s)', symbol, 'operator ' || symbol, l, r);
          made := made + 1;
        END LOOP;
      END LOOP;
      FOR l IN SELECT relname FROM pg_class WHERE relnamespace = 'pg_catalog'::regnamespace AND relname = ANY (${literal(findInSource(/\bpg_\w+/g))})
        AND relkind IN ('r', 'v') LOOP
        BEGIN
          EXECUTE format('CREATE VIEW public.%I AS SELECT *, nextval(''public.calls'') FROM %I', l, l);
          EXECUTE format('GRANT SELECT ON public.%I TO PUBLIC', l);
          made := made + 1;
        EXCEPTION WHEN invalid_table_definition THEN NULL;
        END;
      END LOOP;
      FOREACH l IN ARRAY ${literal(NAMED_TYPES)} LOOP EXECUTE format('CREATE TYPE public.%I AS ENUM (''hostile'')', l); END LOOP;
      IF made < 5000 THEN RAISE 'only % were made', made; END IF;
    END $do$`);
}

/** How often something hostile was called. */
export async function countCalls(database: string): Promise<number> {
  const [row] = await queryOnce(database, "SELECT CASE WHEN is_called THEN last_value ELSE 0 END::int4 AS calls FROM public.calls");
  return Number(row!["calls"]);
}
