/** In points: names begin with the largest. */
const SIZES = [14, 12, 10, 8.5, 7];

/** Makes the letters of each name as large as its label has room for. All are measured at once: each size costs one layout. */
export function fitNames(root: HTMLElement): void {
  let names = Array.from(root.querySelectorAll<HTMLElement>(".labels-name"));
  for (const size of SIZES) {
    for (const { style } of names) Object.assign(style, { fontSize: `${size}pt`, overflowWrap: "", webkitLineClamp: "" });
    names = names.filter(isTooLarge);
  }
  // Even the smallest letters are too many: words are broken, then whole lines are left out behind a mark.
  for (const { style } of names) style.overflowWrap = "anywhere";
  names = names.filter(isTooLarge);
  const lines = names.map((name) => Math.max(1, Math.floor(name.clientHeight / Number.parseFloat(getComputedStyle(name).lineHeight))));
  for (const [at, { style }] of names.entries()) style.webkitLineClamp = String(lines[at]);
}

function isTooLarge({ scrollHeight, clientHeight, scrollWidth, clientWidth }: HTMLElement): boolean {
  return scrollHeight > clientHeight + 1 || scrollWidth > clientWidth + 1;
}
