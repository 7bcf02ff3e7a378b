import type { Likely } from "../../src/files/table-error.ts";
import { SelectField } from "../ui/form.tsx";
import { encodingName, USUAL } from "./encodings.ts";

type EncodingQuestionProps = Readonly<{ likely: readonly Likely[]; chosen: string | undefined; onChoose: (encoding: string) => void }>;

/** Which letters are right, where the bytes do not say. */
export function EncodingQuestion({ likely, chosen = "", onChoose }: EncodingQuestionProps) {
  const others = USUAL.filter(([encoding]) => likely.every((one) => one.encoding !== encoding));
  return (
    <fieldset class="import-encodings">
      <legend>Which of these is right?</legend>
      {likely.map(({ encoding, words }) => (
        <label class="check" key={encoding}>
          <input type="radio" name="encoding" value={encoding} checked={encoding === chosen} onChange={() => onChoose(encoding)} />
          <span>
            {words} <span class="hint">{encodingName(encoding)}</span>
          </span>
        </label>
      ))}
      <SelectField
        label="None of them"
        options={[["", "Choose another encoding"], ...others]}
        value={others.some(([encoding]) => encoding === chosen) ? chosen : ""}
        onValue={onChoose}
      />
    </fieldset>
  );
}
