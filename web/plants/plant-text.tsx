import type { Plant } from "../../src/client/client.ts";
import { nameLabel, tagLabel } from "./label.ts";

type PlantTextProps = Readonly<{ plant: Plant; /** What to mark the differences to. */ other?: Plant | undefined }>;

/** A plant as text. */
export function PlantText({ plant: { name, tag }, other }: PlantTextProps) {
  return (
    <dl class="plants-text">
      <dt>Name</dt>
      <dd class={other === undefined || other.name === name ? "" : "plants-differs"} dir="auto">
        {nameLabel(name)}
      </dd>
      <dt>Tag</dt>
      <dd class={other === undefined || other.tag === tag ? "" : "plants-differs"} dir="auto">
        {tag === undefined ? "(no tag)" : tagLabel(tag)}
      </dd>
    </dl>
  );
}
