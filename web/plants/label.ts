/** A name, or what stands in the place of one that nobody could see. */
export function nameLabel(name: string): string {
  return name.trim() === "" ? "(no name)" : name;
}

/** A tag, or what stands in the place of one that nobody could see. */
export function tagLabel(tag: string): string {
  return tag.trim() === "" ? "(empty tag)" : tag;
}
