import { useEffect, useState } from "preact/hooks";
import type { Catalogue } from "../catalogue/catalogue.ts";
import { listen } from "../listen.ts";
import { PROBLEM_MS, quote } from "../notices.ts";
import { ImportCode } from "./import-code.ts";

/** Opens the import with a file that is dropped on the page. Returns its code, which is asked for before that. */
export function useImportDrop(catalogue: Catalogue): ImportCode {
  const { reaching, notices, opening } = catalogue.context;
  const [importCode] = useState(() => new ImportCode(reaching.fetch));
  // A form that is open would be lost with what is typed in it.
  const isTaken = () => catalogue.access.write && ["nothing", "import"].includes(opening.state.get().kind);
  useDrop({
    onNear: () => void (isTaken() && importCode.state.get().kind === "unasked" && importCode.load()),
    onFile(file, others) {
      if (!isTaken()) return;
      opening.open({ kind: "import", file });
      const text = `Only ${quote(file.name)} was taken: import the others after it.`;
      if (others > 0) notices.add({ kind: "problem", text, lastsMs: PROBLEM_MS });
    },
  });
  return importCode;
}

type DropOptions = Readonly<{
  /** A file is dragged over the page; it is told again and again. */
  onNear: () => void;
  /** The first file that was dropped, and how many others there were. */
  onFile: (file: File, others: number) => void;
}>;

/** Takes a file that is dropped anywhere on the page, which the browser would otherwise open in the place of it. */
function useDrop({ onNear, onFile }: DropOptions): void {
  useEffect(() => {
    function allow(event: DragEvent): void {
      if (event.dataTransfer?.types.includes("Files") !== true) return;
      event.preventDefault();
      onNear();
    }
    function take(event: DragEvent): void {
      const [file, ...others] = event.dataTransfer?.files ?? [];
      if (!file) return;
      event.preventDefault();
      onFile(file, others.length);
    }
    return listen({ dragover: allow, drop: take });
  }, []);
}
