import { useEffect, useRef, useState } from "preact/hooks";
import { SEARCHED_LENGTH_MAX } from "../../src/domain/terms.ts";
import { listen } from "../listen.ts";
import { parseId } from "../plants/draft.ts";
import { useValue } from "../state.ts";
import { AS_TYPED, Form } from "../ui/form.tsx";
import { Icon } from "../ui/icon.tsx";
import type { Views } from "../view.ts";

/** Long enough to ask once for what is typed in one go, too short to be felt. */
const DEBOUNCE_MS = 20;

/** Searches as one types; Enter opens the plant with that id. What is typed in one go is one step of the back button. */
export function SearchBox({ views, onOpen }: Readonly<{ views: Views; onOpen: (id: bigint) => void }>) {
  const { text, type, show, settle } = useTyping(views);
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => listen({ keydown: (event) => isSlash(event) && moveTo(input.current, event) }), []);

  function submit(): void {
    show(text);
    settle();
    const id = parseId(queryOf(text));
    if (id !== undefined) onOpen(id);
  }

  return (
    <Form class="search-box" role="search" onSubmit={submit}>
      <Icon name="search" />
      <input
        type="search"
        ref={input}
        aria-label="Search names"
        placeholder="Search names"
        {...AS_TYPED}
        maxLength={SEARCHED_LENGTH_MAX}
        value={text}
        onInput={({ currentTarget: { value } }) => type(value)}
        onKeyDown={(event) => {
          // Where words are composed, as in Japanese, it goes through what can be chosen.
          if (event.key === "ArrowDown" && !event.isComposing) moveTo(document.querySelector('tr [data-action="open"]'), event);
        }}
        onBlur={settle}
      />
    </Form>
  );
}

/** What is typed, and the view that it leads to a moment later. */
function useTyping(views: Views) {
  const view = useValue(views.state);
  const [text, setText] = useState(view.q);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const isTyping = useRef(false);
  useEffect(() => () => clearTimeout(timer.current), []);
  // The address bar may say something else: the back button, or a filter that was cleared.
  useEffect(() => {
    if (view.q === queryOf(text)) return;
    clearTimeout(timer.current);
    isTyping.current = false;
    setText(view.q);
  }, [view.q]);

  function show(next: string): void {
    clearTimeout(timer.current);
    views.show({ ...views.state.get(), q: queryOf(next) }, isTyping.current ? "replace" : "push");
    isTyping.current = true;
  }

  return {
    text,
    show,
    type(next: string): void {
      setText(next);
      clearTimeout(timer.current);
      timer.current = setTimeout(() => show(next), DEBOUNCE_MS);
    },
    /** What is typed after this is another step. */
    settle: () => void (isTyping.current = false),
  };
}

function isSlash({ key, target, ctrlKey, metaKey, altKey }: KeyboardEvent): boolean {
  const isTyped = target instanceof Element && target.closest("input, textarea, select, dialog") !== null;
  return key === "/" && !isTyped && !ctrlKey && !metaKey && !altKey;
}

function moveTo(element: HTMLElement | null, event: Event): void {
  if (!element) return;
  event.preventDefault();
  element.focus();
}

function queryOf(text: string): string {
  return text.trim().toWellFormed();
}
