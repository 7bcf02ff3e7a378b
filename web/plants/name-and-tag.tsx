import type { TagCount } from "../../src/client/client.ts";
import { AS_TYPED, Field } from "../ui/field.tsx";
import type { Draft } from "./draft.ts";
import { takeFocus } from "../ui/focus.ts";
import { TagField } from "./tag-field.tsx";

type FieldsProps = Readonly<{
  draft: Draft;
  onDraft: (draft: Draft) => void;
  tags: readonly TagCount[];
  /** Whether nothing can be typed: it is on its way. */
  isFixed: boolean;
}>;

/** Name and tag of a plant, the first fields of a dialog. */
export function NameAndTag({ draft, onDraft, tags, isFixed }: FieldsProps) {
  return (
    <>
      <Field label="Name">
        {(id) => (
          <input
            id={id}
            dir="auto"
            value={draft.name}
            onInput={({ currentTarget: { value } }) => onDraft({ ...draft, name: value })}
            readOnly={isFixed}
            autofocus
            ref={takeFocus}
            {...AS_TYPED}
          />
        )}
      </Field>
      <TagField
        value={draft.tag}
        onValue={(tag) => onDraft({ ...draft, tag })}
        tags={tags}
        hint="What kind of plant it is. Optional."
        isFixed={isFixed}
      />
    </>
  );
}
