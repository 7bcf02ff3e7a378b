import { useEffect, useRef, useState } from "preact/hooks";
import type { Catalogue } from "../catalogue/catalogue.ts";
import { failureText, isAbort } from "../failure-text.ts";
import type { Notices } from "../notices.ts";
import { Dialog } from "../ui/dialog.tsx";
import { checkFile } from "./check-file.ts";
import type { CheckedFile } from "./check-file.ts";
import { ChooseFile } from "./choose-file.tsx";
import { ImportResult } from "./import-result.tsx";
import { ImportPreview } from "./import-preview.tsx";
import { NOTHING_SENT, sendFile } from "./send-file.ts";
import type { Progress } from "./send-file.ts";
import { SendProgress } from "./send-progress.tsx";

type ImportDialogProps = Readonly<{ catalogue: Catalogue; notices: Notices; file: File | undefined; onClose: () => void }>;

type OnConflict = "refuse" | "replace";

/** "ended": all is sent, or it stopped: `reason` says why, undefined when it came to its end. */
type Step =
  | Readonly<{ kind: "choosing" }>
  | Readonly<{ kind: "checking"; name: string; rows: number; share: number }>
  | Readonly<{ kind: "preview"; checked: CheckedFile }>
  | Readonly<{ kind: "sending"; checked: CheckedFile; progress: Progress; startedAt: number; startRows: number }>
  | Readonly<{ kind: "ended"; checked: CheckedFile; progress: Progress; reason: string | undefined }>;

const CANCELLED = "You cancelled it.";

export function ImportDialog({ catalogue, notices, file, onClose }: ImportDialogProps) {
  const [step, setStep] = useState<Step>({ kind: "choosing" });
  const [onConflict, setOnConflict] = useState<OnConflict>("refuse");
  const [problem, setProblem] = useState<string>();
  const stop = useRef(new AbortController());
  useEffect(() => () => stop.current.abort(), []);
  const isSending = step.kind === "sending";
  useEffect(() => {
    if (file && !isSending) void check(file);
  }, [file]);

  function cancel(): void {
    stop.current.abort();
  }

  async function check(chosen: File): Promise<void> {
    stop.current.abort();
    const mine = new AbortController();
    stop.current = mine;
    setProblem(undefined);
    setStep({ kind: "checking", name: chosen.name, rows: 0, share: 0 });
    try {
      const checked = await checkFile(chosen, {
        signal: mine.signal,
        onRows: (rows, bytes) => setStep({ kind: "checking", name: chosen.name, rows, share: bytes / chosen.size }),
      });
      setStep({ kind: "preview", checked });
    } catch (thrown) {
      if (isAbort(thrown)) return;
      setProblem(`${chosen.name} cannot be read. ${failureText(thrown)}`);
      setStep({ kind: "choosing" });
    }
  }

  async function send(checked: CheckedFile, from: Progress): Promise<void> {
    const mine = new AbortController();
    stop.current = mine;
    const sending = { kind: "sending", checked, startedAt: performance.now(), startRows: from.counts.read } as const;
    let progress = from;
    setStep({ ...sending, progress });
    function end(reason: string | undefined): void {
      setStep({ kind: "ended", checked, progress, reason });
      void catalogue.reload();
    }
    try {
      await catalogue.deletions.flush();
      await sendFile(checked, from, {
        client: catalogue.client,
        onConflict,
        signal: mine.signal,
        onProgress(next) {
          progress = next;
          setStep({ ...sending, progress });
        },
      });
      end(undefined);
    } catch (thrown) {
      end(isAbort(thrown) ? CANCELLED : failureText(thrown));
    }
  }

  function chooseAnother(): void {
    cancel();
    setStep({ kind: "choosing" });
  }

  return (
    <Dialog title="Import plants" notices={notices} onClose={isSending ? cancel : onClose} isWide>
      {problem === undefined ? null : (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      {step.kind === "choosing" ? <ChooseFile onFile={(chosen) => void check(chosen)} /> : null}
      {step.kind === "checking" ? (
        <div>
          <p role="status">Reading {step.name}. Nothing is sent yet.</p>
          <progress value={step.share} aria-label="Read so far" />
          <p class="hint">{step.rows.toLocaleString("en")} rows</p>
        </div>
      ) : null}
      {step.kind === "preview" ? (
        <ImportPreview
          checked={step.checked}
          onConflict={onConflict}
          onChange={setOnConflict}
          onSend={() => void send(step.checked, NOTHING_SENT)}
          onBack={chooseAnother}
        />
      ) : null}
      {step.kind === "sending" ? (
        <SendProgress
          rows={step.checked.rows}
          progress={step.progress}
          startedAt={step.startedAt}
          startRows={step.startRows}
          onCancel={cancel}
        />
      ) : null}
      {step.kind === "ended" ? (
        <ImportResult
          checked={step.checked}
          progress={step.progress}
          reason={step.reason}
          onContinue={() => void send(step.checked, { ...step.progress, isWaiting: false })}
          onClose={onClose}
        />
      ) : null}
    </Dialog>
  );
}
