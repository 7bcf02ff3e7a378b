import { IconButton } from "../ui/button.tsx";
import type { Plant } from "../../src/client/client.ts";
import { isInvisible, nameLabel, tagLabel } from "../plants/label.ts";
import { plantFragment } from "../opening.ts";
import { exactText } from "../ui/exact-text.ts";

/** What a link or button of a row asks for; the table hears of it. */
export type RowAction = "delete" | "edit" | "open" | "tag";

type PlantRowProps = Readonly<{
  plant: Plant;
  isRevealed: boolean;
  /** Whether someone else deleted it since: it can be had back from its history, and nothing else can be done with it. */
  isDeleted: boolean;
  isTicked: boolean;
  mayChange: boolean;
  /** Its place in the list, from 0. */ at: number;
  /** Where it is by itself, out of sight. */ topPx: number | undefined;
}>;

export function PlantRow({ plant, isRevealed, isDeleted, isTicked, mayChange, at, topPx }: PlantRowProps) {
  const { id, name, tag } = plant;
  const text = String(id);
  const isNameless = isInvisible(name);
  const spoken = isNameless ? `plant ${text}` : name;
  const called = isDeleted ? `${spoken}, deleted` : spoken;
  const label = isDeleted ? called : isNameless ? `Plant ${text}` : undefined;
  // Not disabled: what has the focus keeps it.
  const unavailable = { "aria-disabled": isDeleted || undefined };
  return (
    <tr
      role="row"
      aria-rowindex={at + 2}
      data-at={at}
      class={topPx === undefined ? "plant-row" : "plant-row plant-row-away"}
      data-new={isRevealed ? "" : undefined}
      data-ticked={isTicked ? "" : undefined}
      data-deleted={isDeleted ? "" : undefined}
      style={topPx === undefined ? undefined : { top: `${topPx}px` }}
    >
      <td role="cell" class="plant-row-tick">
        <input type="checkbox" data-action="tick" aria-label={`Select ${called}`} checked={isTicked} {...unavailable} />
      </td>
      <td role="cell" class="plant-row-id" ref={exactText(text)} />
      <td role="cell" class={isNameless ? "plant-row-name none" : "plant-row-name"} title={name} dir="auto">
        <a href={plantFragment(id)} data-action="open" aria-label={label} ref={exactText(nameLabel(name))} />
      </td>
      <td role="cell" class="plant-row-tag">
        {tag === undefined ? null : (
          <button class="chip" type="button" data-action="tag" title={`Show only ${tagLabel(tag)}`}>
            <span dir="auto" ref={exactText(tagLabel(tag))} />
          </button>
        )}
      </td>
      {mayChange ? (
        <td role="cell" class="plant-row-actions">
          <IconButton icon={isDeleted ? "refresh" : "edit"} data-action="edit" label={`${isDeleted ? "History of" : "Edit"} ${called}`} />
          <IconButton icon="remove" data-action="delete" label={`Delete ${called}`} {...unavailable} />
        </td>
      ) : null}
    </tr>
  );
}
