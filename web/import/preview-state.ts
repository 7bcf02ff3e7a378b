import { useEffect, useState } from "preact/hooks";
import type { Client } from "../../src/client/client.ts";
import { isAbort } from "../failure-text.ts";
import type { CheckedFile } from "./check-file.ts";
import { previewImport } from "./preview.ts";
import type { Preview } from "./preview.ts";
import { importFailureText } from "./import-failure.ts";
import type { OnConflict } from "./send-file.ts";

/** The preview of a file so far, or why there is none. */
export type PreviewState = Readonly<{ preview?: Preview; failure?: string }>;

type PreviewOptions = Readonly<{ client: Client; onConflict: OnConflict }>;

/** Asks the service what an import of this file would do, again for each file and choice. */
export function usePreview(checked: CheckedFile | undefined, { client, onConflict }: PreviewOptions): PreviewState {
  const [state, setState] = useState<PreviewState>({});
  useEffect(() => {
    setState({});
    if (!checked || checked.failure !== undefined) return undefined;
    const asking = new AbortController();
    previewImport(checked, { client, onConflict, signal: asking.signal, onPreview: (preview) => setState({ preview }) }).catch(
      (thrown: unknown) => {
        if (!isAbort(thrown)) setState({ failure: importFailureText(thrown) });
      },
    );
    return () => asking.abort();
  }, [checked, onConflict]);
  return state;
}
