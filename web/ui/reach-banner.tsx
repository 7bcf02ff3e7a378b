import type { Reach } from "../reach.ts";
import { State, useValue } from "../state.ts";

const TEXTS = {
  reached: undefined,
  silent:
    "The service does not respond. What you see may be out of date, and changes are not saved until it is back. The page tries again every three seconds.",
  offline: "You are offline. What you see may be out of date, and changes are not saved until you are back online.",
} as const satisfies Record<Reach, string | undefined>;

export function ReachBanner({ state }: { state: State<Reach> }) {
  const text = TEXTS[useValue(state)];
  // It is there before it says something, as only then what it says is read out.
  return (
    <div class="reach-banner" role="status">
      {text === undefined ? null : <p>{text}</p>}
    </div>
  );
}
