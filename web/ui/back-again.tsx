/** Says that what was typed before is there again. */
export function BackAgain({ onDiscard }: { onDiscard: () => void }) {
  return (
    <p class="hint" role="status">
      What you typed before is back.{" "}
      <button class="link" type="button" onClick={onDiscard}>
        Discard it
      </button>
    </p>
  );
}
