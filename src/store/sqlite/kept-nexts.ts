import { NextChanges } from "./next-changes.ts";
import type { Stretch } from "./next-changes.ts";

type KeptLimits = Readonly<{ keptBytes: number; keptMs: number }>;

/** What was found out about stretches of imports, for pages that follow. It goes by memory, and by the time since it was last asked for. */
export class KeptNexts {
  readonly #limits: KeptLimits;
  /** The one that was asked for last is the last. Each with what ends it. */
  readonly #kept = new Map<NextChanges, NodeJS.Timeout>();

  constructor(limits: KeptLimits) {
    this.#limits = limits;
  }

  /** One that covers a page, or a new one, which begins at a lower row. */
  find(page: Stretch, low: number): NextChanges {
    const nexts = this.#kept.keys().find((one) => one.covers(page)) ?? new NextChanges({ ...page, low });
    const timer = this.#kept.get(nexts)?.refresh() ?? setTimeout(() => this.#kept.delete(nexts), this.#limits.keptMs).unref();
    this.#kept.delete(nexts);
    this.#kept.set(nexts, timer);
    this.#shrink(nexts);
    return nexts;
  }

  /** Two searches that end each other would begin again and again, so none that is under way goes. Few run at a time. */
  #shrink(asked: NextChanges): void {
    let bytes = this.#kept.keys().reduce((sum, one) => sum + one.bytes, 0);
    for (const [one, timer] of this.#kept) {
      if (bytes <= this.#limits.keptBytes) return;
      if (one.isUnderWay || one === asked) continue;
      clearTimeout(timer);
      this.#kept.delete(one);
      bytes -= one.bytes;
    }
  }
}
