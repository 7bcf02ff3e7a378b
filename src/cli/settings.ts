import { Option } from "commander";
import type { Command } from "commander";
import { parseConfig } from "../app/config.ts";
import type { Config } from "../app/config.ts";
import { SETTINGS, settingsInForce, withoutSecrets } from "../app/settings.ts";
import type { Setting, SettingInForce, SettingName } from "../app/settings.ts";

/** Adds the flags of these settings to a command; by default, of all settings. */
export function addSettings(command: Command, names = Object.keys(SETTINGS) as SettingName[]): Command {
  for (const name of names) {
    const { flag, operand, choices, help, variable, fallback }: Setting = SETTINGS[name];
    const option = new Option(`${flag} <${operand}>`, `${help} (${variable}, default ${fallback})`);
    // For the help and for shells only: we report a wrong value together with all other mistakes.
    if (choices) option.argChoices = [...choices];
    command.addOption(option);
  }
  // Commander would stop at the first unknown flag; we report them together with all other mistakes.
  return command.allowUnknownOption().allowExcessArguments();
}

/** The settings for a command. Throws a ConfigError that names every mistake. */
export function configOf(command: Command): Config {
  const mistakes = strayArguments(command).map((word) =>
    word.startsWith("-") ? `${word} is not a known setting.` : `${word} is not expected.`,
  );
  return parseConfig(process.env, command.opts(), mistakes.length > 0 ? { command: nameOf(command), mistakes } : undefined);
}

/** As it is called, without the program: "token create". */
function nameOf(command: Command): string {
  return command.parent?.parent ? `${nameOf(command.parent)} ${command.name()}` : command.name();
}

/** The same as text, with the origin of each. */
export function settingsOf(command: Command): SettingInForce[] {
  return settingsInForce(process.env, command.opts());
}

/**
 * Flags and words that belong to nothing. What follows `--` is no flag. What may be a secret is not repeated: what
 * follows a `=`, or an unknown flag, and the password of an address.
 */
function strayArguments({ args, registeredArguments }: Command): string[] {
  const end = process.argv.indexOf("--");
  const literal = end < 0 ? [] : process.argv.slice(end + 1);
  const isFlag = (word: string | undefined) => word !== undefined && /^-./.test(word) && !literal.includes(word);
  // Commander takes an unknown flag for a word, though no file is meant by it.
  const words = args.filter((word, at) => !isFlag(word) && !isFlag(args[at - 1]));
  const known = registeredArguments.at(-1)?.variadic ? words.length : registeredArguments.length;
  return [...args.filter(isFlag), ...words.slice(known)].map((word) => withoutSecrets(word.replace(/=.*/s, "")));
}
