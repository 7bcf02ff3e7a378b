import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { ServiceError } from "../../src/client/page-client.ts";
import type { Catalogue } from "../catalogue/catalogue.ts";
import { failureText, isAbort } from "../failure-text.ts";
import { useShown } from "../leaving.ts";
import { checkFile } from "./check-file.ts";
import type { CheckedFile, CheckOptions } from "./check-file.ts";
import { NO_CHOICES, readAsChosen } from "./choices.ts";
import type { Choices } from "./choices.ts";
import type { ImportStep, PreviewStep } from "./import-step.ts";
import { previewImport } from "./preview.ts";
import type { Preview, PreviewOptions } from "./preview.ts";
import { sendFile } from "./send-file.ts";
import type { SentSoFar } from "./send-file.ts";
import type { OnConflict } from "./send-slice.ts";

export type Ended = Extract<ImportStep, { kind: "ended" }>;

type RunOptions = Readonly<{ catalogue: Catalogue; onConflict: OnConflict; onEnd: (ended: Ended) => void }>;

/** The steps of an import, and what leads from one to the next. Each ends what was under way. */
export function useImportRun({ catalogue, onConflict, onEnd }: RunOptions) {
  const { client, deletions } = catalogue;
  const [step, setStep] = useState<ImportStep>({ kind: "choosing" });
  const [problem, setProblem] = useState<string>();
  const stop = useRef(new AbortController());
  // The cleanup of an effect comes a frame after its dialog has gone: the next slice would have been sent.
  useLayoutEffect(() => () => stop.current.abort(), []);
  const isShown = useShown();

  /** Another file, or a later choice, may have taken the place of what fails, whatever is wrong with it. */
  async function attempt(work: (signal: AbortSignal) => Promise<ImportStep>, failed: (text: string) => void): Promise<void> {
    stop.current.abort();
    stop.current = new AbortController();
    const { signal } = stop.current;
    setProblem(undefined);
    try {
      setStep(await work(signal));
    } catch (thrown) {
      if (!signal.aborted) failed(failureText(thrown));
    }
  }

  function check(chosen: File): void {
    const { name } = chosen;
    const onRead: CheckOptions["onRows"] = (rows, share) => setStep({ kind: "checking", name, rows, share });
    onRead(0, 0);
    const failed = (text: string) => {
      setProblem(`${name} cannot be read. ${text}`);
      setStep({ kind: "choosing" });
    };
    void attempt((signal) => open(chosen, { signal, onRows: onRead }), failed);
  }

  function choose(before: PreviewStep, choices: Choices): void {
    setStep({ ...before, choices });
    const failed = (text: string) => {
      setProblem(text);
      // Also what was chosen just before, and not read to its end: nothing is shown that is not what is imported.
      setStep({ ...before, choices: before.read });
    };
    const read = async (signal: AbortSignal): Promise<PreviewStep> => {
      const chosen = await readAsChosen(before.checked, choices, { client, signal });
      return { ...before, ...chosen, choices, read: choices };
    };
    void attempt(read, failed);
  }

  function send(checked: CheckedFile, from: SentSoFar): void {
    const sending = { kind: "sending", checked, startedAt: performance.now(), startRows: from.counts.read, isStopping: false } as const;
    let progress = from;
    function onProgress(next: SentSoFar): void {
      progress = next;
      setStep({ ...sending, progress });
    }
    onProgress(from);
    const run = async (signal: AbortSignal): Promise<Ended> => {
      let reason: string | undefined;
      try {
        await deletions.flush();
        await sendFile(checked, from, { client, onConflict, signal, onProgress });
      } catch (thrown) {
        reason = isAbort(thrown) ? (isShown() ? "You cancelled it." : "Its dialog was closed.") : failureText(thrown);
        // The service says that it has stored nothing of what was under way.
        if (thrown instanceof ServiceError && thrown.status < 500) progress = { ...progress, underWay: 0 };
      }
      const ended: Ended = { kind: "ended", checked, progress, reason };
      onEnd(ended);
      void catalogue.reload();
      return ended;
    };
    void attempt(run, setProblem);
  }

  function cancel(): void {
    stop.current.abort();
    setStep((now) => (now.kind === "sending" ? { ...now, isStopping: true } : now));
  }

  function chooseAnother(): void {
    stop.current.abort();
    setStep({ kind: "choosing" });
  }

  return { step, problem, check, choose, send, cancel, chooseAnother };
}

/** Reads a file as it is probably meant. */
async function open(chosen: File, options: CheckOptions): Promise<PreviewStep> {
  const checked = await checkFile(chosen, {}, options);
  return { kind: "preview", checked, likely: checked.likely, choices: NO_CHOICES, read: NO_CHOICES, isKnown: false };
}

export type PreviewState = Readonly<{ preview?: Preview; failure?: string }>;

/** Asks the service what an import of this file would do, again for each file and choice. */
export function usePreview(
  checked: CheckedFile | undefined,
  { client, onConflict }: Pick<PreviewOptions, "client" | "onConflict">,
): PreviewState {
  const [state, setState] = useState<PreviewState>({});
  useEffect(() => {
    setState({});
    if (!checked || checked.failure !== undefined) return undefined;
    const asking = new AbortController();
    previewImport(checked, { client, onConflict, signal: asking.signal, onPreview: (preview) => setState({ preview }) }).catch(
      (thrown: unknown) => {
        if (!isAbort(thrown)) setState({ failure: failureText(thrown) });
      },
    );
    return () => asking.abort();
  }, [checked, onConflict]);
  return state;
}
