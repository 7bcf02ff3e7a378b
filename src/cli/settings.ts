import type { Command } from "commander";
import { parseConfig, SETTINGS, settingsInForce } from "../config.ts";
import type { Config, SettingInForce, SettingName } from "../config.ts";

type Environment = NodeJS.ProcessEnv;

/** Adds the flags of these settings to a command; by default, of all settings. */
export function addSettings(command: Command, names = Object.keys(SETTINGS) as SettingName[]): Command {
  for (const name of names) {
    const { flag, operand, help, variable, fallback } = SETTINGS[name];
    command.option(`${flag} <${operand}>`, `${help} (${variable}, default ${fallback})`);
  }
  // Commander would stop at the first unknown flag; we report them together with all other mistakes.
  return command.allowUnknownOption().allowExcessArguments();
}

/** The settings for a command. Throws a ConfigError that names every mistake. */
export function configOf(command: Command, environment: Environment): Config {
  return parseConfig(environment, command.opts(), unknownArguments(command));
}

/** The same as text, with the origin of each. */
export function settingsOf(command: Command, environment: Environment): SettingInForce[] {
  return settingsInForce(environment, command.opts());
}

/** Flags and words that belong to nothing. The word after an unknown flag may be a secret, so it is not repeated. */
function unknownArguments({ args, registeredArguments }: Command): string[] {
  const takesAll = registeredArguments.at(-1)?.variadic;
  // If a command takes any number of words, only its unknown flags are left over.
  const rest = takesAll ? args.filter((word) => /^-./.test(word)) : args.slice(registeredArguments.length);
  return rest.flatMap((word, at) => {
    if (word.startsWith("-")) return [word.replace(/=.*/s, "")];
    return rest[at - 1]?.startsWith("-") ? [] : [word];
  });
}
