import { createReadStream, statSync } from "node:fs";
import { Command } from "commander";
import { removeFirstToken } from "../auth/first-token.ts";
import { toTokenJson } from "../auth/token-json.ts";
import { SCOPES } from "../domain/scope.ts";
import { firstTokenFile } from "../runtime/data-folder.ts";
import { restoreStore } from "../app/open-store.ts";
import type { ContentsPart } from "../store/contents.ts";
import type { Token } from "../store/tokens.ts";
import { escapeControls } from "../runtime/terminal-text.ts";
import { readBackup } from "../files/backup-file.ts";
import type { BackupPart } from "../files/backup-file.ts";
import { BackupError, summarize } from "../files/backup-lines.ts";
import type { BackupEnd, BackupHead } from "../files/backup-lines.ts";
import { createCommandLog } from "./command-log.ts";
import { counted, megabytes, showProgress } from "./progress.ts";
import { addJson, isJson, printResult } from "./result.ts";
import { addSettings, configOf } from "./settings.ts";
import { toTokenTable } from "./tokens.ts";

/** What a backup says of itself, once all of it was read. */
type Summary = Readonly<{ head: BackupHead; end: BackupEnd; tokens: readonly Token[]; size: number }>;

export function restoreCommand(): Command {
  const command = new Command("restore")
    .argument("<file>", "a file that `plant-store backup` wrote")
    .description(
      "Restore a backup into an empty store: a new data folder, or an empty database. No service may be using it. The whole file is checked first.",
    )
    .option("--dry-run", "restore nothing, only check the file and say what is in it");
  return addSettings(addJson(command), ["data", "database"]).action(async (file: string) => {
    const config = configOf(command);
    const { dryRun } = command.opts<{ dryRun?: true }>();
    const summary = await inspect(file);
    const json = toJson(file, summary);
    if (dryRun) return printResult(command, { json: { ...json, restored: false }, words: describe(file, summary) });
    if (!isJson(command)) process.stdout.write(`${describe(file, summary)}\n\n`);
    const began = performance.now();
    const log = createCommandLog("error");
    const { replaced } = await restoreStore(config, { contents: readAgain(file, summary.end), log });
    removeFirstToken(firstTokenFile(config.data), replaced);
    const seconds = Math.round(performance.now() - began) / 1000;
    const words = `Restored ${summarize(summary.end)} in ${seconds.toFixed(1)} s.`;
    printResult(command, { json: { ...json, restored: true, seconds }, words });
    // What a person should look at is no result.
    (isJson(command) ? process.stderr : process.stdout).write(`${advise(summary)}\n`);
  });
}

async function inspect(file: string): Promise<Summary> {
  const stats = statSync(file, { throwIfNoEntry: false });
  if (!stats) throw new Error(`There is no file ${file}: check its name.`);
  // It is read twice: first to check it, and then to restore it.
  if (!stats.isFile()) throw new Error(`${file} is not a file: name one that \`plant-store backup\` wrote.`);
  const tokens: Token[] = [];
  let [head, end]: [head?: BackupHead, end?: BackupEnd] = [];
  for await (const part of read(file, "check")) {
    [head, end] = [part.head, part.end];
    tokens.push(...part.tokens.map(({ token }) => token));
  }
  return { head: head!, end: end!, tokens, size: stats.size };
}

async function* read(file: string, what: string): AsyncGenerator<BackupPart, void, void> {
  const progress = showProgress(what, statSync(file).size);
  try {
    yield* readBackup(counted(createReadStream(file), progress));
  } catch (reason) {
    throw reason instanceof BackupError ? new Error(`${file} ${reason.message}`, { cause: reason }) : reason;
  } finally {
    progress.stop();
  }
}

/** The same file once more. Throws if it has changed since it was checked. */
async function* readAgain(file: string, checked: BackupEnd): AsyncGenerator<ContentsPart, void, void> {
  for await (const part of read(file, "restore")) {
    if (part.end && part.end.sha256 !== checked.sha256) throw new Error(`${file} has changed since it was checked: restore again.`);
    yield part;
  }
}

/** What is in a backup, without the hashes of tokens. */
function describe(file: string, { head, end, tokens, size }: Summary): string {
  const lines = [
    `${file}: a complete backup, ${megabytes(size)}`,
    `  made     ${head.at}, by Plant Store ${head.version}`,
    `  store    ${head.store}`,
    `  plants   ${end.plants}`,
    `  tokens   ${end.tokens}`,
  ];
  return lines.map(escapeControls).join("\n") + (tokens.length === 0 ? "" : `\n\n${toTokenTable(tokens)}`);
}

function toJson(file: string, { head, end, tokens, size }: Summary): object {
  return { file, ...head, plants: end.plants, tokens: end.tokens, tokenList: tokens.map(toTokenJson), bytes: size };
}

function advise({ head, tokens }: Summary): string {
  const now = Date.now();
  const isValid = ({ revoked, expires = Infinity }: Token) => revoked === undefined && expires > now;
  const hasAdmin = tokens.some((token) => isValid(token) && SCOPES.every((scope) => token.scopes.includes(scope)));
  const lines = [
    ...(tokens.some(isValid)
      ? [`Tokens that were revoked after ${head.at} are valid again: look at \`plant-store token list\`, and revoke them again.`]
      : []),
    ...(tokens.length > 0 && !hasAdmin ? ["No valid token has all scopes: make one with `plant-store token create --admin`."] : []),
    ...(tokens.length === 0 ? ["The backup has no tokens: the first start of the service makes one."] : []),
  ];
  return lines.join("\n");
}
