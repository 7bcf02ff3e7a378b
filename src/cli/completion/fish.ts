import { walk } from "../command-tree.ts";
import type { CommandTree, Flag, Value } from "../command-tree.ts";

export function toFish(program: CommandTree): string {
  const [, ...known] = walk(program);
  return `# What fish completes for plant-store. Made by \`plant-store completion fish\`.
function __plant_store_at
    set -l at
    for word in (commandline -opc)[2..]
        switch "$at $word"
            case ${known.map(({ path }) => quote(path)).join(" ")}
                set at "$at $word"
        end
    end
    test "$at" = "$argv[1]"
end
complete -c plant-store -e
complete -c plant-store -f
${toLines(program, "").join("\n")}
`;
}

function toLines({ commands, flags, value }: CommandTree, path: string): string[] {
  const rule = `complete -c plant-store -n ${quote(`__plant_store_at ${quote(path)}`)}`;
  return [
    ...commands.map(({ name, help }) => `${rule} -a ${name} -d ${quote(help)}`),
    ...(value === undefined || value.kind === "any" ? [] : [`${rule} ${toWords(value)}`]),
    ...flags.map((flag) => `${rule} ${toFlag(flag)}`),
    ...commands.flatMap((one) => toLines(one, `${path} ${one.name}`)),
  ];
}

function toFlag({ names, help, value }: Flag): string {
  const spellings = names.map((name) => (name.startsWith("--") ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`));
  const needs = value === undefined ? [] : ["-r", toWords(value)];
  return [...spellings, "-d", quote(help), ...needs].join(" ");
}

function toWords(value: Value): string {
  if (value.kind === "choice") return `-f -a ${quote(value.words.join(" "))}`;
  if (value.kind === "folder") return "-f -a '(__fish_complete_directories)'";
  return value.kind === "file" ? "-F" : "-f";
}

function quote(text: string): string {
  return `'${text.replaceAll(/['\\]/g, String.raw`\$&`)}'`;
}
