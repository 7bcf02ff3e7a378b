const PATHS = {
  add: "M12 5v14M5 12h14",
  close: "M6 6l12 12M18 6L6 18",
  copy: "M9 9h11v11H9zM5 15H4V4h11v1",
  edit: "M4 20l1-4L16 5l3 3L8 19zM14 7l3 3",
  file: "M14 3H6v18h12V7zM14 3v4h4",
  open: "M6 9l6 6l6-6",
  refresh: "M20 12a8 8 0 1 1-2.4-5.7L20 9M20 4v5h-5",
  remove: "M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13M10 11v6M14 11v6",
  search: "M10.5 4a6.5 6.5 0 1 0 0 13a6.5 6.5 0 1 0 0-13zM15.5 15.5L20 20",
} as const;

export type IconName = keyof typeof PATHS;

/** A picture beside a word, or in a button that has a label. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}

export function Brand() {
  return (
    <span class="brand">
      <svg viewBox="0 0 24 24" aria-hidden="true">
        <path d="M20 3C10 3 4 8 4 15c0 1.6.4 3 1 4.2L3 21l1 1 2-2c1.2.6 2.6 1 4 1 7 0 10-7 10-18zM8 17c2-4 4-6 8-9-3 4-5 6-7 9z" />
      </svg>
      Plant Store
    </span>
  );
}
