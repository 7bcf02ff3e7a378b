import { Argument, Command } from "commander";
import { toBash } from "./completion/bash.ts";
import { toFish } from "./completion/fish.ts";
import { toZsh } from "./completion/zsh.ts";
import { toCommandTree } from "./command-tree.ts";

const SHELLS = { bash: toBash, zsh: toZsh, fish: toFish };

/** The script has all words in it: a Tab does not wait for a start of this program. */
export function completionCommand(createCommandLine: () => Promise<Command>): Command {
  return new Command("completion")
    .description("Print a script that makes a shell complete commands, flags and values.")
    .addArgument(new Argument("<shell>", "the shell that will read it").choices(Object.keys(SHELLS)))
    .action(async (shell: keyof typeof SHELLS) => {
      process.stdout.write(SHELLS[shell](toCommandTree(await createCommandLine())));
    });
}
