import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv } from "ajv";
import { describe, expect, it } from "bun:test";
import { parse } from "yaml";
import { loadContract } from "../../src/domain/contract.ts";
import { parseConfig } from "../../src/app/config.ts";
import { SETTINGS } from "../../src/app/settings.ts";
import { PROJECT } from "../support/process.ts";

// What can be said of the chart without helm, which no registry of ours has. docs/how-to/run-replicas.md says with
// which helm it was rendered by hand.

const CHART = join(PROJECT, "deploy/helm/plant-store");
const textOf = (path: string) => readFileSync(join(CHART, path), "utf8");
const templates = readdirSync(join(CHART, "templates")).map((name) => textOf(`templates/${name}`));
const pod = textOf("templates/_pod.tpl");
const values = parse(textOf("values.yaml")) as Values;
const isValid = new Ajv({ strict: false }).compile(JSON.parse(textOf("values.schema.json")) as object);

type Values = Readonly<{ [name: string]: unknown }>;

/** The values with some of them changed, as helm merges them. */
function change(given: Values, changed: Values): Values {
  const merged = Object.entries(changed).map(([name, value]) => [
    name,
    isMap(value) && isMap(given[name]) ? change(given[name], value) : value,
  ]);
  return { ...given, ...(Object.fromEntries(merged) as Values) };
}

function isMap(value: unknown): value is Values {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The paths of all values that are not maps, or are empty ones. */
function pathsOf(given: Values, above = ""): string[] {
  return Object.entries(given).flatMap(([name, value]) =>
    isMap(value) && Object.keys(value).length > 0 ? pathsOf(value, `${above}${name}.`) : [`${above}${name}`],
  );
}

describe("the values of the chart", () => {
  for (const { changed, why } of [
    { changed: {}, why: "as they are" },
    { changed: { store: "postgres", postgres: { secret: "database" } }, why: "for PostgreSQL" },
    { changed: { settings: { PLANT_STORE_LOG: "warn", OTEL_SERVICE_NAME: "plants" } }, why: "with settings" },
  ]) {
    it(`are accepted ${why}`, () => expect([isValid(change(values, changed)), isValid.errors]).toEqual([true, null]));
  }

  for (const { changed, why } of [
    { changed: { store: "mysql" }, why: "with a store that there is not" },
    { changed: { store: "postgres" }, why: "for PostgreSQL without a secret" },
    { changed: { replicas: 2 }, why: "with a name that there is not" },
    { changed: { sqlite: { replicas: 2 } }, why: "with two pods on SQLite" },
    { changed: { settings: { PLANT_STORE_QUEUE_MAX: 1_000_000 } }, why: "with a number, which helm writes as 1e+06" },
    { changed: { settings: { PLANT_STORE_PORT: "80" } }, why: "with a setting that the chart has made" },
    { changed: { settings: { log: "warn" } }, why: "with a setting by a name of its own" },
    { changed: { settings: { PLANT_STORE_LOGS: "warn" } }, why: "with a setting that the service does not know" },
  ]) {
    it(`are refused ${why}`, () => expect(isValid(change(values, changed))).toBe(false));
  }

  it("are accepted with every setting of the service that the chart leaves open", () => {
    const made = Array.from(pod.matchAll(/- name: (PLANT_STORE_\w+)/g), ([, name]) => name!);
    const refused = Object.values(SETTINGS)
      .map(({ variable }): string => variable)
      .filter((name) => !isValid(change(values, { settings: { [name]: "1" } })));
    // The time that the pod has for its stop goes with the default of this one.
    expect(refused.toSorted()).toEqual([...new Set([...made, "PLANT_STORE_DRAIN_MS"])].toSorted());
  });

  it("are all used by the templates, which use no others", () => {
    const used = templates.flatMap((text) => Array.from(text.matchAll(/\.Values\.([\w.]+)/g), ([, path]) => path!));
    expect([...new Set(used)].toSorted()).toEqual(
      pathsOf(values)
        .map((path) => path.replace(/^(resources)\..*/, "$1"))
        .filter((path, at, all) => all.indexOf(path) === at)
        .toSorted(),
    );
  });
});

describe("the pod of the chart", () => {
  const environment = Object.fromEntries(
    Array.from(pod.matchAll(/- name: (PLANT_STORE_\w+)\n\s+value: (.+)/g), ([, name, value]) => [name, value!.replaceAll('"', "")]),
  );

  it("has settings that the service accepts, the ports of its probes, and the time that a stop takes", () => {
    const given = { ...environment, PLANT_STORE_TRUSTED_PROXIES: String(values["trustedProxies"]), PLANT_STORE_DATABASE: "postgres://h/d" };
    const { port, metrics, drainDelayMs, drainMs, host } = parseConfig(given, {});
    expect([host, metrics?.host]).toEqual(["0.0.0.0", "0.0.0.0"]);
    expect(Array.from(pod.matchAll(/containerPort: (\d+)/g), ([, number]) => Number(number))).toEqual([port, metrics!.port]);
    expect(Number(/terminationGracePeriodSeconds: (\d+)/.exec(pod)?.[1]) * 1000).toBeGreaterThan(drainDelayMs + drainMs);
  });

  it("is asked what the contract has", () => {
    const asked = Array.from(pod.matchAll(/path: (\/\w+)\n/g), ([, path]) => path!);
    expect(asked).toEqual(["/livez", "/livez", "/readyz"]);
    expect(loadContract().operations.map(({ path }) => path)).toEqual(expect.arrayContaining(asked));
  });

  it("runs as the user of the image, and may do nothing but its work", () => {
    const [, user] = /runAsUser: (\d+)/.exec(pod)!;
    expect(readFileSync(join(PROJECT, "deploy/Containerfile"), "utf8")).toContain(user!);
    for (const line of [
      "runAsNonRoot: true",
      "readOnlyRootFilesystem: true",
      "allowPrivilegeEscalation: false",
      "drop: [ALL]",
      "type: RuntimeDefault",
      "automountServiceAccountToken: false",
    ])
      expect(pod).toContain(line);
  });
});

it("the chart has the version of the service", () => {
  const { version } = JSON.parse(readFileSync(join(PROJECT, "package.json"), "utf8")) as { version: string };
  expect(parse(textOf("Chart.yaml"))).toMatchObject({ version, appVersion: version });
});
