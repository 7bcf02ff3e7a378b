import { toText } from "../domain/plant.ts";
import type { Change, PastChange, PastImport } from "../store/history.ts";

/** The names of tokens by their ids; undefined if the reader may not know them. */
export type Names = ReadonlyMap<string, string> | undefined;

export function toChangeText({ id, kind, at, plant }: Change): string {
  return `${head(id, kind, at)}${plant ? `,"plant":${toText(plant)}` : ""}}`;
}

export function toPastText({ id, kind, at, by, import: source, from, to, isForgotten }: PastChange, names: Names): string {
  const states = `${member("from", from && toText(from))}${member("to", to && toText(to))}`;
  const origin = `${toBy(by, names)}${member("import", source === undefined ? undefined : JSON.stringify(source))}`;
  return `${head(id, kind, at)}${origin}${states}${isForgotten ? ',"forgotten":true' : ""}}`;
}

export function toImportText({ id, by, began, ended, created, replaced }: PastImport, names: Names): string {
  const times = `"began":"${toMicroTime(began)}","ended":"${toMicroTime(ended)}"`;
  return `{"id":${JSON.stringify(id)},${times}${toBy(by, names)},"created":${created},"replaced":${replaced}}`;
}

function head(id: bigint, kind: Change["kind"], at: number): string {
  return `{"id":${id},"change":"${kind}","at":"${toMicroTime(at)}"`;
}

/** A command has no token, and so no name. */
function toBy(by: string, names: Names): string {
  return member("by", names && JSON.stringify(names.get(by) ?? null));
}

function member(name: string, json: string | undefined): string {
  return json === undefined ? "" : `,"${name}":${json}`;
}

/** RFC 3339, in UTC. `at` in microseconds since 1970. */
function toMicroTime(at: number): string {
  const ms = Math.floor(at / 1000);
  return `${new Date(ms).toISOString().slice(0, -1)}${String(at - ms * 1000).padStart(3, "0")}Z`;
}
