import type { CommandTree, Flag, Value } from "../command-tree.ts";

/** A script that works as a file in `$fpath`, and when it is read with `source`. */
export function toZsh(program: CommandTree): string {
  return `#compdef plant-store
# What zsh completes for plant-store. Made by \`plant-store completion zsh\`.
${toFunctions(program, "_plant-store").join("\n")}
if [[ $funcstack[1] == _plant-store ]]; then _plant-store "$@"; else compdef _plant-store plant-store; fi
`;
}

/** A function for a command, and one for each below it. */
function toFunctions({ commands, flags, value }: CommandTree, name: string): string[] {
  const specs = flags.map(toFlag);
  if (commands.length === 0) {
    const rest = value === undefined || value.kind === "any" ? [] : [quote(`*:${value.kind}:${toAction(value)}`)];
    return [`${name}() {\n  _arguments -S ${[...specs, ...rest].join(" \\\n    ")}\n}`];
  }
  const described = commands.map((one) => quote(`${one.name}:${one.help.replaceAll(":", String.raw`\:`)}`));
  const own = `${name}() {
  local line state
  _arguments -S -C ${[...specs, "'1: :->command'", "'*:: :->rest'"].join(" \\\n    ")}
  case $state in
    command)
      local -a commands=(
        ${described.join("\n        ")}
      )
      _describe command commands
      ;;
    rest) (( $+functions[${name}_$line[1]] )) && ${name}_$line[1] ;;
  esac
}`;
  return [own, ...commands.flatMap((one) => toFunctions(one, `${name}_${one.name}`))];
}

function toFlag({ names, help, value }: Flag): string {
  const hint = `[${escape(help)}]${value === undefined ? "" : `:${value.kind}:${toAction(value)}`}`;
  // Each spelling excludes all of them: a flag is given once.
  return names.map((name) => quote(`(${names.join(" ")})${name}${value && name.startsWith("--") ? "=" : ""}${hint}`)).join(" ");
}

function toAction(value: Value): string {
  if (value.kind === "choice") return `(${value.words.map(escape).join(" ")})`;
  if (value.kind === "folder") return "_files -/";
  return value.kind === "file" ? "_files" : " ";
}

function escape(text: string): string {
  return text.replaceAll(/[\\:[\]]/g, String.raw`\$&`);
}

function quote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
