import type { TagCount } from "../../src/client/client.ts";
import { Field } from "../ui/field.tsx";
import type { Draft } from "./draft.ts";
import { takeFocus } from "../ui/focus.ts";

type FieldsProps = Readonly<{ draft: Draft; onDraft: (draft: Draft) => void; tags: readonly TagCount[]; isFirst: boolean }>;

const TAGS_OFFERED = 100;

/** Name and tag of a plant. */
export function NameAndTag({ draft, onDraft, tags, isFirst }: FieldsProps) {
  return (
    <>
      <Field label="Name">
        {(id) => (
          <input
            id={id}
            value={draft.name}
            onInput={({ currentTarget: { value } }) => onDraft({ ...draft, name: value })}
            autofocus={isFirst}
            ref={isFirst ? takeFocus : null}
            autocomplete="off"
          />
        )}
      </Field>
      <Field label="Tag" hint="What kind of plant it is. Optional.">
        {(id, hintId) => (
          <>
            <input
              id={id}
              list={`${id}-tags`}
              aria-describedby={hintId}
              value={draft.tag}
              onInput={({ currentTarget: { value } }) => onDraft({ ...draft, tag: value })}
              autocomplete="off"
            />
            <datalist id={`${id}-tags`}>
              {tags.slice(0, TAGS_OFFERED).map(({ tag }) => (
                <option key={tag} value={tag} />
              ))}
            </datalist>
          </>
        )}
      </Field>
    </>
  );
}
