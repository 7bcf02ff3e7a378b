import type { ComponentChildren } from "preact";

/** The little of Markdown that the contract uses: paragraphs, `code` and **strong**. */
export function Prose({ text }: Readonly<{ text: string }>) {
  return text
    .trim()
    .split(/\n\s*\n/)
    .map((paragraph) => <p key={paragraph}>{toInline(paragraph)}</p>);
}

/** One line of it. */
export function Words({ text }: Readonly<{ text: string }>) {
  return <>{toInline(text)}</>;
}

function toInline(text: string): ComponentChildren {
  return text.split(/(`[^`]+`|\*\*[^*]+\*\*)/).map((part, at) => {
    if (part.startsWith("`")) return <code key={at}>{part.slice(1, -1)}</code>;
    if (part.startsWith("**")) return <strong key={at}>{toInline(part.slice(2, -2))}</strong>;
    return part;
  });
}
