import { Command } from "commander";
import { SETTINGS, withoutSecrets } from "../app/settings.ts";
import { escapeControls } from "../runtime/terminal-text.ts";
import { addJson, printResult } from "./result.ts";
import { addSettings, configOf, settingsOf } from "./settings.ts";

export function configCommand(): Command {
  const command = new Command("config").description("Print the settings in force and where each comes from, without secrets.");
  return addSettings(addJson(command)).action(() => {
    // Report wrong settings instead of printing them: `serve` would refuse them too.
    configOf(command);
    const settings = settingsOf(command).map(({ name, text, origin }) => ({
      name: SETTINGS[name].variable,
      value: withoutSecrets(text),
      origin,
    }));
    const lines = settings.map(({ name, value, origin }) => `${name}=${escapeControls(value)}  (${origin})`);
    printResult(command, { json: settings, words: lines.join("\n") });
  });
}
