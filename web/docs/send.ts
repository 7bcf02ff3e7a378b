import type { Operation } from "./document.ts";

export type FilledForm = Readonly<{
  /** Parameters by name; what is empty is not sent. */
  parameters: Readonly<Record<string, string>>;
  type: string | undefined;
  body: string;
}>;

export type ComposedRequest = Readonly<{
  url: string;
  method: string;
  headers: Readonly<Record<string, string>>;
  body: string | undefined;
}>;

export type Answered = Readonly<{
  status: number;
  headers: readonly (readonly [name: string, value: string])[];
  /** Without its end, when that is too much to show. */
  body: string;
  isCut: boolean;
}>;

/** How many characters of an answer are read: no one reads more on a page. */
const BODY_MAX = 200_000;

/** The request, but for its token. `base` is where the service is. */
export function toOutgoing(
  { method, path, parameters }: Operation,
  { parameters: values, type, body }: FilledForm,
  base: string,
): ComposedRequest {
  const given = parameters.filter(({ name }) => (values[name] ?? "") !== "");
  const at = (place: string) => given.filter((parameter) => parameter.in === place).map(({ name }) => [name, values[name] ?? ""] as const);
  const filled = at("path").reduce((text, [name, value]) => text.replace(`{${name}}`, encodeURIComponent(value)), path);
  const query = at("query")
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
    .join("&");
  return {
    // Relative, so that it is right also behind a proxy that serves all of it under a prefix.
    url: new URL(`.${filled}${query === "" ? "" : `?${query}`}`, base).href,
    method,
    headers: { ...Object.fromEntries(at("header")), ...(type === undefined ? {} : { "Content-Type": type }) },
    body: type === undefined ? undefined : body,
  };
}

/** The same request for a terminal. The token stays a variable, which keeps it out of the history. */
export function curlLine({ url, method, headers, body }: ComposedRequest, isGuarded: boolean): string {
  return [
    "curl",
    ...(method === "GET" ? [] : [`-X ${method}`]),
    ...(isGuarded ? ['-H "Authorization: Bearer $TOKEN"'] : []),
    ...Object.entries(headers).map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : [`--data-binary ${quote(body)}`]),
    quote(url),
  ].join(" ");
}

/** Sends it. Rejects when no answer comes. */
export async function send({ url, method, headers, body }: ComposedRequest, token: string | undefined): Promise<Answered> {
  const response = await fetch(url, {
    method,
    headers: { ...headers, ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }) },
    body: body ?? null,
    // What is shown here is what the service answered now.
    cache: "no-store",
    credentials: "omit",
  });
  const read = await readText(response);
  return { status: response.status, headers: [...response.headers], ...read };
}

async function readText({ body }: Response): Promise<Pick<Answered, "body" | "isCut">> {
  if (!body) return { body: "", isCut: false };
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  while (text.length <= BODY_MAX) {
    const { done, value } = await reader.read();
    if (done) return { body: text, isCut: false };
    text += value;
  }
  await reader.cancel();
  return { body: text.slice(0, BODY_MAX), isCut: true };
}

/** Quotes a word for a POSIX shell. */
function quote(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
