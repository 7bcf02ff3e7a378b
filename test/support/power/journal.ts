/** A plant without its id. */
export type Content = Readonly<{ name: string; tag?: string }>;

/** Plants by id, as text that is equal if the plants are; undefined for deleted plants and for deletes. */
export type Plants = ReadonlyMap<number, string | undefined>;

/**
 * The attempts of a client to change a plant. They follow each other: the next begins when the one before is answered.
 */
type Try = { content: string | undefined; answered: number; isMade: boolean };

/**
 * What clients tried, and the responses. An attempt without a response, or with a failure as response, may still have
 * been executed.
 */
export function openJournal() {
  const triesOf = new Map<number, Try[]>();
  const requests: Try[][] = [];

  /** What a plant may be at a moment: the result of the last response 2xx, or of any later attempt. */
  function allowed(tries: readonly Try[], moment: number): ReadonlySet<string | undefined> {
    const sure = tries.findLastIndex(({ isMade, answered }) => isMade && answered <= moment);
    const open = tries.findIndex(({ answered }) => answered > moment);
    const later = tries.slice(sure + 1, open === -1 ? undefined : open + 1);
    return new Set([tries[sure]?.content, ...later.map(({ content }) => content)]);
  }

  return {
    /** Records what a request is meant to change; returns the name of the request. */
    begin(plants: Plants): string {
      const tries = Array.from(plants, ([id, content]) => {
        const one: Try = { content, answered: Infinity, isMade: false };
        triesOf.set(id, [...(triesOf.get(id) ?? []), one]);
        return one;
      });
      requests.push(tries);
      return `try-${requests.length}`;
    },
    /** Records a response and its moment. */
    answer({ request, status, moment }: Readonly<{ request: string; status: number; moment: number }>): void {
      const isMade = status === 200 || status === 204;
      for (const one of requests[Number(request.replace("try-", "")) - 1] ?? []) Object.assign(one, { answered: moment, isMade });
    },
    /** How many requests were answered 2xx. */
    made: (): number => requests.filter((tries) => tries.some(({ isMade }) => isMade)).length,
    ids: (): number[] => [...triesOf.keys()],
    /** What is wrong with the stored plants, if at that moment they are all that is stored. */
    findFaults(stored: Plants, moment: number): string[] {
      const wrong = Array.from(triesOf).flatMap(([id, tries]) => {
        const may = allowed(tries, moment);
        return may.has(stored.get(id)) ? [] : [`${id} is ${stored.get(id)} instead of ${[...may].join(" or ")}`];
      });
      return [
        ...wrong,
        ...Array.from(stored.keys())
          .filter((id) => !triesOf.has(id))
          .map((id) => `${id} is there, but was never created`),
      ];
    },
  };
}

export type Journal = ReturnType<typeof openJournal>;

export function textOf({ name, tag }: Content): string {
  return JSON.stringify([name, tag ?? null]);
}
