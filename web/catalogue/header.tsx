import { useEffect, useRef, useState } from "preact/hooks";
import { Brand } from "../ui/brand.tsx";
import { FOCUS_HOME } from "../ui/focus.ts";
import type { ExportKind } from "./export-to-file.ts";

type HeaderProps = Readonly<{
  isAdmin: boolean;
  onImport: () => void;
  onExport: (kind: ExportKind) => void;
  onTokens: () => void;
  onSignOut: () => void;
}>;

/** The name, and what can be done with the whole catalogue: in a row where there is room, else behind a button. */
export function Header({ isAdmin, onImport, onExport, onTokens, onSignOut }: HeaderProps) {
  const [isOpen, setOpen] = useState(false);
  const menu = useRef<HTMLElement>(null);
  const toggle = useRef<HTMLButtonElement>(null);

  useEffect(() => {
    if (!isOpen) return undefined;
    function closeOutside(event: Event): void {
      if (!(event.target instanceof Node) || menu.current?.contains(event.target) !== true) setOpen(false);
    }
    function closeByKey({ key }: KeyboardEvent): void {
      if (key !== "Escape") return;
      setOpen(false);
      toggle.current?.focus();
    }
    addEventListener("click", closeOutside);
    addEventListener("keydown", closeByKey);
    return () => {
      removeEventListener("click", closeOutside);
      removeEventListener("keydown", closeByKey);
    };
  }, [isOpen]);

  function item(label: string, run: () => void) {
    return (
      <li>
        <button
          class="button quiet"
          type="button"
          onClick={() => {
            // The menu is gone with its buttons: whatever opens gives the focus back to the one that stays.
            if (isOpen) toggle.current?.focus();
            setOpen(false);
            run();
          }}
        >
          {label}
        </button>
      </li>
    );
  }

  return (
    <header class="top">
      <a
        class="skip"
        href={`#${FOCUS_HOME}`}
        onClick={(event) => {
          // Without a step in the address bar, which is for views.
          event.preventDefault();
          document.getElementById(FOCUS_HOME)?.focus();
        }}
      >
        Skip to the plants
      </a>
      <Brand />
      <nav
        ref={menu}
        aria-label="Catalogue"
        onFocusOut={({ relatedTarget }) => {
          // It would cover what has the focus now.
          if (relatedTarget instanceof Node && menu.current?.contains(relatedTarget) !== true) setOpen(false);
        }}
      >
        <button class="button menu" type="button" aria-expanded={isOpen} ref={toggle} onClick={() => setOpen(!isOpen)}>
          Menu
        </button>
        <ul class={isOpen ? "open" : ""}>
          {item("Import", onImport)}
          {item("Export CSV", () => onExport("csv"))}
          {item("Export for a spreadsheet", () => onExport("spreadsheet"))}
          {item("Export NDJSON", () => onExport("ndjson"))}
          {isAdmin ? item("Tokens", onTokens) : null}
          <li>
            <a class="button quiet" href="docs">
              API reference
            </a>
          </li>
          {item("Sign out", onSignOut)}
        </ul>
      </nav>
    </header>
  );
}
