type Fields = Readonly<Record<string, unknown>>;

export const FLOODS_MS = 10_000;

/** How many owners are logged apart. All others of a kind share a count. */
const OWNERS_MAX = 100;

/** `own` are the fields of this owner, with its address, and `kind` those that say what was refused. */
type Refused = Readonly<{ own: Fields; kind: Fields; requestId: string }>;

type Flood = { count: number; readonly fields: Fields };

/** Refusals that may come in floods: the first one of an owner is logged at once, and later how many followed it. */
export function createFloodLog(write: (fields: Fields, count: number) => void) {
  const floods = new Map<string, Flood>();
  return {
    note(owner: string, { own, kind, requestId }: Refused): void {
      const ofAll = Object.values(kind).join(" ");
      const apart = `${ofAll} ${owner}`;
      const key = floods.size < OWNERS_MAX || floods.has(apart) ? apart : ofAll;
      const known = floods.get(key);
      if (known) {
        known.count += 1;
        return;
      }
      const fields = { ...(key === apart ? own : { address: "others" }), ...kind };
      floods.set(key, { count: 0, fields });
      write({ ...fields, requestId }, 1);
    },
    /** Logs how many followed. Call it every FLOODS_MS, and before the process ends. */
    flush(): void {
      for (const [key, flood] of floods) {
        if (flood.count === 0) floods.delete(key);
        else write(flood.fields, flood.count);
        flood.count = 0;
      }
    },
  };
}
