import type { SamplerSettings } from "./sampler.ts";

export type TraceSettings = Readonly<{
  /** Where the collector takes traces by OTLP/HTTP. */
  url: string;
  headers: Readonly<Record<string, string>>;
  /** What the spans say about the service. */
  resource: Readonly<Record<string, string>>;
  sampler: SamplerSettings;
  /** The variables are for all programs, of which most send protobuf. We send JSON. */
  asksForProtobuf: boolean;
}>;

type Environment = Readonly<Record<string, string | undefined>>;

const SAMPLERS = {
  always_on: { isParentBased: false, hasRatio: false, ratio: 1 },
  always_off: { isParentBased: false, hasRatio: false, ratio: 0 },
  traceidratio: { isParentBased: false, hasRatio: true, ratio: 1 },
  parentbased_always_on: { isParentBased: true, hasRatio: false, ratio: 1 },
  parentbased_always_off: { isParentBased: true, hasRatio: false, ratio: 0 },
  parentbased_traceidratio: { isParentBased: true, hasRatio: true, ratio: 1 },
} as const satisfies Record<string, SamplerSettings & { hasRatio: boolean }>;

/** A name as a header or an attribute may have it, and a value of visible characters (W3C Baggage, 3.3.1). */
const MEMBER = /^[\t ]*([!#$%&'*+\-.^_`|~\dA-Za-z]+)[\t ]*=[\t ]*([!-~]*)[\t ]*$/;

/** What a value may be once it is decoded. */
const HEADER_TEXT = /^[ -~]*$/;
const TEXT = /^\P{Cc}*$/u;

/**
 * Reads the variables that OpenTelemetry has for all programs. Undefined if they do not say where traces go. Adds what is
 * wrong with them to `problems`, never with a value: headers are secret.
 */
export function parseTraceSettings(environment: Environment, problems: string[]): TraceSettings | undefined {
  // As the specification wants it, an empty variable is none.
  const find = (...names: string[]) => names.map((name) => ({ name, given: environment[name] ?? "" })).find(({ given }) => given !== "");

  function expect(choices: readonly string[], ...names: string[]): string | undefined {
    const { name, given } = find(...names) ?? {};
    if (given !== undefined && !choices.includes(given))
      problems.push(`${name} must be ${choices.length > 1 ? `one of ${choices.join(", ")}` : choices[0]}.`);
    return given;
  }

  function pairs(allowed: RegExp, ...names: string[]): Record<string, string> {
    const { name, given = "" } = find(...names) ?? {};
    const members = given.split(",").filter((member) => member.trim() !== "");
    const found = members.map((member) => decode(MEMBER.exec(member), allowed));
    if (found.includes(undefined)) problems.push(`${name} must be names and values, such as a=1,b=2, with %20 for a space.`);
    return Object.fromEntries(found.filter((pair) => pair !== undefined));
  }

  const endpoint = find("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT");
  if (!endpoint || environment["OTEL_SDK_DISABLED"]?.toLowerCase() === "true") return undefined;
  if (expect(["otlp", "none"], "OTEL_TRACES_EXPORTER") === "none") return undefined;
  const protocol = expect(["http/json", "http/protobuf"], "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL");
  const sampler = (expect(Object.keys(SAMPLERS), "OTEL_TRACES_SAMPLER") ?? "parentbased_always_on") as keyof typeof SAMPLERS;
  const { isParentBased, hasRatio, ratio } = SAMPLERS[sampler] ?? SAMPLERS.always_off;
  const share = hasRatio ? Number(find("OTEL_TRACES_SAMPLER_ARG")?.given ?? ratio) : ratio;
  if (!(share >= 0 && share <= 1)) problems.push("OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1.");
  const service = find("OTEL_SERVICE_NAME")?.given;
  return {
    url: toUrl(endpoint, problems),
    headers: pairs(HEADER_TEXT, "OTEL_EXPORTER_OTLP_TRACES_HEADERS", "OTEL_EXPORTER_OTLP_HEADERS"),
    resource: { ...pairs(TEXT, "OTEL_RESOURCE_ATTRIBUTES"), ...(service === undefined ? {} : { "service.name": service }) },
    sampler: { isParentBased, ratio: share },
    asksForProtobuf: protocol === "http/protobuf",
  };
}

/** The variable for traces has the whole address; the one for everything does not have the path (OTLP exporter, 2.1). */
function toUrl({ name, given }: { name: string; given: string }, problems: string[]): string {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  // What is a secret belongs into the headers: the address is logged.
  const isPlain = url !== undefined && /^https?:$/.test(url.protocol) && `${url.username}${url.password}${url.search}` === "";
  if (!isPlain) {
    problems.push(`${name} must be an address such as http://127.0.0.1:4318, without a password or a query.`);
    return "";
  }
  if (name === "OTEL_EXPORTER_OTLP_ENDPOINT") url.pathname = `${url.pathname.replace(/\/$/, "")}/v1/traces`;
  return url.href;
}

/** Undefined if it is not a pair, or its value is not allowed. */
function decode(member: RegExpExecArray | null, allowed: RegExp): [name: string, value: string] | undefined {
  const [, name, value] = member ?? [];
  if (name === undefined || value === undefined) return undefined;
  try {
    const decoded = decodeURIComponent(value);
    return allowed.test(decoded) ? [name, decoded] : undefined;
  } catch {
    return undefined;
  }
}
