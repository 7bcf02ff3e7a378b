import type { Argument, Command, Option } from "commander";

/** What may stand for a value: anything, a name of a file or folder, or one of some words. */
export type Value = Readonly<{ kind: "any" | "file" | "folder" } | { kind: "choice"; words: readonly string[] }>;

/** A flag, with all its spellings. A switch has no value. */
export type Flag = Readonly<{ names: readonly string[]; help: string; value?: Value }>;

export type CommandTree = Readonly<{
  name: string;
  /** In a few words. */
  help: string;
  flags: readonly Flag[];
  /** What it takes besides flags, if it has no commands of its own. */
  value?: Value;
  commands: readonly CommandTree[];
}>;

/** Reads a program, so that what is made from it has all commands and flags. */
export function toCommandTree(command: Command): CommandTree {
  const help = command.createHelp();
  const commands = help.visibleCommands(command);
  const [argument] = command.registeredArguments;
  return {
    name: command.name(),
    help: shorten(command.description()),
    flags: help.visibleOptions(command).map(toFlag),
    ...(argument === undefined ? {} : { value: toValue(argument.name(), argument) }),
    // Commander's own `help` takes the name of one of the others.
    commands: commands.map((one) =>
      one.name() === "help"
        ? { ...toCommandTree(one), value: { kind: "choice", words: commands.map((other) => other.name()) } }
        : toCommandTree(one),
    ),
  };
}

/** A command and all below it, with their words after the name of the program. */
export function walk(tree: CommandTree, path = ""): readonly (CommandTree & Readonly<{ path: string }>)[] {
  return [{ ...tree, path }, ...tree.commands.flatMap((one) => walk(one, `${path} ${one.name}`))];
}

function toFlag(option: Option): Flag {
  const names = [option.long, option.short].filter((name) => name !== undefined);
  const help = shorten(option.description);
  const [, operand] = /[<[](.+)[\]>]/.exec(option.flags) ?? [];
  return operand === undefined ? { names, help } : { names, help, value: toValue(operand, option) };
}

/** The names of operands say what they are. */
function toValue(name: string, { argChoices }: Argument | Option): Value {
  if (argChoices) return { kind: "choice", words: argChoices };
  if (/^files?$/.test(name)) return { kind: "file" };
  return { kind: name === "folder" ? "folder" : "any" };
}

/** The first sentence, up to its first semicolon: a menu has little room. */
function shorten(text: string): string {
  return text.split(/\. |\.$|; | \(PLANT_STORE_/)[0]!;
}
