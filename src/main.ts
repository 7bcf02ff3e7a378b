#!/usr/bin/env -S BUN_JSC_forceRAMSize=268435456 bun
// The runtime sizes its heap by the memory of the machine. Told that there is little memory, it stays under 150 MB in
// an import of any size. Told of 128 MiB, it is always near that limit and collects all the time, which takes an eighth
// of the processor time of a create (docs/explanation/decisions.md).
import "./cli/process-one.ts";
import { createCommandLine } from "./cli/command-line.ts";
import { reachLoopbackDirectly } from "./cli/no-proxy.ts";
import { PlantStoreError } from "./domain/errors.ts";
import { isDamage } from "./store/sqlite/engine/failure.ts";
import { describeFailure, toSentence } from "./runtime/system-failure.ts";
import { escapeControlLines } from "./runtime/terminal-text.ts";

// Only their owner may read or write the files that we create, above all the store and the first token.
process.umask(0o077);

/** Somebody may have missed it. */
const UNSEEN = "what the command did is done, so look before you repeat it.";

// A service goes on when nobody reads its log. A command ends: quietly when its reader has enough, as `head` has.
if (process.argv[2] !== "serve") {
  process.stdout.on("error", (reason: NodeJS.ErrnoException) => {
    if (reason.code !== "EPIPE")
      process.stderr.write(`plant-store: The output cannot be written (${describeFailure(reason)}): ${UNSEEN}\n`);
    process.exit(1);
  });
}

reachLoopbackDirectly(process.env);
const program = await createCommandLine(process.argv[2]);
try {
  await program.parseAsync();
} catch (reason) {
  process.stderr.write(`plant-store: ${escapeControlLines(textOf(reason))}\n`);
  process.exit(1);
}

/** The message for clients does not say what is wrong with the machine: its cause does. */
function textOf(reason: unknown): string {
  if (!(reason instanceof Error)) return String(reason);
  const cause = reason instanceof PlantStoreError && reason.cause instanceof Error ? reason.cause : undefined;
  if (isDamage(cause ?? reason)) return "The store is damaged: run `plant-store check` on it, which says what to do.";
  // Nobody here sees the headers of a response.
  const message = reason.message.replace("after the seconds in Retry-After", "in a moment");
  return toSentence(reason) ?? message + (cause ? ` The reason: ${describeFailure(cause)}` : "");
}
