import { useEffect, useState } from "preact/hooks";
import type { Catalogue } from "../catalogue/catalogue.ts";
import { useValue } from "../state.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { takeFocus } from "../ui/focus.ts";
import { Problem } from "../ui/form.tsx";
import type { ImportCode } from "./import-code.ts";

type ImportEntranceProps = Readonly<{ importCode: ImportCode; catalogue: Catalogue; file: File | undefined }>;

/** Code that is there sooner is not waited for in sight. */
const UNSEEN_MS = 200;

const FAILURES = {
  outdated:
    "The service was updated, and this page is of the version before: reload it to import. Rows that you pasted are kept; a file must be chosen again.",
  unreachable: "The service cannot be reached, so the import cannot be loaded: check the connection, then try again.",
  unknown: "The import could not be loaded: try again.",
} as const;

/** The dialog of an import, as soon as its code is there. */
export function ImportEntrance({ importCode, ...props }: ImportEntranceProps) {
  const { notices, opening } = props.catalogue.context;
  const loading = useValue(importCode.state);
  const [isSeen, setSeen] = useState(false);
  useEffect(() => {
    void importCode.load();
    const timer = setTimeout(() => setSeen(true), UNSEEN_MS);
    return () => clearTimeout(timer);
  }, []);
  if (loading.kind === "loaded") return <loading.code.ImportDialog {...props} />;
  if (loading.kind !== "failed" && !isSeen) return null;
  return (
    <Dialog title="Import plants" notices={notices} onClose={() => opening.close()} isWide>
      {loading.kind === "failed" ? (
        <>
          <Problem text={FAILURES[loading.cause]} />
          <footer>
            {loading.cause === "outdated" ? <Button label="Reload the page" onClick={() => location.reload()} /> : null}
            <Button label="Try again" class="primary" onClick={() => void importCode.load()} ref={takeFocus} />
          </footer>
        </>
      ) : (
        <p role="status">Loading…</p>
      )}
    </Dialog>
  );
}
