/** A name, or what is shown instead of one that nobody could see. */
export function nameLabel(name: string): string {
  return name.trim() === "" ? "(no name)" : name;
}

/** A tag, or what is shown instead of one that nobody could see. */
export function tagLabel(tag: string): string {
  return tag.trim() === "" ? "(empty tag)" : tag;
}
