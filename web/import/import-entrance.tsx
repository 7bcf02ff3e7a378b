import { useEffect, useState } from "preact/hooks";
import type { Catalogue } from "../catalogue/catalogue.ts";
import type { Notices } from "../notices.ts";
import { useValue } from "../state.ts";
import { Dialog } from "../ui/dialog.tsx";
import { takeFocus } from "../ui/focus.ts";
import type { ImportCode } from "./import-code.ts";

type ImportEntranceProps = Readonly<{
  importCode: ImportCode;
  catalogue: Catalogue;
  notices: Notices;
  file: File | undefined;
  onClose: () => void;
}>;

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
  const loading = useValue(importCode.state);
  const [isSeen, setSeen] = useState(false);
  useEffect(() => {
    importCode.load();
    const timer = setTimeout(() => setSeen(true), UNSEEN_MS);
    return () => clearTimeout(timer);
  }, []);
  if (loading.kind === "loaded") return <loading.code.ImportDialog {...props} />;
  if (loading.kind !== "failed" && !isSeen) return null;
  return (
    <Dialog title="Import plants" notices={props.notices} onClose={props.onClose} isWide>
      {loading.kind === "failed" ? (
        <>
          <p class="problem" role="alert">
            {FAILURES[loading.cause]}
          </p>
          <footer>
            {loading.cause === "outdated" ? (
              <button class="button" type="button" onClick={() => location.reload()}>
                Reload the page
              </button>
            ) : null}
            <button class="button primary" type="button" onClick={importCode.load} ref={takeFocus}>
              Try again
            </button>
          </footer>
        </>
      ) : (
        <p role="status">Loading…</p>
      )}
    </Dialog>
  );
}
