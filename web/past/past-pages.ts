import { useEffect, useRef, useState } from "preact/hooks";
import type { PastChange, PastPage, PastQuery } from "../../src/client/client.ts";
import { ERROR_NUMBERS, ServiceError } from "../../src/client/page-client.ts";
import { failureText, isAbort } from "../failure-text.ts";

/** How many changes are read at once. */
const PAGE = 20;

const TEXTS: Readonly<Record<number, string>> = {
  [ERROR_NUMBERS.changes_off]: "This service is set not to keep past changes.",
  [ERROR_NUMBERS.changes_unsupported]: "This service keeps no past changes: its database is spread over several servers.",
  [ERROR_NUMBERS.changes_gone]: "The service no longer keeps these changes: open this view again.",
};

/** What went wrong, as a sentence for people. */
export function pastFailureText(thrown: unknown): string {
  return (thrown instanceof ServiceError ? TEXTS[thrown.error] : undefined) ?? failureText(thrown);
}

/** Changes read so far, the newest first, and what reads on. */
export function usePastPages(read: (query: PastQuery & { signal: AbortSignal }) => Promise<PastPage>) {
  const [changes, setChanges] = useState<readonly PastChange[]>();
  const [next, setNext] = useState<PastQuery>();
  const [problem, setProblem] = useState<string>();
  const reading = useRef(new AbortController());

  async function load(query: PastQuery, before: readonly PastChange[]): Promise<void> {
    reading.current.abort();
    reading.current = new AbortController();
    const { signal } = reading.current;
    setProblem(undefined);
    try {
      const page = await read({ ...query, signal });
      if (signal.aborted) return;
      setChanges([...before, ...page.changes]);
      setNext(page.next);
    } catch (thrown) {
      if (!signal.aborted && !isAbort(thrown)) setProblem(pastFailureText(thrown));
    }
  }

  const again = () => void load({ limit: PAGE }, []);
  useEffect(() => {
    again();
    return () => reading.current.abort();
  }, []);
  return {
    changes,
    problem,
    again,
    /** Undefined where there are no earlier ones. */
    earlier: next && (() => void load(next, changes ?? [])),
    drop: (ids: ReadonlySet<bigint>) => setChanges((old) => old?.filter(({ id }) => !ids.has(id))),
  };
}
