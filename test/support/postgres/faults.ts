import { openRandom } from "../random.ts";

/** The faults of a statement, which is an Execute or a simple Query. */
export type StatementFault = Readonly<
  /** The connection is cut, and the statement never reaches the server. */
  | { kind: "cut_before" }
  /** The connection is cut after the statement was sent to the server, which may execute it. */
  | { kind: "cut_during" }
  /** The connection is cut once the server has sent ReadyForQuery; the client gets nothing of the response. */
  | { kind: "cut_after" }
  /** The client gets half of the message that ends the statement, then a reset. */
  | { kind: "torn" }
  /** The client gets what is no message of the protocol in place of the one that ends the statement. */
  | { kind: "garbled" }
  /** The statement, and everything after it on its connection, waits. */
  | { kind: "hold"; holdMs: number }
  /**
   * The statement is refused and its transaction fails: serialization failure, deadlock, read-only server, disk full, a
   * prepared statement that is gone, or that is there already, no number left for a transaction. `routine`: of the
   * server's source.
   */
  | { kind: "error"; sqlstate: "40001" | "40P01" | "25006" | "53100" | "26000" | "42P05" | "54000"; routine?: string }
  /** The server ends the connection instead of executing the statement: an administrator's command. */
  | { kind: "fatal"; sqlstate: "57P01" }
>;

/** The faults of a new connection: too many connections, or a server that is starting. Some poolers' errors have no end. */
type StartupFault = Readonly<{ kind: "refusal"; sqlstate: "53300" | "57P03"; isEndless?: true }>;

export type Fault = StatementFault | StartupFault;

type RandomFaults = Readonly<{
  faults: readonly Fault[];
  /** The probability for each statement and each new connection, from 0 to 1. */
  probability: number;
  seed: number;
  /** Only statements whose text matches. */
  on?: RegExp;
}>;

/** Decides which faults occur, and counts them. */
export type Faults = Readonly<{
  /** Arms a fault for the next (matching) statement, or the next connection. */
  once(fault: Fault, on?: RegExp): void;
  /** Arms repeated faults. The same seed and statements give the same faults. */
  randomly(plan: RandomFaults): void;
  /** Disarms all. */
  clear(): void;
  /** How often a fault has actually struck, by kind and state: `cut_after`, `error 40001`. */
  injected: ReadonlyMap<string, number>;
}>;

/** The other side of `Faults`, for the proxy. */
export type FaultSource = Faults &
  Readonly<{
    takeForStatement(sql: string): StatementFault | undefined;
    takeForStartup(): StartupFault | undefined;
    count(fault: Fault): void;
  }>;

export function openFaults(): FaultSource {
  let armed: readonly Readonly<{ fault: Fault; on: RegExp }>[] = [];
  let random: (RandomFaults & Readonly<{ next: () => number }>) | undefined;
  const injected = new Map<string, number>();
  const drawn = new Map<Fault, number>();

  /** One of those that were drawn least often, so that chance leaves none out. */
  function draw<Drawn extends Fault>(faults: readonly Drawn[], next: () => number): Drawn | undefined {
    const countOf = (fault: Fault) => drawn.get(fault) ?? 0;
    const least = Math.min(...faults.map(countOf));
    const rarest = faults.filter((fault) => countOf(fault) === least);
    const fault = rarest[Math.trunc(next() * rarest.length)];
    if (fault) drawn.set(fault, least + 1);
    return fault;
  }

  function take<Taken extends Fault>(fits: (fault: Fault) => fault is Taken, sql = ""): Taken | undefined {
    for (const one of armed) {
      if (!fits(one.fault) || !one.on.test(sql)) continue;
      armed = armed.filter((other) => other !== one);
      return one.fault;
    }
    const fitting = random?.faults.filter(fits) ?? [];
    if (!random || fitting.length === 0 || random.on?.test(sql) === false) return undefined;
    return random.next() < random.probability ? draw(fitting, random.next) : undefined;
  }
  return {
    injected,
    once(fault, on = /(?:)/) {
      armed = [...armed, { fault, on }];
    },
    randomly(plan) {
      random = { ...plan, next: openRandom(plan.seed) };
      drawn.clear();
    },
    clear() {
      armed = [];
      random = undefined;
    },
    takeForStatement: (sql) => take((fault) => fault.kind !== "refusal", sql),
    takeForStartup: () => take((fault) => fault.kind === "refusal"),
    count(fault) {
      const name = "sqlstate" in fault ? `${fault.kind} ${fault.sqlstate}` : fault.kind;
      injected.set(name, (injected.get(name) ?? 0) + 1);
    },
  };
}
