import { globSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "./temporary-folder.ts";

/** The system clock of one process. Its monotonic clock, which timers use, is not changed. */
type Clock = Readonly<{
  /** The environment in which to start the process. */
  environment: Readonly<Record<string, string>>;
  /** Sets the clock this many days from the true time, forwards or back. */
  setDaysOff(days: number): void;
}>;

/** A clock for a process that is not started yet. The library libfaketime reads a file at each reading of the clock. */
export function openClock(): Clock {
  const path = join(temporaryFolder(), "clock");
  function setDaysOff(days: number): void {
    // In one step, because the process may read it at any moment.
    writeFileSync(`${path}.next`, `${days < 0 ? "" : "+"}${days}d\n`);
    renameSync(`${path}.next`, path);
  }
  setDaysOff(0);
  return {
    environment: {
      LD_PRELOAD: findLibrary(),
      FAKETIME_TIMESTAMP_FILE: path,
      FAKETIME_NO_CACHE: "1",
      FAKETIME_DONT_FAKE_MONOTONIC: "1",
    },
    setDaysOff,
  };
}

function findLibrary(): string {
  const [path] = globSync("/usr/lib/*/faketime/libfaketime.so.1");
  if (path === undefined) throw new Error("This test needs libfaketime: apt-get install faketime");
  return path;
}
