import type { Random } from "../random.ts";
import { readToken } from "../service.ts";
import { textOf, WORD } from "./journal.ts";
import type { Content, Journal } from "./journal.ts";

type Request = Readonly<{ method: string; path: string; body?: string; type?: string; makes: ReadonlyMap<number, Content | undefined> }>;

type LoadOptions = Readonly<{
  url: string;
  data: string;
  journal: Journal;
  random: Random;
  clients: number;
  steps: number;
  /** The load before a restart: what it left open is sent again first, like a user would do. */
  before?: Done | undefined;
  /** Called at each response, with the name of its request and the status. */
  onAnswer: (answer: Readonly<{ request: string; status: number }>) => void;
}>;

/** What a load leaves: the creates that were not answered. */
export type Done = Readonly<{ open: readonly Request[] }>;

const CLIENT_IDS = 10_000;
/** How many imports one token may have at a time: the next one is refused. */
const IMPORTS_MAX = 4;
const IMPORTED = 20;
/** Most names share a page of SQLite with many others, some need overflow pages. */
const LEAVES_MAX = { often: 20, rarely: 3000 } as const;

/**
 * Clients that each take this many steps, until their connection breaks: they create plants, replace, patch and delete
 * them, and import some, each client its own.
 */
export async function changePlants(options: LoadOptions): Promise<Done> {
  const { url, data, journal, random, clients, steps, before, onAnswer } = options;
  const authorization = `Bearer ${await readToken(data)}`;
  const open: Request[] = [];
  let imports = 0;
  const firstId = Math.max(-1, ...journal.ids()) + 1;

  async function send(request: Request): Promise<boolean> {
    const { method, path, body, type = "application/json", makes } = request;
    const isImport = path === "/plants/import";
    const name = journal.begin(new Map([...makes].map(([id, content]) => [id, content && textOf(content)])));
    const headers = { authorization, "x-request-id": name, ...(body === undefined ? {} : { "content-type": type }) };
    if (isImport) imports += 1;
    try {
      const response = await fetch(url + path, { method, headers, ...(body === undefined ? {} : { body }) });
      await response.arrayBuffer();
      onAnswer({ request: name, status: response.status });
      return true;
    } catch {
      if (path === "/plants") open.push(request);
      return false;
    } finally {
      if (isImport) imports -= 1;
    }
  }

  async function run(client: number): Promise<void> {
    const next = planRequests(firstId + client * CLIENT_IDS, random);
    const again = before?.open.filter((_, at) => at % clients === client) ?? [];
    for (const request of again) if (!(await send(request))) return;
    for (let step = 0; step < steps; step += 1) if (!(await send(next(imports < IMPORTS_MAX)))) return;
  }

  await Promise.all(Array.from({ length: clients }, (_, client) => run(client)));
  return { open };
}

/** One request after the other, for its own plants from an id on. */
function planRequests(firstId: number, random: Random): (mayImport: boolean) => Request {
  const plants = new Map<number, Content>();
  let id = firstId;
  let step = 0;

  function content(): Content {
    step += 1;
    const leaves = "leaf ".repeat(random() * (random() < 0.05 ? LEAVES_MAX.rarely : LEAVES_MAX.often));
    return { name: `${WORD} ${firstId}.${step} ${leaves}`, ...(random() < 0.5 ? { tag: `tag ${Math.trunc(random() * 5)}` } : {}) };
  }
  function create(): Request {
    id += 1;
    return change(id, content(), { method: "POST", path: "/plants", isWhole: true });
  }
  function change(of: number, to: Content | undefined, { method, path = `/plants/${of}`, isWhole = false }: Form): Request {
    if (to) plants.set(of, to);
    else plants.delete(of);
    // After a refusal it is unknown whether there is a tag: to have none, it is removed.
    const fields = { ...(isWhole ? { id: of } : {}), ...to, ...(method === "PATCH" ? { tag: to?.tag ?? null } : {}) };
    const body = to ? { body: JSON.stringify(fields) } : {};
    return { method, path, ...body, makes: new Map([[of, to]]) };
  }
  function importSome(): Request {
    const rows = Array.from({ length: IMPORTED }, (_, at) => [id + 1 + at, content()] as const);
    id += IMPORTED;
    const body = rows.map(([of, row]) => `${JSON.stringify({ id: of, ...row })}\n`).join("");
    return { method: "POST", path: "/plants/import", body, type: "application/x-ndjson", makes: new Map(rows) };
  }
  return function next(mayImport) {
    const lot = random();
    const [of, is] = [...plants][Math.trunc(random() * plants.size)] ?? [];
    if (lot < 0.04 && mayImport) return importSome();
    if (of === undefined || is === undefined || lot < 0.55) return create();
    if (lot < 0.7) return change(of, content(), { method: "PUT" });
    if (lot < 0.85) return change(of, { ...is, ...content() }, { method: "PATCH" });
    return change(of, undefined, { method: "DELETE" });
  };
}

type Form = Readonly<{ method: string; path?: string; isWhole?: boolean }>;
