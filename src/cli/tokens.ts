import { randomBytes } from "node:crypto";
import { Command, InvalidArgumentError, Option } from "commander";
import { removeIfRevoked } from "../auth/first-token.ts";
import { issueToken } from "../auth/issue.ts";
import { parseEnd, toTokenJson } from "../auth/token-json.ts";
import type { Config } from "../app/config.ts";
import { isScope, SCOPES } from "../domain/scope.ts";
import type { Scope } from "../domain/scope.ts";
import { firstTokenFile } from "../runtime/data-folder.ts";
import { allTokens } from "../store/tokens.ts";
import type { Token, TokenStore } from "../store/tokens.ts";
import { escapeControls } from "../runtime/terminal-text.ts";
import { createToken } from "../../contract/generated/bodies.ts";
import { checkBody } from "../domain/validation.ts";
import { addJson, printResult } from "./result.ts";
import type { Result } from "./result.ts";
import { addSettings, configOf } from "./settings.ts";
import { withOwnStore } from "./own-store.ts";

type CreateFlags = { name: string; scopes: Scope[]; admin?: true; days?: number; expires?: string };

export function tokenCommand(): Command {
  const command = new Command("token").description("Create, list and revoke tokens, even while the service runs.");
  return command.addCommand(createCommand()).addCommand(listCommand()).addCommand(revokeCommand());
}

function createCommand(): Command {
  const command = new Command("create")
    .description("Create a token and print it. It is shown only once. A running service accepts it at once.")
    .option("--name <name>", "what the token is for", "unnamed")
    .addOption(
      new Option("--scopes <list>", "what it may do, separated by commas")
        .choices(SCOPES)
        .argParser(parseScopes)
        .default(["plants:read", "plants:write"], "plants:read,plants:write"),
    )
    .addOption(new Option("--admin", "all scopes, so that it can also create and revoke tokens").conflicts("scopes"))
    .option("--days <number>", "days until it expires; by default, it does not expire", parseDays)
    .addOption(new Option("--expires <instant>", "when it expires, such as 2027-11-02T09:00:00Z").conflicts("days"));
  return withTokens(command, async (tokens) => {
    const { name, admin, scopes: listed, days, expires } = command.opts<CreateFlags>();
    const scopes = admin ? SCOPES : listed;
    // As over HTTP: a name that is empty or endless helps no one who reads the list.
    const wanted = checkBody(createToken, {
      name,
      scopes,
      ...(days === undefined ? {} : { days }),
      ...(expires === undefined ? {} : { expires }),
    });
    // Anyone who may run commands here owns the store, so no other token limits this one.
    const { token, secret } = await issueToken({
      tokens,
      random: randomBytes,
      now: Date.now,
      name,
      scopes,
      ...parseEnd(wanted, Date.now()),
    });
    return { json: { ...toTokenJson(token), token: secret }, words: secret };
  });
}

function listCommand(): Command {
  const command = new Command("list").description("List all tokens, including revoked ones, without their secrets.");
  return withTokens(command, async (tokens) => {
    const list = await Array.fromAsync(allTokens(tokens));
    return { json: list.map(toTokenJson), words: toTokenTable(list) };
  });
}

/** Tokens for people, without their secrets. */
export function toTokenTable(tokens: readonly Token[]): string {
  // A name may contain terminal control sequences.
  const rows = tokens.map((token) => toRow(token, Date.now()).map(escapeControls));
  return toTable([["id", "state", "name", "scopes", "made by", "created", "expires", "last used"], ...rows]);
}

function revokeCommand(): Command {
  const command = new Command("revoke")
    .argument("<id>", "the id from `token list`")
    .description("Revoke a token, the tokens that it created, and those that they created. Takes effect within a second.")
    .option("--keep-children", "revoke only this token");
  return withTokens(command, async (tokens, config) => {
    const [id = ""] = command.args;
    const { keepChildren = false } = command.opts<{ keepChildren?: true }>();
    const revoked = await tokens.revoke(id, Date.now(), { cascade: !keepChildren });
    if (!revoked) throw new Error(`There is no token with the id ${id}: see \`plant-store token list\`.`);
    await removeIfRevoked({ tokens, path: firstTokenFile(config.data) });
    const children = revoked.filter((one) => one !== id);
    const words = `The token ${id} is revoked${children.length > 0 ? `, and with it ${children.join(", ")}` : ""}.`;
    return { json: { revoked }, words };
  });
}

/** Runs `work` on the tokens of the store and prints what it returns. */
function withTokens(command: Command, work: (tokens: TokenStore, config: Config) => Promise<Result>): Command {
  return addSettings(addJson(command), ["data", "database"]).action(async () => {
    const config = configOf(command);
    // Before the store is closed, which may fail or be interrupted: a secret is shown once.
    await withOwnStore(config, async ({ tokens }) => printResult(command, await work(tokens, config)));
  });
}

function parseScopes(list: string): Scope[] {
  const scopes = list.split(",");
  if (!scopes.every(isScope)) throw new InvalidArgumentError(`Use any of ${SCOPES.join(",")}.`);
  return scopes;
}

function parseDays(text: string): number {
  const days = Number(text);
  if (!/^\d*\.?\d+$/.test(text) || !(days > 0 && days <= 36_500))
    throw new InvalidArgumentError("Use a number of days greater than 0, and at most 36500.");
  return days;
}

function toRow({ id, name, scopes, created, expires, revoked, parent, lastUsed }: Token, now: number): string[] {
  const isExpired = expires !== undefined && expires <= now;
  return [
    id,
    revoked !== undefined ? "revoked" : isExpired ? "expired" : "valid",
    name,
    scopes.join(","),
    parent ?? "-",
    toDay(created),
    expires === undefined ? "never" : toDay(expires),
    lastUsed === undefined ? "never" : toDay(lastUsed),
  ];
}

function toDay(time: number): string {
  return new Date(time).toISOString().slice(0, 16).replace("T", " ");
}

function toTable(rows: readonly string[][]): string {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}
