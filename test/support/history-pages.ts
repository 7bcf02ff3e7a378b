import { expectProgress } from "../../src/http/feed/progress.ts";
import type { Change, ChangeQuery, LogCursor, PastChange, PastPage } from "../../src/store/history.ts";
import type { Store } from "../../src/store/store.ts";

/** All changes that can be read behind a place, page by page, and the place behind them. */
export async function readOn(
  { history }: Pick<Store, "history">,
  { after, limit = 1000, tag }: Partial<ChangeQuery> = {},
): Promise<Readonly<{ changes: Change[]; cursor: LogCursor }>> {
  const changes: Change[] = [];
  for (let from = after; ;) {
    const page = expectProgress(await history.read({ after: from, limit, tag }), from);
    changes.push(...page.changes);
    if (page.isEnd) return { changes, cursor: page.cursor };
    from = page.cursor;
  }
}

/** Pages of the past that follow each other, the newest first. */
export async function* pagesOf(ask: (before: LogCursor | undefined) => Promise<PastPage>): AsyncGenerator<readonly PastChange[], void> {
  let before: LogCursor | undefined;
  do {
    const { changes, next } = await ask(before);
    yield changes;
    before = next;
  } while (before !== undefined);
}
