import { useEffect, useState } from "preact/hooks";
import type { Client } from "../../src/client/client.ts";
import { LinkButton } from "../ui/button.tsx";
import { filterOf } from "../view.ts";
import type { View } from "../view.ts";

/** Who is still typing needs no suggestions. */
const PAUSE_MS = 300;

type SuggestionsProps = Readonly<{ client: Client; view: View; onChoose: (q: string) => void }>;

/** Where nothing matches: searches that find something, with one or two letters otherwise. */
export function Suggestions({ client, view, onChoose }: SuggestionsProps) {
  const [found, setFound] = useState<readonly string[]>([]);
  useEffect(() => {
    const running = new AbortController();
    // They are beside the point: without them, the page says what it knows.
    const ask = () => client.suggest({ ...filterOf(view), signal: running.signal }).then(setFound, () => {});
    const timer = setTimeout(() => void ask(), PAUSE_MS);
    return () => {
      clearTimeout(timer);
      running.abort();
      setFound([]);
    };
  }, [view.q, view.tag]);
  return (
    <p role="status">
      {found.length > 0 ? "Did you mean " : null}
      {found.flatMap((q, at) => [at > 0 ? " or " : null, <LinkButton key={q} label={q} onClick={() => onChoose(q)} />])}
      {found.length > 0 ? "?" : null}
    </p>
  );
}
