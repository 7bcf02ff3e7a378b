import type * as client from "../../../src/client/client.ts";

/** The results of a journey, a line for each call, as text that can leave a browser. */
export type Journal = Readonly<Record<string, string>>;

type JourneyOptions = Readonly<{ client: typeof client; url: string; token: string }>;

/**
 * Uses every call of the client once or more against an empty store. It needs nothing but web standards, so it runs
 * wherever the client does.
 */
export async function travel({ client, url, token }: JourneyOptions): Promise<Journal> {
  const plants = client.createClient({ url, token });
  const journal: Record<string, string> = {};
  async function note(what: string, call: () => Promise<unknown>): Promise<void> {
    journal[what] = await call().then(toText, (thrown: unknown) => toFault(client, thrown));
  }

  await note("create the largest id", () => plants.create({ id: 2n ** 63n - 1n, name: "Monstera deliciosa", tag: "tropical" }));
  await note("create the smallest id", () => plants.create({ id: -(2n ** 63n), name: "Ginkgo biloba" }));
  await note("create an id past 2^53", () => plants.create({ id: 2n ** 53n + 1n, name: "Yucca \u{1f335} \u0000", tag: "a&b=c+d é" }));
  await note("create the same again", () => plants.create({ id: -(2n ** 63n), name: "Ginkgo biloba" }));
  await note("create another under that id", () => plants.create({ id: -(2n ** 63n), name: "Acer palmatum" }));
  await note("find", () => plants.find(2n ** 63n - 1n));
  await note("find none", () => plants.find(2n ** 53n));
  await note("a page", () => plants.page({ limit: 2 }));
  await note("the next page", () => plants.page({ limit: 2, after: 2n ** 53n + 1n }));
  await note("list over pages", () => gather(plants.list({ limit: 1 }), ({ id }) => id));
  await note("list a tag", () => gather(plants.list({ tag: "a&b=c+d é" }), ({ id }) => id));
  await note("search", () => gather(plants.list({ q: "DELI monst" }), ({ name }) => name));

  await note("put, only if new", () => plants.put({ id: 1n, name: "Acer" }, { ifNoneMatch: "*" }));
  await note("put, only if new, again", () => plants.put({ id: 1n, name: "Acer palmatum" }, { ifNoneMatch: "*" }));
  await note("put", () => plants.put({ id: 1n, name: "Acer palmatum", tag: "tree" }));
  const etag = (await plants.find(1n))?.etag ?? "";
  await note("patch what was seen", () => plants.patch(1n, { tag: null }, { ifMatch: etag }));
  await note("patch what is no more so", () => plants.patch(1n, { name: "Acer rubrum" }, { ifMatch: etag }));
  await note("patch none", () => plants.patch(2n, { name: "Acer rubrum" }));
  await note("remove", () => plants.remove(1n));
  await note("remove again", () => plants.remove(1n));

  const birch = { id: 3n, name: "Betula", tag: "tree" };
  const change = (from: client.Plant | undefined, to: client.Plant | undefined) => gather(plants.change([{ from, to }]), toShort);
  await note("change: create", () => change(undefined, birch));
  await note("change: as it is already", () => change(undefined, birch));
  await note("change: another is there", () => change({ id: 3n, name: "Acer" }, undefined));
  await note("change: delete", () => change(birch, undefined));
  await note("change: none is there", () => change(birch, { id: 3n, name: "Betula" }));
  await note("change: no plant at all", () => change(undefined, undefined));
  await note("change: several requests", async () => {
    const many = Array.from({ length: 2500 }, (_, at) => ({ id: BigInt(at), name: "Betula ".repeat(20) }));
    const made = await gather(plants.change(many.map((to) => ({ from: undefined, to }))), ({ kind }) => kind);
    const undone = await gather(plants.change(many.map((from) => ({ from, to: undefined }))), ({ kind }) => kind);
    return [made.filter((kind) => kind === "changed").length, undone.filter((kind) => kind === "changed").length];
  });
  await note("change: one after the other", async () => {
    const steps = [undefined, birch, { ...birch, tag: "birch" }, undefined];
    return gather(plants.change([0, 1, 2].map((at) => ({ from: steps[at], to: steps[at + 1] }))), ({ kind }) => kind);
  });

  await note("import plants", () =>
    plants.importPlants([
      { id: -7n, name: "Salix" },
      { id: 2n ** 53n + 3n, name: "Tilia", tag: "tree" },
    ]),
  );
  await note("import a file of CSV", () =>
    plants.importPlants(new File(["id,name\r\n-7,Other\r\nx,y\r\n"], "plants.csv"), { onConflict: "replace" }),
  );
  await note("import a stream, dry", () => plants.importPlants(cut('{"id":8,"name":"Bärlauch"}\n'), { dryRun: true }));
  await note("import text that is cut in a character", () => plants.importPlants(['{"id":9,"name":"\ud83c', '\udf35"}\n']));
  await note("find its name", async () => (await plants.find(9n))?.plant.name);
  await plants.remove(9n);
  await note("count tags", () => until(async () => (await plants.tags()).tags.filter(({ tag }) => tag === "tree")));
  await note("suggest", () => plants.suggest({ q: "betula tilai" }));
  await note("suggest for one word", () => plants.suggest({ q: "ginkco" }));
  await note("count", () => plants.count());
  await note("count what has a tag", () => plants.count({ tag: "tree" }));
  await note("count tags of what has a tag", async () => (await plants.tags({ tag: "tree" })).tags);
  await note("export", async () => new Response(await plants.exportPlants()).text());
  await note("export CSV", async () =>
    (await new Response(await plants.exportPlants({ format: "csv", profile: "dwc" })).text()).replaceAll("\r\n", "\n"),
  );
  await note("exported plants", () => gather(plants.exportedPlants(), ({ id }) => id));

  const hedge = { id: 6000n, name: "Carpinus", tag: "hedge" };
  await note("follow what changes next", async () => {
    const seen: unknown[] = [];
    for await (const { change: seenNow } of plants.changes({ tag: "hedge" })) {
      if (seenNow) seen.push([seenNow.change, seenNow.plant]);
      if (seen.length === 0) await plants.put(hedge);
      else if (seen.length === 1) await plants.patch(6000n, { tag: null });
      else break;
    }
    return seen;
  });
  await note("follow on from an export", async () => {
    const { changesCursor } = await plants.exportPlants();
    await plants.create({ ...hedge, id: 2n ** 53n + 5n });
    for await (const { change: next } of plants.changes({ after: changesCursor! })) if (next) return next.plant;
    return "nothing";
  });
  for (const id of [6000n, 2n ** 53n + 5n]) await plants.remove(id);
  await note("changes of a plant", async () => {
    const { changes, next } = await plants.changesOf(6000n, { limit: 2 });
    const rest = await plants.changesOf(6000n, next);
    return [...changes, ...rest.changes].map(({ id, by, from, to, ...past }) => [id, past.change, by, from ?? null, to ?? null]);
  });
  await note("deleted plants", async () => (await plants.deleted({ limit: 2 })).changes.map(({ id, from }) => [id, from]));
  await note("take back an import", async () => {
    const { import: id } = await plants.importPlants([hedge, { ...hedge, id: 6001n }], { import: "journey" });
    const { began, ended, ...found } = (await plants.imports()).find((one) => one.id === id)!;
    const { changes } = await plants.changesOfImport(found.id);
    const undone = await gather(plants.change(changes.map(({ from, to }) => ({ from: to, to: from }))), ({ kind }) => kind);
    return [began <= ended, found.by, found.created, found.replaced, undone];
  });

  await note("make a token", async () => {
    const made = await plants.createToken({ name: "journey", scopes: ["plants:read"], days: 1 });
    await note("ask who the token is", async () => {
      const { id, name, scopes, parent } = await client.createClient({ url, token: made.token }).session();
      return [id === made.id, name, scopes, parent];
    });
    await note("use the token", () => client.createClient({ url, token: made.token }).find(2n ** 53n + 3n));
    await note("revoke the token", () => plants.revokeToken(made.id));
    return made.scopes;
  });
  await note("revoke an unknown token", () => plants.revokeToken("none"));
  await note("list tokens", async () => (await plants.listTokens()).map(({ name, revoked }) => [name, revoked !== undefined]));

  const stranger = client.createClient({ url, token: "none" });
  await note("ask who a wrong token is", () => stranger.session());
  await note("find with a wrong token", () => stranger.find(1n));
  await note("import with a wrong token", () => stranger.importPlants(cut('{"id":8,"name":"x"}\n')));
  await note("abort", () => plants.find(1n, { signal: AbortSignal.abort(new Error("enough")) }));
  return journal;
}

