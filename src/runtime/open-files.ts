import { readdirSync, readFileSync } from "node:fs";

/** How many files and sockets the process has open. Throws where the system does not tell, which only Linux does. */
export function countOpenFiles(): number {
  return readdirSync("/proc/self/fd").length;
}

/** How many files the process may open. The runtime has raised this to what the system allows. */
export function openFilesMax(): number {
  try {
    return Number(/^Max open files +(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1] ?? Infinity);
  } catch {
    return Infinity;
  }
}
