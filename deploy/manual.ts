// Makes the manual page plant-store(1) from the commands themselves and docs/reference/commands.md, in the language
// mdoc(7). `npm run build:man` writes dist/plant-store.1.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { createCommandLine } from "../src/cli/command-line.ts";
import { SETTINGS } from "../src/app/settings.ts";
import { PROJECT } from "./release/project.ts";

/** Sections of the reference that are no part of the page. */
const LEFT_OUT = ["Commands"];

const LINE_MAX = 80;

/** `date`: the day that the page shows. */
export async function makeManual(date: Date): Promise<string> {
  const program = await createCommandLine();
  const reference = readFileSync(join(PROJECT, "docs/reference/commands.md"), "utf8");
  const sections = reference
    .split(/^##? /m)
    .slice(1)
    .map((section) => section.split(/\n(.*)/s) as [title: string, text: string])
    .filter(([title]) => !LEFT_OUT.includes(title));
  return `.Dd ${date.toLocaleDateString("en-US", { dateStyle: "long", timeZone: "UTC" })}
.Dt PLANT-STORE 1
.Os
.Sh NAME
.Nm plant-store
.Nd ${program.description().replace(/\.$/, "")}
.Sh SYNOPSIS
.Nm
.Ar command
.Op Ar flag ...
.Op Ar argument ...
.Nm
.Op Ar command
.Fl -help
.Sh DESCRIPTION
Flags may stand before or behind other arguments.
${program.commands.flatMap((command) => describe(command)).join("\n")}
.Sh ENVIRONMENT
A flag has precedence over its variable.
.Bl -tag -width Ds -compact
.It Ev PLANT_STORE_TOKEN
The token for
.Fl -url .
${variable("PLANT_STORE_URL", "--url")}
${Object.values(SETTINGS)
  .map((setting) => variable(setting.variable, setting.flag))
  .join("\n")}
.El
${sections.map(([title, text]) => `.Sh ${title.replaceAll("`", "").toUpperCase()}\n${toBlocks(text)}`).join("\n")}
.Sh SEE ALSO
.Pa /usr/share/doc/plant-store
has the guides and the reference.
`;
}

function variable(name: string, flag: string): string {
  return `.It Ev ${name}\nThe same as\n.Fl ${flag.slice(1)} .`;
}

/** A command, or those below it. */
function describe(command: Command): string[] {
  if (command.commands.length > 0) return command.commands.flatMap((one) => describe(one));
  const help = command.createHelp();
  const operands = command.registeredArguments.map((one) => [help.argumentTerm(one), help.argumentDescription(one)] as const);
  const flags = command.options.map((one) => [help.optionTerm(one), help.optionDescription(one)] as const);
  const items = [...operands, ...flags].map(([term, text]) => `.It ${toTerm(term)}\n${toProse(text)}`);
  const list = items.length === 0 ? [] : [".Bl -tag -width Ds", ...items, ".El"];
  return [`.Ss ${help.commandUsage(command).replace(" [options]", "")}\\&`, toProse(command.description()), ...list];
}

/** `-h, --help` or `--data <folder>`, with the macros for flags and operands. */
function toTerm(term: string): string {
  return term
    .split(/[\s,]+/)
    .map((word) => (word.startsWith("-") ? `Fl ${word.slice(1)}` : `Ar ${word.replaceAll(/[<>[\]]/g, "")}`))
    .join(" ");
}

/** Paragraphs and lists of Markdown: the reference uses no more. */
function toBlocks(markdown: string): string {
  const blocks = markdown.trim().split(/\n\n+/);
  return blocks
    .map((block, at) => {
      if (!block.startsWith("- ")) return `${at === 0 ? "" : ".Pp\n"}${toProse(block)}`;
      const items = block.slice(2).split("\n- ");
      return `.Bl -bullet\n${items.map((item) => `.It\n${toProse(item)}`).join("\n")}\n.El`;
    })
    .join("\n");
}

/** Each sentence begins a line, as mdoc wants it. */
function toProse(markdown: string): string {
  return markdown
    .replaceAll(/\s+/g, " ")
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .split(/(?<=[.!?]) (?=[A-Z`*])/)
    .flatMap((sentence) => wrap(bold(sentence.replaceAll("\\", String.raw`\e`).replaceAll("--", String.raw`\-\-`))))
    .map((line) => line.replace(/^(?=[.'])/, String.raw`\&`))
    .join("\n");
}

function bold(text: string): string {
  const plain = text.replaceAll(/\*\*(?=`)|(?<=`)\*\*/g, "");
  return plain.replaceAll(/\*\*(.*?)\*\*|`(.*?)`/g, (_, strong: string | undefined, code) => String.raw`\fB${strong ?? code}\fR`);
}

function wrap(text: string): string[] {
  const lines = [""];
  for (const word of text.split(" ")) {
    if (`${lines.at(-1)} ${word}`.length > LINE_MAX) lines.push(word);
    else lines.push(`${lines.pop()} ${word}`.trimStart());
  }
  return lines;
}

if (import.meta.main) {
  const path = join(PROJECT, "dist/plant-store.1");
  mkdirSync(join(PROJECT, "dist"), { recursive: true });
  writeFileSync(path, await makeManual(new Date()));
  process.stdout.write(`${path} is ready: \`man ${path}\` shows it.\n`);
}
