import { useEffect, useRef, useState } from "preact/hooks";
import { ServiceError } from "../../src/client/client.ts";
import type { Catalogue } from "../catalogue/catalogue.ts";
import { isAbort } from "../failure-text.ts";
import { useShown } from "../ui/shown.ts";
import type { CheckedFile } from "./check-file.ts";
import { NO_CHOICES, readAsChosen } from "./choices.ts";
import type { Choices } from "./choices.ts";
import { guessFile } from "./guess.ts";
import { importFailureText } from "./import-failure.ts";
import type { ImportStep, PreviewStep } from "./import-step.ts";
import { openFile } from "./open-file.ts";
import { sendFile } from "./send-file.ts";
import type { OnConflict, SentSoFar } from "./send-file.ts";

/** The steps of an import, and what leads from one to the next. Each ends what was under way. */
type ImportRun = Readonly<{
  step: ImportStep;
  /** Why the last file cannot be read. */
  problem: string | undefined;
  check(chosen: File): Promise<void>;
  /** Reads the file of the preview again, as people want it. */
  choose(before: PreviewStep, choices: Choices): Promise<void>;
  send(checked: CheckedFile, from: SentSoFar): Promise<void>;
  cancel(): void;
  chooseAnother(): void;
}>;

type Ended = Extract<ImportStep, { kind: "ended" }>;

type RunOptions = Readonly<{ catalogue: Catalogue; onConflict: OnConflict; onEnd: (ended: Ended) => void }>;

const CANCELLED = "You cancelled it.";
const CLOSED = "Its dialog was closed.";

/** Whether the service says that it has stored nothing of what was under way. */
function isRefusal(thrown: unknown): boolean {
  return thrown instanceof ServiceError && thrown.status < 500;
}

export function useImportRun({ catalogue, onConflict, onEnd }: RunOptions): ImportRun {
  const [step, setStep] = useState<ImportStep>({ kind: "choosing" });
  const [problem, setProblem] = useState<string>();
  const stop = useRef(new AbortController());
  useEffect(() => () => stop.current.abort(), []);
  const isShown = useShown();

  function begin(): AbortSignal {
    stop.current.abort();
    stop.current = new AbortController();
    setProblem(undefined);
    return stop.current.signal;
  }

  return {
    step,
    problem,
    async check(chosen) {
      const signal = begin();
      setStep({ kind: "checking", name: chosen.name, rows: 0, share: 0 });
      try {
        const { file: opened, format, faults, notes } = await openFile(chosen);
        signal.throwIfAborted();
        const checked = await guessFile(opened, {
          signal,
          format,
          faults,
          onRows: (rows, bytes) => setStep({ kind: "checking", name: chosen.name, rows, share: bytes / opened.size }),
        });
        setStep({ kind: "preview", checked, notes, choices: NO_CHOICES, read: NO_CHOICES, isKnown: false });
      } catch (thrown) {
        // Another file may have taken its place, whatever is wrong with this one.
        if (signal.aborted) return;
        setProblem(`${chosen.name} cannot be read. ${importFailureText(thrown)}`);
        setStep({ kind: "choosing" });
      }
    },
    async choose(before, choices) {
      const signal = begin();
      setStep({ ...before, choices });
      try {
        const chosen = await readAsChosen(before.checked, choices, { client: catalogue.client, signal });
        setStep({ ...before, ...chosen, choices, read: choices });
      } catch (thrown) {
        if (signal.aborted) return;
        setProblem(importFailureText(thrown));
        // Also what was chosen just before, and not read to its end: nothing is shown that is not what is imported.
        setStep({ ...before, choices: before.read });
      }
    },
    async send(checked, from) {
      const signal = begin();
      const sending = { kind: "sending", checked, startedAt: performance.now(), startRows: from.counts.read, isStopping: false } as const;
      let progress = from;
      setStep({ ...sending, progress });
      let reason: string | undefined;
      try {
        await catalogue.deletions.flush();
        await sendFile(checked, from, {
          client: catalogue.client,
          onConflict,
          signal,
          onProgress(next) {
            progress = next;
            setStep({ ...sending, progress });
          },
        });
      } catch (thrown) {
        reason = isAbort(thrown) ? (isShown() ? CANCELLED : CLOSED) : importFailureText(thrown);
        if (isRefusal(thrown)) progress = { ...progress, underWay: 0 };
      }
      const ended: Ended = { kind: "ended", checked, progress, reason };
      onEnd(ended);
      setStep(ended);
      void catalogue.reload();
    },
    cancel() {
      stop.current.abort();
      setStep((now) => (now.kind === "sending" ? { ...now, isStopping: true } : now));
    },
    chooseAnother() {
      stop.current.abort();
      setStep({ kind: "choosing" });
    },
  };
}
