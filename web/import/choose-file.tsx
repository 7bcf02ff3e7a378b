import { useRef, useState } from "preact/hooks";
import { Button } from "../ui/button.tsx";
import { takeFocus } from "../ui/focus.ts";
import { Field, Form } from "../ui/form.tsx";
import { Icon } from "../ui/icon.tsx";

export const PASTED = "pasted";

type ChooseFileProps = Readonly<{ /** What is pasted. */ text: string; onText: (text: string) => void; onFile: (file: File) => void }>;

/** Takes a file that is dropped, chosen or pasted. */
export function ChooseFile({ text, onText, onFile }: ChooseFileProps) {
  const isEmpty = text.trim() === "";
  return (
    <Form onSubmit={() => void (isEmpty || onFile(new File([text], PASTED)))}>
      <p>
        A spreadsheet (.xlsx, .ods), CSV, a list of names, one on each line, a Darwin Core archive, NDJSON, or a JSON list; also compressed.
        You see what will happen to each row before anything is stored.
      </p>
      <DropArea onFile={onFile} />
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
        <Button label="Preview the rows" class="primary" type="submit" disabled={isEmpty} />
      </footer>
    </Form>
  );
}

/** A drop works on the whole page; this only says so. */
function DropArea({ onFile }: Pick<ChooseFileProps, "onFile">) {
  const [isOver, setOver] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  return (
    <div
      class={isOver ? "import-drop import-drop-over" : "import-drop"}
      onDragEnter={() => setOver(true)}
      onDragLeave={() => setOver(false)}
      onDrop={() => setOver(false)}
    >
      <Icon name="file" />
      <p>Drop a file here, or</p>
      <Button label="Choose a file" onClick={() => input.current?.click()} autofocus ref={takeFocus} />
      <input
        class="unseen"
        type="file"
        ref={input}
        tabIndex={-1}
        aria-label="File to import"
        accept=".csv,.tsv,.txt,.ndjson,.jsonl,.json,.xlsx,.ods,.gz,.zip"
        onChange={({ currentTarget: { files } }) => {
          const file = files?.[0];
          if (file) onFile(file);
        }}
      />
    </div>
  );
}
