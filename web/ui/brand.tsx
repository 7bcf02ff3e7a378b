/** The sign of the project, with its name. */
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
