import { getPriority, setPriority } from "node:os";

const NICER = 10;
const NICENESS_MAX = 19;

/** Lets the service, which has people waiting, come first. A sandbox may forbid that, and then both come first. */
export function lowerPriority(): void {
  try {
    setPriority(Math.min(NICENESS_MAX, getPriority() + NICER));
  } catch (reason) {
    if (!isForbidden(reason)) throw reason;
  }
}

function isForbidden(reason: unknown): boolean {
  return reason instanceof Error && "info" in reason && ["EACCES", "EPERM"].includes((reason.info as { code?: string }).code ?? "");
}