/** The text as single bytes: characters are cut between pieces. */
function cut(text: string): ReadableStream<Uint8Array> {
  const bytes = new TextEncoder().encode(text);
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      if (at === bytes.length) controller.close();
      else controller.enqueue(bytes.slice(at, (at += 1)));
    },
  });
}

async function gather<From, Item>(all: AsyncIterable<From>, pick: (one: From) => Item): Promise<Item[]> {
  const items: Item[] = [];
  for await (const one of all) items.push(pick(one));
  return items;
}

function toShort({ kind, ...rest }: client.ChangeOutcome): unknown[] {
  return "now" in rest ? [kind, rest.now] : [kind];
}

/** What the service finds within some seconds of the change. */
async function until<Item>(look: () => Promise<Item[]>): Promise<Item[]> {
  for (let tries = 0; tries < 200; tries += 1) {
    const found = await look();
    if (found.length > 0) return found;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return [];
}

/** Another one in each run. */
const HIDDEN = new Set(["etag", "import"]);

function toText(value: unknown): string {
  if (typeof value === "string") return value;
  return (
    JSON.stringify(value, (key, member: unknown) => (typeof member === "bigint" ? `${member}n` : HIDDEN.has(key) ? "…" : member)) ??
    "nothing"
  );
}

function toFault({ ServiceError }: typeof client, thrown: unknown): string {
  if (!(thrown instanceof ServiceError)) return String(thrown);
  const { status, error, requestId, isRepeatable } = thrown;
  return `${status} ${error}${requestId === undefined ? "" : " with a request id"}${isRepeatable ? ", repeatable" : ""}`;
}
