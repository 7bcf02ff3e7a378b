import { readFileSync } from "node:fs";
import { join } from "node:path";
import { PROJECT, VERSION } from "./project.ts";

type NotesOptions = Readonly<{ changelog?: string; isSigned?: boolean }>;

/**
 * What CHANGELOG.md says of this version. For a trial, which no one signs, what is not released will do. Throws if there
 * is neither.
 */
export function releaseNotes({ changelog = readFileSync(join(PROJECT, "CHANGELOG.md"), "utf8"), isSigned = false }: NotesOptions): string {
  const sections = changelog.split(/^## /m).slice(1);
  const find = (title: string) => sections.find((section) => section.split(/\s/, 1)[0]!.replaceAll(/[[\]]/g, "") === title);
  const section = find(VERSION) ?? (isSigned ? undefined : find("Unreleased"));
  if (section === undefined) throw new Error(`CHANGELOG.md has no section ${VERSION}: rename Unreleased.`);
  const text = section.slice(section.indexOf("\n")).trim();
  // Where they are published, there is no file of the project beside them.
  return `# Plant Store ${VERSION}\n\n${text.replaceAll(/\[([^\]]*)\]\((?!https?:)[^)]*\)/g, "$1")}\n`;
}
