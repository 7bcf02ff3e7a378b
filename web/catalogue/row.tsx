import type { Plant } from "../../src/client/client.ts";
import { Icon } from "../ui/icon.tsx";

export type RowActions = Readonly<{
  onEdit: (plant: Plant) => void;
  onDelete: (plant: Plant) => void;
  onTag: (tag: string) => void;
}>;

type PlantRowProps = RowActions & Readonly<{ plant: Plant; /** Its place in the list, from 0. */ at: number; rowPx: number }>;

export function PlantRow({ plant, at, rowPx, onEdit, onDelete, onTag }: PlantRowProps) {
  const { id, name, tag } = plant;
  const text = String(id);
  const spoken = name === "" ? `plant ${text}` : name;
  return (
    <tr
      role="row"
      aria-rowindex={at + 2}
      data-id={text}
      class={at % 2 === 1 ? "odd" : ""}
      style={{ height: `${rowPx}px`, transform: `translateY(${at * rowPx}px)` }}
    >
      <td role="cell" class="id">
        {text}
      </td>
      <td role="cell" class="name" title={name}>
        {name === "" ? <span class="none">(no name)</span> : name}
      </td>
      <td role="cell" class="tag">
        {tag === undefined ? null : (
          <button class="chip" type="button" data-action="tag" title={`Show only ${tag}`} onClick={() => onTag(tag)}>
            <span>{tag === "" ? "(empty tag)" : tag}</span>
          </button>
        )}
      </td>
      <td role="cell" class="actions">
        <button class="button quiet square" type="button" data-action="edit" aria-label={`Edit ${spoken}`} onClick={() => onEdit(plant)}>
          <Icon name="edit" />
        </button>
        <button
          class="button quiet square"
          type="button"
          data-action="delete"
          aria-label={`Delete ${spoken}`}
          onClick={() => onDelete(plant)}
        >
          <Icon name="remove" />
        </button>
      </td>
    </tr>
  );
}
