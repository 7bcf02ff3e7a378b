import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Random } from "../random.ts";
import { isSync, openPathOf, stringsOf } from "../trace.ts";
import type { Call } from "../trace.ts";

// What a disk can hold after a power cut, rebuilt from system calls. The rules are stricter than any file system that
// we know:
// - A change of a file is certain once a sync of that file began after it and succeeded. After a failed sync, what it
//   should have brought to the disk may be lost for good, even if later syncs succeed: the kernel may count it as
//   clean.
// - Any of the other changes may be there, whole or in pieces, even later ones without earlier ones. What was written
//   twice may be there in its first form. A write beyond the end leaves zeros where another is missing. A truncate is a
//   change.
// - A name that appears, disappears or moves is a change of the folder, and certain only once the folder was synced,
//   whatever happened to its file. A failed sync of it may be repeated: names are in the journal of a file system,
//   which a failed write stops for good.
// Not included: a disk that loses or damages what it reported as synced, or bytes that were never written.

/** The files of a folder by their names. */
type Image = ReadonlyMap<string, Buffer>;

/** What happens to uncertain changes: pieces of this many bytes are kept with this probability. */
type Loss = Readonly<{ what: string; pieceBytes: number; kept: number }>;

const KEEP_ALL: Loss = { what: "all kept", pieceBytes: Infinity, kept: 1 };

export const LOSSES: readonly Loss[] = [
  { what: "nothing unsynced kept", pieceBytes: Infinity, kept: 0 },
  KEEP_ALL,
  { what: "some writes kept", pieceBytes: Infinity, kept: 0.5 },
  { what: "some of 512 bytes kept", pieceBytes: 512, kept: 0.5 },
  { what: "some of 4096 bytes kept", pieceBytes: 4096, kept: 0.5 },
];

type Write = Readonly<{ offset: number; bytes: Buffer }>;
type Truncate = Readonly<{ size: number }>;
/** Names that change in one step: a rename removes one and adds another. */
type Names = ReadonlyArray<readonly [name: string, file: File | undefined]>;

type Change<What> = { what: What; ended: number; state: "unsynced" | "synced" | "given up" };
type File = { base: Buffer; changes: Change<Write | Truncate>[] };
type Folder = { base: ReadonlyMap<string, File>; changes: Change<Names>[] };

/**
 * The files in a folder as any process sees them now. SQLite creates the -shm again after a power cut, so it is left
 * out.
 */
export function readImage(folder: string): Image {
  const names = readdirSync(folder).filter(isKept);
  return new Map(names.map((name) => [name, readFileSync(join(folder, name))]));
}

/** Makes the folder equal to the image. */
export function writeImage(image: Image, folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { mode: 0o700 });
  for (const [name, bytes] of image) writeFileSync(join(folder, name), bytes);
}

/** A process that worked on a folder: its calls, how many lines its trace has, and what it left there. */
export type Stage = Readonly<{ calls: readonly Call[]; lines: number; left: Image }>;

type Event = Readonly<{ line: number; happen(): void }>;

/**
 * The disk under a folder that was empty, and was then used by one process after the other. Lines are those of all
 * traces, one after the other. Throws if the calls do not lead to what a process left: then the trace lacks some.
 */
export function replay(path: string, stages: readonly Stage[]) {
  const folder: Folder = { base: new Map(), changes: [] };
  const events = eventsOf(folder, path, stages);
  let at = 0;
  return {
    /** The lines at which something happens. */
    lines: events.map(({ line }) => line),
    /** Goes on to the moment after a line. */
    advance(line: number): void {
      for (; at < events.length && events[at]!.line <= line; at += 1) events[at]!.happen();
    },
    /** What the disk may hold now. */
    image: (loss: Loss, random: Random): Image => imageOf(folder, loss, random),
    /** Whether a power cut may take something of a file now. */
    isAtRisk: (name: string): boolean => (namesNow(folder).get(name)?.changes ?? []).some(({ state }) => state !== "synced"),
  };
}

function eventsOf(folder: Folder, path: string, stages: readonly Stage[]): Event[] {
  let from = 0;
  return stages.flatMap(({ calls, lines, left }) => {
    const own = calls
      .filter((call) => concerns(call, path))
      .map((call) => eventOf(folder, { ...call, began: from + call.began, ended: from + call.ended }))
      .filter(({ line }) => Number.isFinite(line))
      .toSorted((one, other) => one.line - other.line);
    from += lines;
    const end = from;
    return [...own, { line: end, happen: () => leave(folder, left, end) }];
  });
}

/** A change may have been made as soon as its call began; a sync is believed when it has ended. */
function eventOf(folder: Folder, call: Call): Event {
  return isSync(call)
    ? { line: call.ended, happen: () => sync(folder, call) }
    : { line: call.began, happen: () => CHANGES[call.name]?.(folder, call) };
}

/** A failed sync has consequences; any other failed call has none. */
function concerns(call: Call, folder: string): boolean {
  if (call.result.startsWith("-1") && !isSync(call)) return false;
  const path = pathOf(call);
  return path === folder || (path !== undefined && dirname(path) === folder && isKept(path));
}

function pathOf(call: Call): string | undefined {
  return openPathOf(call) ?? (call.name in CHANGES ? stringsOf(call)[0]?.toString() : undefined);
}

function isKept(name: string): boolean {
  return !name.endsWith("-shm");
}

