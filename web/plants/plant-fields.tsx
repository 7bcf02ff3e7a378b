import type { TagCount } from "../../src/client/client.ts";
import { takeFocus } from "../ui/focus.ts";
import { AS_TYPED, Field, TextField } from "../ui/form.tsx";
import type { Draft } from "./draft.ts";

type NameAndTagProps = Readonly<{
  draft: Draft;
  onDraft: (draft: Draft) => void;
  tags: readonly TagCount[];
  /** Whether nothing can be typed: it is on its way. */
  isFixed: boolean;
}>;

/** Name and tag of a plant, the first fields of a dialog. */
export function NameAndTag({ draft, onDraft, tags, isFixed }: NameAndTagProps) {
  return (
    <>
      <TextField
        label="Name"
        dir="auto"
        value={draft.name}
        onValue={(name) => onDraft({ ...draft, name })}
        readOnly={isFixed}
        autofocus
        ref={takeFocus}
        {...AS_TYPED}
      />
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

type TagFieldProps = Readonly<{
  value: string;
  onValue: (value: string) => void;
  tags: readonly TagCount[];
  hint: string;
  isFirst?: boolean;
  isFixed?: boolean;
}>;

const TAGS_OFFERED = 100;

/** A tag, with those that there are to choose from: first those that hold what is typed, as a browser shows no others then. */
export function TagField({ value, onValue, tags, hint, isFirst = false, isFixed = false }: TagFieldProps) {
  const typed = value.toLowerCase();
  const fitting = tags.filter(({ tag }) => tag.toLowerCase().includes(typed));
  const offered = [...new Set([...fitting, ...tags])].slice(0, TAGS_OFFERED);
  return (
    <Field label="Tag" hint={hint}>
      {(id, hintId) => (
        <>
          <input
            id={id}
            list={`${id}-tags`}
            aria-describedby={hintId}
            dir="auto"
            value={value}
            onInput={({ currentTarget }) => onValue(currentTarget.value)}
            readOnly={isFixed}
            autofocus={isFirst}
            {...(isFirst ? { ref: takeFocus } : {})}
            {...AS_TYPED}
            // A phone would begin it with a capital: another tag.
            autocapitalize="none"
          />
          <datalist id={`${id}-tags`}>
            {offered.map(({ tag }) => (
              <option key={tag} value={tag} />
            ))}
          </datalist>
        </>
      )}
    </Field>
  );
}
