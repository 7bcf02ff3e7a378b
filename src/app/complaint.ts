import { PlantStoreError } from "../domain/errors.ts";
import { describeFailure, toSentence } from "../runtime/system-failure.ts";
import { escapeControlLines } from "../runtime/terminal-text.ts";
import { isDamage } from "../store/sqlite/engine/failure.ts";

/** What a command that fails with this writes on standard error. */
export function complaintOf(reason: unknown): string {
  return `plant-store: ${escapeControlLines(textOf(reason))}\n`;
}

/** The message for clients does not say what is wrong with the machine: its cause does. */
function textOf(reason: unknown): string {
  if (!(reason instanceof Error)) return String(reason);
  const cause = reason instanceof PlantStoreError && reason.cause instanceof Error ? reason.cause : undefined;
  if (isDamage(cause ?? reason)) return "The store is damaged: run `plant-store check` on it, which says what to do.";
  // A command shows no headers of a response.
  const message = reason.message.replace("after the seconds in Retry-After", "in a moment");
  return toSentence(reason) ?? message + (cause ? ` The reason: ${describeFailure(cause)}` : "");
}
