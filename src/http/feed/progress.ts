import type { ChangePage, LogCursor } from "../../store/history.ts";
import { placeText } from "../../store/log-cursor.ts";

/**
 * A page that is not the last one leads on. One that does not is a bug of the store, which must show: a reader would ask
 * for it without end, and hear of no change any more.
 */
export function expectProgress(page: ChangePage, after: LogCursor | undefined): ChangePage {
  if (page.isEnd || after === undefined || placeText(page.cursor) !== placeText(after)) return page;
  throw new Error(`The log goes on behind ${after}, but a page of it leads no further.`);
}
