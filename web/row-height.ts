import { KEPT_PREFIX } from "./kept.ts";
import { State } from "./state.ts";
import { keepItem } from "./storage.ts";

const KEY = `${KEPT_PREFIX}rows-compact`;

/** Whether rows are low, as it was chosen on this device. The style of the page has their height. */
export function openCompactRows(storage: Storage | undefined): State<boolean> {
  const isCompact = new State((storage?.getItem(KEY) ?? null) !== null);
  function apply(): void {
    document.documentElement.toggleAttribute("data-compact", isCompact.get());
  }
  isCompact.watch(() => {
    apply();
    if (!storage) return;
    if (isCompact.get()) keepItem(storage, KEY, "");
    else storage.removeItem(KEY);
  });
  apply();
  return isCompact;
}
