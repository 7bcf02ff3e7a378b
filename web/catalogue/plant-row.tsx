import type { Plant } from "../../src/client/client.ts";
import { nameLabel, tagLabel } from "../plants/label.ts";
import { Icon } from "../ui/icon.tsx";

/** What a button of a row asks for; the table hears of it. */
export type RowAction = "delete" | "edit" | "tag";

type PlantRowProps = Readonly<{
  plant: Plant;
  mayChange: boolean;
  /** Its place in the list, from 0. */ at: number;
  /** Where it is by itself, out of sight. */ topPx: number | undefined;
}>;

export function PlantRow({ plant, mayChange, at, topPx }: PlantRowProps) {
  const { id, name, tag } = plant;
  const text = String(id);
  const isNameless = name.trim() === "";
  const spoken = isNameless ? `plant ${text}` : name;
  return (
    <tr
      role="row"
      aria-rowindex={at + 2}
      data-at={at}
      class={topPx === undefined ? "plant-row" : "plant-row plant-row-away"}
      style={topPx === undefined ? undefined : { top: `${topPx}px` }}
    >
      <td role="cell" class="plant-row-id">
        {text}
      </td>
      <td role="cell" class={isNameless ? "plant-row-name none" : "plant-row-name"} title={name}>
        {nameLabel(name)}
      </td>
      <td role="cell" class="plant-row-tag">
        {tag === undefined ? null : (
          <button class="chip" type="button" data-action="tag" title={`Show only ${tagLabel(tag)}`}>
            <span>{tagLabel(tag)}</span>
          </button>
        )}
      </td>
      {mayChange ? (
        <td role="cell" class="plant-row-actions">
          <button class="button quiet square" type="button" data-action="edit" aria-label={`Edit ${spoken}`}>
            <Icon name="edit" />
          </button>
          <button class="button quiet square" type="button" data-action="delete" aria-label={`Delete ${spoken}`}>
            <Icon name="remove" />
          </button>
        </td>
      ) : null}
    </tr>
  );
}