const CHANGES: Readonly<Record<string, (folder: Folder, call: Call) => void>> = {
  openat(folder, call) {
    const name = basename(pathOf(call)!);
    if (call.text.includes("O_CREAT") && !namesNow(folder).has(name))
      rename(folder, call, [[name, { base: Buffer.alloc(0), changes: [] }]]);
  },
  unlink: (folder, call) => rename(folder, call, [[basename(pathOf(call)!), undefined]]),
  rename(folder, call) {
    const [from, to] = stringsOf(call).map((path) => basename(path.toString()));
    rename(folder, call, [
      [from!, undefined],
      [to!, namesNow(folder).get(from!)],
    ]);
  },
  pwrite64: (folder, call) => edit(folder, call, { offset: lastNumberOf(call), bytes: stringsOf(call)[0]! }),
  // Only the first token is written like this: a new file, in one piece.
  write: (folder, call) => edit(folder, call, { offset: 0, bytes: stringsOf(call)[0]! }),
  ftruncate: (folder, call) => edit(folder, call, { size: lastNumberOf(call) }),
};

function lastNumberOf({ text }: Call): number {
  return Number(/\d+$/.exec(text)?.[0]);
}

function rename(folder: Folder, { ended }: Call, names: Names): void {
  folder.changes.push({ what: names, ended, state: "unsynced" });
}

function edit(folder: Folder, call: Call, what: Write | Truncate): void {
  const file = namesNow(folder).get(basename(pathOf(call)!));
  if (!file) throw new Error(`The trace does not show how this file was made: ${pathOf(call)}`);
  file.changes.push({ what, ended: call.ended, state: "unsynced" });
}

function sync(folder: Folder, call: Call): void {
  const file = namesNow(folder).get(basename(pathOf(call)!));
  const { changes } = file ?? folder;
  for (const change of changes) {
    if (change.state !== "unsynced") continue;
    if (call.result !== "0") change.state = file ? "given up" : "unsynced";
    else if (change.ended < call.began) change.state = "synced";
  }
  // What is certain up to a point need not be replayed again.
  if (!file) {
    while (folder.changes[0]?.state === "synced") {
      folder.base = namesOf({ ...folder, changes: folder.changes.slice(0, 1) }, () => true);
      folder.changes.shift();
    }
    return;
  }
  while (file.changes[0]?.state === "synced") file.base = edited(file.base, file.changes.shift()!.what);
}

/** The process has ended. The write that the kill interrupted counts as far as it is in the file. */
function leave(folder: Folder, left: Image, line: number): void {
  for (const [name, { changes }] of namesNow(folder)) {
    for (const change of changes) {
      if (Number.isFinite(change.ended)) continue;
      if ("bytes" in change.what) {
        const { offset, bytes } = change.what;
        change.what = { offset, bytes: left.get(name)!.subarray(offset, offset + bytes.length) };
      }
      change.ended = line;
    }
  }
  const seen = imageOf(folder, KEEP_ALL, () => 0);
  const isSame = seen.size === left.size && [...left].every(([name, bytes]) => seen.get(name)?.equals(bytes));
  if (!isSame) throw new Error(`The trace does not lead to what is in the folder: ${[...seen.keys()].join()}; ${[...left.keys()].join()}`);
}

/** The files by their names, as a process sees them. */
function namesNow(folder: Folder): Map<string, File> {
  return namesOf(folder, () => true);
}

function namesOf({ base, changes }: Folder, isThere: (change: Change<Names>) => boolean): Map<string, File> {
  const names = new Map(base);
  for (const change of changes.filter(isThere)) {
    for (const [name, file] of change.what) {
      if (file) names.set(name, file);
      else names.delete(name);
    }
  }
  return names;
}

function imageOf(folder: Folder, { kept, pieceBytes }: Loss, random: Random): Image {
  function isThere({ state }: Change<unknown>): boolean {
    return state === "synced" || random() < kept;
  }
  function contentOf({ base, changes }: File): Buffer {
    let bytes: Buffer = Buffer.from(base);
    for (const change of changes) {
      for (const what of piecesOf(change.what, pieceBytes)) if (isThere(change)) bytes = edited(bytes, what);
    }
    return bytes;
  }
  return new Map([...namesOf(folder, isThere)].map(([name, file]) => [name, contentOf(file)]));
}

/** A write in pieces that end where the blocks of the file end. */
function piecesOf(what: Write | Truncate, pieceBytes: number): ReadonlyArray<Write | Truncate> {
  if ("size" in what || pieceBytes === Infinity) return [what];
  const { offset, bytes } = what;
  const pieces: Write[] = [];
  for (let at = offset; at < offset + bytes.length;) {
    const end = Math.min(offset + bytes.length, (Math.trunc(at / pieceBytes) + 1) * pieceBytes);
    pieces.push({ offset: at, bytes: bytes.subarray(at - offset, end - offset) });
    at = end;
  }
  return pieces;
}

/** The bytes after a change, which may be made in place. Missing bytes are zero. */
function edited(bytes: Buffer, what: Write | Truncate): Buffer {
  const size = "size" in what ? what.size : Math.max(bytes.length, what.offset + what.bytes.length);
  const sized = size === bytes.length ? bytes : Buffer.concat([bytes], size);
  if ("bytes" in what) what.bytes.copy(sized, what.offset);
  return sized;
}
