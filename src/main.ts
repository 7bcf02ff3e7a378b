#!/usr/bin/env -S BUN_JSC_forceRAMSize=268435456 bun
// The runtime sizes its heap by the memory of the machine. Told that there is little memory, it stays under 150 MB in
// an import of any size. Told of 128 MiB, it is always near that limit and collects all the time, which takes an eighth
// of the processor time of a create (docs/explanation/decisions.md).
import "./cli/process-one.ts";
import { complaintOf } from "./app/complaint.ts";
import { createCommandLine } from "./cli/command-line.ts";
import { reachLoopbackDirectly } from "./cli/no-proxy.ts";
import { describeFailure } from "./runtime/system-failure.ts";

// Only their owner may read or write the files that we create, above all the store and the first token.
process.umask(0o077);

/** Someone may have missed it. */
const UNSEEN = "what the command did is done, so look before you repeat it.";

// A service goes on when no one reads its log. A command ends: quietly when its reader has enough, as `head` has.
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
  process.stderr.write(complaintOf(reason));
  process.exit(1);
}
