import { Button } from "./button.tsx";
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { listen } from "../listen.ts";
import { Icon } from "./icon.tsx";

/** What a menu offers: something to do, a link, or only words. */
export type MenuItem =
  /** `isOn`: whether it holds now, of what can be turned on and off. */
  | Readonly<{ kind: "button"; label: string; run: () => void; isOn?: boolean }>
  | Readonly<{ kind: "link"; label: string; href: string }>
  | Readonly<{ kind: "text"; label: string; title: string }>;

type MenuProps = Readonly<{ label: string; items: readonly MenuItem[]; disabled?: boolean }>;

/** A button that shows what belongs together. Keys: up and down go through it, Escape closes it. */
export function Menu({ label, items, disabled = false }: MenuProps) {
  const [isOpen, setOpen] = useState(false);
  const menu = useRef<HTMLDivElement>(null);
  const toggle = useRef<HTMLButtonElement>(null);

  useEffect(() => {
    if (!isOpen) return undefined;
    const isInside = (target: EventTarget | null) => target instanceof Node && menu.current?.contains(target) === true;
    return listen({ click: ({ target }) => isInside(target) || setOpen(false) });
  }, [isOpen]);

  function onKeyDown(event: KeyboardEvent): void {
    const stops = [...(menu.current?.querySelectorAll<HTMLElement>("a, button") ?? [])];
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape" && isOpen) {
      setOpen(false);
      toggle.current?.focus();
    } else if (step !== undefined && isOpen) {
      event.preventDefault();
      stops[(stops.indexOf(document.activeElement as HTMLElement) + step + stops.length) % stops.length]?.focus();
    }
  }

  return (
    <div
      class="menu"
      ref={menu}
      onKeyDown={onKeyDown}
      onFocusOut={({ relatedTarget }) => {
        // It would cover what has the focus now.
        if (relatedTarget instanceof Node && menu.current?.contains(relatedTarget) !== true) setOpen(false);
      }}
    >
      <button class="button quiet" type="button" aria-expanded={isOpen} disabled={disabled} ref={toggle} onClick={() => setOpen(!isOpen)}>
        {label}
        <Icon name="open" />
      </button>
      {isOpen ? (
        <ul>
          {items.map((item) => (
            <li key={item.label}>
              {toContent(item, () => {
                // The menu is gone with its buttons: whatever opens gives the focus back to the one that stays.
                toggle.current?.focus();
                setOpen(false);
              })}
            </li>
          ))}
        </ul>
      ) : null}
    </div>
  );
}

function toContent(item: MenuItem, close: () => void): ComponentChildren {
  if (item.kind === "text") return <p title={item.title}>{item.label}</p>;
  if (item.kind === "link") {
    return (
      <a class="button quiet" href={item.href}>
        {item.label}
      </a>
    );
  }
  return (
    <Button
      label={item.label}
      class="quiet"
      aria-pressed={item.isOn}
      onClick={() => {
        close();
        item.run();
      }}
    />
  );
}
