import { useEffect, useRef, useState } from "preact/hooks";
import { SEARCHED_LENGTH_MAX } from "../../src/domain/terms.ts";
import { useValue } from "../state.ts";
import { AS_TYPED } from "../ui/field.tsx";
import { Icon } from "../ui/icon.tsx";
import { parseId } from "../plants/draft.ts";
import type { Views } from "../view.ts";

/** Long enough to ask once for what is typed in one go, too short to be felt. */
const DEBOUNCE_MS = 20;

/** Searches as one types; Enter opens the plant with that id. What is typed in one go is one step of the back button. */
export function SearchBox({ views, onOpen }: Readonly<{ views: Views; onOpen: (id: bigint) => void }>) {
  const view = useValue(views.state);
  const [text, setText] = useState(view.q);
  const input = useRef<HTMLInputElement>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const isTyping = useRef(false);

  // The address bar may say something else: the back button, or a filter that was cleared.
  useEffect(() => {
    if (view.q === queryOf(text)) return;
    clearTimeout(timer.current);
    isTyping.current = false;
    setText(view.q);
  }, [view.q]);
  useEffect(() => {
    function focusBySlash(event: KeyboardEvent): void {
      const isElsewhere = event.target instanceof Element && event.target.closest("input, textarea, select, dialog") !== null;
      if (event.key !== "/" || isElsewhere || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      input.current?.focus();
    }
    addEventListener("keydown", focusBySlash);
    return () => {
      clearTimeout(timer.current);
      removeEventListener("keydown", focusBySlash);
    };
  }, []);

  function show(next: string): void {
    clearTimeout(timer.current);
    views.show({ ...views.state.get(), q: queryOf(next) }, isTyping.current ? "replace" : "push");
    isTyping.current = true;
  }

  return (
    <form
      class="search-box"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        show(text);
        isTyping.current = false;
        const id = parseId(queryOf(text));
        if (id !== undefined) onOpen(id);
      }}
    >
      <Icon name="search" />
      <input
        type="search"
        ref={input}
        aria-label="Search names"
        placeholder="Search names"
        {...AS_TYPED}
        maxLength={SEARCHED_LENGTH_MAX}
        value={text}
        onInput={({ currentTarget: { value } }) => {
          setText(value);
          clearTimeout(timer.current);
          timer.current = setTimeout(() => show(value), DEBOUNCE_MS);
        }}
        onKeyDown={(event) => {
          const first = document.querySelector<HTMLElement>('tr [data-action="open"]');
          // Where words are composed, as in Japanese, it goes through what can be chosen.
          if (event.key !== "ArrowDown" || event.isComposing || !first) return;
          event.preventDefault();
          first.focus();
        }}
        onBlur={() => (isTyping.current = false)}
      />
    </form>
  );
}

function queryOf(text: string): string {
  return text.trim().toWellFormed();
}
