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

/** What is to be written as it stands, so also in a browser that translates the page. */
export function Code({ children }: Readonly<{ children: ComponentChildren }>) {
  return <code translate={false}>{children}</code>;
}

function toInline(text: string): ComponentChildren {
  return text.split(/(`[^`]+`|\*\*[^*]+\*\*)/).map((part, at) => {
    if (part.startsWith("`")) return <Code key={at}>{part.slice(1, -1)}</Code>;
    if (part.startsWith("**")) return <strong key={at}>{toInline(part.slice(2, -2))}</strong>;
    return part;
  });
}
