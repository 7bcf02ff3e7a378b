type Events = WindowEventMap & DocumentEventMap;
type Listeners = Readonly<{ [Kind in keyof Events]?: (event: Events[Kind]) => void }>;

/** Hears events of the window, and what bubbles to it, until what it returns is called. */
export function listen(listeners: Listeners): () => void {
  const ending = new AbortController();
  const { signal } = ending;
  for (const [kind, listener] of Object.entries(listeners)) addEventListener(kind, listener as (event: Event) => void, { signal });
  return () => ending.abort();
}
