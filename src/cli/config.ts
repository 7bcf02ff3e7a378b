import { Command } from "commander";
import { SETTINGS, withoutSecrets } from "../config.ts";
import { escapeControls } from "../terminal-text.ts";
import { addSettings, configOf, settingsOf } from "./settings.ts";

export function configCommand(): Command {
  const command = new Command("config").description("Print the settings in force and where each comes from, without secrets.");
  return addSettings(command).action(() => {
    // Report wrong settings instead of printing them: `serve` would refuse them too.
    configOf(command, process.env);
    for (const { name, text, origin } of settingsOf(command, process.env)) {
      process.stdout.write(`${SETTINGS[name].variable}=${escapeControls(withoutSecrets(text))}  (${origin})\n`);
    }
  });
}
