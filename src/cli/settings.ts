import type { Command } from "commander";
import { parseConfig, SETTINGS, settingsInForce } from "../config.ts";
import type { Config, SettingInForce, SettingName } from "../config.ts";

type Environment = NodeJS.ProcessEnv;

/** Gives a command the flags of these settings; without names, of all. */
export function addSettings(command: Command, names = Object.keys(SETTINGS) as SettingName[]): Command {
  for (const name of names) {
    const { flag, operand, help, variable, fallback } = SETTINGS[name];
    command.option(`${flag} <${operand}>`, `${help} (${variable}, default ${fallback})`);
  }
  // Commander would stop at the first unknown flag; ours are named together with all else that is wrong.
  return command.allowUnknownOption().allowExcessArguments();
}

/** The settings for a command that was called. Throws a ConfigError that names everything that is wrong. */
export function configOf(command: Command, environment: Environment): Config {
  return parseConfig(environment, command.opts(), unknownArguments(command));
}

/** The same as text, with where each came from. */
export function settingsOf(command: Command, environment: Environment): SettingInForce[] {
  return settingsInForce(environment, command.opts());
}

/** Flags and words that belong to nothing. The word behind an unknown flag may be a secret and is not repeated. */
function unknownArguments({ args, registeredArguments }: Command): string[] {
  const takesAll = registeredArguments.at(-1)?.variadic;
  // A command that takes any number of words leaves only flags that nobody knows.
  const rest = takesAll ? args.filter((word) => /^-./.test(word)) : args.slice(registeredArguments.length);
  return rest.flatMap((word, at) => {
    if (word.startsWith("-")) return [word.replace(/=.*/s, "")];
    return rest[at - 1]?.startsWith("-") ? [] : [word];
  });
}
