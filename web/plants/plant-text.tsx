import type { Plant } from "../../src/client/client.ts";
import { nameLabel, tagLabel } from "./label.ts";

/** The whole name and tag of a plant, which a row may cut. */
export function PlantText({
  plant: { name, tag },
  other,
}: {
  plant: Plant;
  /** What to mark the differences to. */ other?: Plant | undefined;
}) {
  return (
    <dl class="plant-text">
      <dt>Name</dt>
      <dd class={other === undefined || other.name === name ? "" : "plant-text-differs"} dir="auto">
        {nameLabel(name)}
      </dd>
      <dt>Tag</dt>
      <dd class={other === undefined || other.tag === tag ? "" : "plant-text-differs"} dir="auto">
        {tag === undefined ? "(no tag)" : tagLabel(tag)}
      </dd>
    </dl>
  );
}
