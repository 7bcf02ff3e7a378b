import { ownerOf } from "../auth/principal.ts";
import { invalidQuery } from "../domain/errors.ts";
import { toFilter } from "../domain/plant-filter.ts";
import type { ChangePage, History, LogCursor } from "../store/history.ts";
import { parseLogCursor } from "../store/log-cursor.ts";
import type { HistoryFor } from "../store/queued-history.ts";
import { chooseType } from "./accept.ts";
import { toChangeText } from "./change-json.ts";
import { linkTo } from "./cursor.ts";
import { expectProgress } from "./feed/progress.ts";
import type { Streams } from "./feed/streams.ts";
import { CHANGES_PAGE_MAX } from "./history.ts";
import { toPageTexts } from "./page-texts.ts";
import type { Represent } from "./representation.ts";
import type { Call, Handlers } from "./router.ts";
import type { HttpResponse } from "./wire/response.ts";

const JSON_TYPE = "application/json";
const STREAM_TYPE = "text/event-stream";

const STREAM_HEADERS = {
  "content-type": STREAM_TYPE,
  "cache-control": "no-store",
  vary: "Accept",
  // nginx would keep events back until there are some thousand bytes.
  "x-accel-buffering": "no",
};

type ChangeOptions = Readonly<{
  history: Pick<History, "newest">;
  historyFor: HistoryFor;
  streams: Pick<Streams, "open">;
  represent: Represent;
}>;

type ChangesCall = Call<"listChanges">;

export function changeHandlers({ history, historyFor, streams, represent }: ChangeOptions): Pick<Handlers, "listChanges"> {
  async function readPage({ parameters, principal }: ChangesCall, limit: number): Promise<ChangePage> {
    const after = parseAfter(parameters.after);
    if (after === "now") return { changes: [], cursor: await history.newest(), isEnd: true };
    const { tag } = toFilter(parameters);
    return expectProgress(await historyFor(ownerOf(principal)).read({ after, limit, tag }), after);
  }

  async function openStream(call: ChangesCall): Promise<HttpResponse> {
    const { parameters, headers, connection } = call;
    const lastId = headers.get("last-event-id");
    const after = lastId ? parseFeedCursor({ from: "header Last-Event-ID", text: lastId }) : parseAfter(parameters.after);
    const body = await streams.open(call, { after: after === "now" ? undefined : after, tag: toFilter(parameters).tag });
    // Only its end shows over HTTP/1.0 that the body has ended.
    return { status: 200, body, headers: connection.isHttp10 ? { ...STREAM_HEADERS, connection: "close" } : STREAM_HEADERS };
  }

  async function respond(call: ChangesCall): Promise<HttpResponse> {
    const { tag, untagged } = call.parameters;
    const limit = Math.min(call.parameters.limit, CHANGES_PAGE_MAX);
    const page = await readPage(call, limit);
    const texts = toPageTexts(page.changes, toChangeText);
    const cursor = texts.length < page.changes.length ? page.changes[texts.length - 1]!.cursor : page.cursor;
    const link = linkTo({ after: cursor, limit, tag, untagged: untagged || undefined });
    return represent({ status: 200, body: `[${texts.join()}]`, headers: { ...link, vary: "Accept, Accept-Encoding" } }, call.headers);
  }

  return {
    listChanges: (call) =>
      chooseType(call.headers.get("accept"), [JSON_TYPE, STREAM_TYPE]) === STREAM_TYPE ? openStream(call) : respond(call),
  };
}

/** A cursor, or `now`. */
function parseAfter(text: string | undefined): string | undefined {
  return text === undefined || text === "now" ? text : parseFeedCursor({ from: "query parameter `after`", text });
}

/**
 * Throws `invalid_query` for a text that can be no cursor. To begin with what changes next instead would be a gap of which no
 * one hears. Whether the log has the place shows when it is read.
 */
function parseFeedCursor({ from, text }: Readonly<{ from: string; text: string }>): LogCursor {
  if (parseLogCursor(text)) return text;
  throw invalidQuery(`The ${from} is not a cursor of changes: send one as it came, or begin with GET /plants/export.`);
}
