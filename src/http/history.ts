import { ownerOf, tokenOf } from "../auth/principal.ts";
import type { Principal } from "../auth/principal.ts";
import { asPlantId } from "../domain/plant.ts";
import type { PastPage, PastQuery } from "../store/history.ts";
import type { HistoryFor } from "../store/queued-history.ts";
import type { TokenStore } from "../store/tokens.ts";
import { toImportText, toPastText } from "./change-json.ts";
import type { Names } from "./change-json.ts";
import { linkTo, parsePastCursor, toPastCursor } from "./cursor.ts";
import { toPageTexts } from "./page-texts.ts";
import type { Represent } from "./representation.ts";
import type { Call, Handlers } from "./router.ts";
import type { HttpResponse } from "./wire/response.ts";

type HistoryHandlers = Pick<Handlers, "listPlantChanges" | "listDeletedPlants" | "listImports" | "listImportChanges">;

type HistoryOptions = Readonly<{ historyFor: HistoryFor; tokens: Pick<TokenStore, "names">; represent: Represent }>;

/** `name`: identifies the list. */
type PastList = Readonly<{ name: string; read: (query: PastQuery) => Promise<PastPage> }>;

type PageCall = Pick<Call<"listDeletedPlants">, "parameters" | "headers" | "principal">;

/** @limit reads: changes of a page */
export const CHANGES_PAGE_MAX = 1000;

/** @limit reads: imports that are listed */
const IMPORTS_LISTED_MAX = 1000;

/** What people see of changes. Who made them is for the scope `admin` alone, which lists the tokens too. */
export function historyHandlers({ historyFor, tokens, represent }: HistoryOptions): HistoryHandlers {
  const pastFor = ({ principal }: Pick<Call<"listImports">, "principal">) => historyFor(ownerOf(principal));

  async function namesOf(found: ReadonlyArray<Readonly<{ by: string }>>, principal: Principal): Promise<Names> {
    if (!tokenOf(principal).scopes.includes("admin")) return undefined;
    const ids = new Set(found.map(({ by }) => by));
    return tokens.names([...ids].filter((id) => id !== ""));
  }

  async function respond({ parameters, headers, principal }: PageCall, { name, read }: PastList): Promise<HttpResponse> {
    const limit = Math.min(parameters.limit, CHANGES_PAGE_MAX);
    const before = parameters.cursor === undefined ? undefined : parsePastCursor({ list: name, text: parameters.cursor });
    const textsOf = async ({ changes }: PastPage) => {
      const names = await namesOf(changes, principal);
      return toPageTexts(changes, (change) => toPastText(change, names));
    };
    let page = await read({ before, limit });
    let texts = await textsOf(page);
    if (texts.length < page.changes.length) {
      // A shorter page has the link to what follows it.
      page = await read({ before, limit: texts.length });
      texts = await textsOf(page);
    }
    const link = page.next === undefined ? {} : linkTo({ limit, cursor: toPastCursor({ list: name, place: page.next }) });
    return represent({ status: 200, body: `[${texts.join()}]`, headers: link }, headers);
  }

  return {
    listPlantChanges(call) {
      const { id } = call.parameters;
      return respond(call, { name: `plant ${id}`, read: (query) => pastFor(call).ofPlant(asPlantId(id), query) });
    },
    listDeletedPlants: (call) => respond(call, { name: "deleted", read: pastFor(call).deleted }),
    async listImports(call) {
      const imports = await pastFor(call).imports(IMPORTS_LISTED_MAX);
      const names = await namesOf(imports, call.principal);
      return represent({ status: 200, body: `[${imports.map((one) => toImportText(one, names)).join()}]` }, call.headers);
    },
    listImportChanges(call) {
      const { id } = call.parameters;
      return respond(call, { name: `import ${id}`, read: (query) => pastFor(call).ofImport(id, query) });
    },
  };
}
