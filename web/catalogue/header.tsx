import { useEffect, useRef, useState } from "preact/hooks";
import type { Session } from "../../src/client/client.ts";
import type { Access } from "../access.ts";
import { untilText } from "../time-text.ts";
import { Brand } from "../ui/brand.tsx";
import { FOCUS_HOME } from "../ui/focus.ts";
import type { ExportKind } from "./export-to-file.ts";

type HeaderProps = Readonly<{
  access: Access;
  who: Session;
  onImport: () => void;
  onExport: (kind: ExportKind) => void;
  onTokens: () => void;
  onSignOut: () => void;
}>;

/** The name, and what can be done with the whole catalogue: in a row where there is room, else behind a button. */
export function Header({ access, who, onImport, onExport, onTokens, onSignOut }: HeaderProps) {
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
    <header class="header">
      <a
        class="header-skip"
        href={`#${FOCUS_HOME}`}
        onClick={(event) => {
          // Without a step in the address bar, which is for views.
          event.preventDefault();
          document.getElementById(FOCUS_HOME)?.focus();
        }}
      >
        {access.read ? "Skip to the plants" : "Skip the menu"}
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
        <button class="button header-menu" type="button" aria-expanded={isOpen} ref={toggle} onClick={() => setOpen(!isOpen)}>
          Menu
        </button>
        <ul class={isOpen ? "header-items header-open" : "header-items"}>
          {access.write ? item("Import", onImport) : null}
          {access.read ? item("Export CSV", () => onExport("csv")) : null}
          {access.read ? item("Export for a spreadsheet", () => onExport("spreadsheet")) : null}
          {access.read ? item("Export NDJSON", () => onExport("ndjson")) : null}
          {access.admin ? item("Tokens", onTokens) : null}
          <li>
            <a class="button quiet" href="docs">
              API reference
            </a>
          </li>
          {who.expires === undefined ? null : (
            <li class="header-until" title={`The token ${who.name} is valid until ${who.expires}.`}>
              {untilText(who.expires, Date.now())}
            </li>
          )}
          {item("Sign out", onSignOut)}
        </ul>
      </nav>
    </header>
  );
}
