import { useRef, useState } from "preact/hooks";
import { Field } from "../ui/field.tsx";
import { Icon } from "../ui/icon.tsx";
import { takeFocus } from "../ui/focus.ts";

/** What pasted rows are called. */
export const PASTED = "pasted";

type ChooseFileProps = Readonly<{ /** What is pasted. */ text: string; onText: (text: string) => void; onFile: (file: File) => void }>;

/** Takes a file that is dropped, chosen or pasted. A drop works on the whole page; this only says so. */
export function ChooseFile({ text, onText, onFile }: ChooseFileProps) {
  const [isOver, setOver] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim() !== "") onFile(new File([text], PASTED));
      }}
    >
      <p>
        A spreadsheet (.xlsx), CSV, a list of names, one on each line, NDJSON, or a JSON list; also compressed. You see what will happen to
        each row before anything is stored.
      </p>
      <div
        class={isOver ? "choose-file choose-file-over" : "choose-file"}
        onDragEnter={() => setOver(true)}
        onDragLeave={() => setOver(false)}
        onDrop={() => setOver(false)}
      >
        <Icon name="file" />
        <p>Drop a file here, or</p>
        <button class="button" type="button" onClick={() => input.current?.click()} autofocus ref={takeFocus}>
          Choose a file
        </button>
        <input
          class="unseen"
          type="file"
          ref={input}
          tabIndex={-1}
          aria-label="File to import"
          accept=".csv,.tsv,.txt,.ndjson,.jsonl,.json,.xlsx,.gz,.zip"
          onChange={({ currentTarget: { files } }) => {
            const file = files?.[0];
            if (file) onFile(file);
          }}
        />
      </div>
      <Field label="Or paste the rows">
        {(id) => (
          <textarea
            id={id}
            rows={5}
            spellcheck={false}
            placeholder={"id,name,tag\n1,Monstera deliciosa,tropical"}
            value={text}
            onInput={({ currentTarget: { value } }) => onText(value)}
          />
        )}
      </Field>
      <footer>
        <button class="button primary" type="submit" disabled={text.trim() === ""}>
          Preview the rows
        </button>
      </footer>
    </form>
  );
}
