import { walk } from "../command-tree.ts";
import type { CommandTree, Value } from "../command-tree.ts";

/** A script for bash 4 or later, which needs nothing else. */
export function toBash(program: CommandTree): string {
  const nodes = walk(program);
  const known = nodes.flatMap(({ path, commands }) => commands.map(({ name }) => `"${path} ${name}"`));
  return `# What bash completes for plant-store. Made by \`plant-store completion bash\`.
_plant_store() {
  local at= word words IFS=$' \\t\\n'
  COMPREPLY=()
  # Bash splits words at = and :, which are part of ours, and replaces only what is behind the last of them.
  read -a words <<<"\${COMP_LINE:0:COMP_POINT}x"
  local current=\${words[-1]%x} flag=\${words[-2]}
  unset 'words[-1]' 'words[0]'
  for word in "\${words[@]}"; do
    case "$at $word" in
      ${known.join(" | ")}) at+=" $word" ;;
    esac
  done
  local breaks=\${COMP_WORDBREAKS//[^=:]/}
  local kept=\${current%"\${current##*[$breaks]}"}
  [[ $current == --*=* ]] && flag=\${current%%=*} current=\${current#*=} kept=\${kept#"$flag="}
  case "$at $flag" in
${nodes.flatMap(flagCases).join("\n")}
    *)
      [[ $current == -* ]] && at+=" -"
      case "$at" in
${nodes.flatMap(commandCases).join("\n")}
      esac
      ;;
  esac
}
_plant_store_words() {
  local word
  for word; do [[ $word == "$current"* ]] && COMPREPLY+=("\${word#"$kept"}"); done
}
complete -F _plant_store plant-store
`;
}

type Node = ReturnType<typeof walk>[number];

function flagCases({ path, flags }: Node): string[] {
  return flags.flatMap(({ names, value }) =>
    value === undefined ? [] : [`    ${names.map((name) => `"${path} ${name}"`).join(" | ")}) ${toAction(value)} ;;`],
  );
}

function commandCases({ path, commands, flags, value = { kind: "any" } }: Node): string[] {
  const next: Value = commands.length > 0 ? { kind: "choice", words: commands.map(({ name }) => name) } : value;
  const names = flags.flatMap((flag) => flag.names);
  return [`        "${path}") ${toAction(next)} ;;`, `        "${path} -") ${toAction({ kind: "choice", words: names })} ;;`];
}

/** What bash does for a value. It completes names of files itself, as it does elsewhere. */
function toAction(value: Value): string {
  if (value.kind === "choice") return `_plant_store_words ${value.words.join(" ")}`;
  if (value.kind === "any") return ":";
  return `compopt -o ${value.kind === "file" ? "default" : "dirnames"}`;
}
