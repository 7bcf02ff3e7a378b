import { useEffect, useState } from "preact/hooks";
import type { Catalogue } from "../catalogue/catalogue.ts";
import { useKept } from "../kept.ts";
import { useHold } from "../leaving.ts";
import type { Notices } from "../notices.ts";
import { Dialog } from "../ui/dialog.tsx";
import { useShown } from "../ui/shown.ts";
import { usePreview } from "./preview-state.ts";
import { ChooseFile, PASTED } from "./choose-file.tsx";
import { describe, ImportPreview } from "./import-preview.tsx";
import { countsText, ImportResult, stoppedText } from "./import-result.tsx";
import { useImportRun } from "./import-run.ts";
import { atStakeIn } from "./import-step.ts";
import type { ImportStep } from "./import-step.ts";
import { LosingQuestion } from "./losing-question.tsx";
import { NOTHING_SENT } from "./send-file.ts";
import type { OnConflict } from "./send-file.ts";
import { SendProgress, sendingText } from "./send-progress.tsx";

type ImportDialogProps = Readonly<{ catalogue: Catalogue; notices: Notices; file: File | undefined; onClose: () => void }>;

/** What would lose what is at stake: another file that is opened, or the dialog closed. */
type Losing = Readonly<{ opens: File | undefined }>;

export function ImportDialog({ catalogue, notices, file, onClose }: ImportDialogProps) {
  const [onConflict, setOnConflict] = useState<OnConflict>("refuse");
  const isShown = useShown();
  const pasted = useKept(PASTED, () => "");
  const { step, problem, check, choose, send, cancel, chooseAnother } = useImportRun({
    catalogue,
    onConflict,
    onEnd({ checked, progress, reason }) {
      // What was refused may be nowhere else.
      if (reason === undefined && progress.counts.refused === 0) {
        pasted.set("");
        pasted.forget();
      }
      if (isShown()) return;
      // It went on behind the closed dialog until the service had said what became of the lines on their way.
      if (reason === undefined) notices.add({ kind: "done", text: countsText(progress.counts) });
      else notices.add({ kind: "problem", text: stoppedText(checked, progress, reason) });
    },
  });
  const preview = usePreview(step.kind === "preview" ? step.checked : undefined, { client: catalogue.client, onConflict });
  // What has a number that was free is new: who takes it meanwhile is not to be replaced.
  const isNew = step.kind === "preview" && step.choices.ids?.kind === "free" && !step.isKnown;
  useEffect(() => {
    if (isNew) setOnConflict("refuse");
  }, [isNew]);
  const isSending = step.kind === "sending";
  const atStake = atStakeIn(step);
  useHold(isSending || atStake === "columns" || pasted.value.trim() !== "");
  /** Until people have said whether they want it. */
  const [losing, setLosing] = useState<Losing>();
  useEffect(() => {
    if (!file || isSending) return;
    if (atStake === undefined) open(file);
    else setLosing({ opens: file });
  }, [file]);

  function open(chosen: File): void {
    setLosing(undefined);
    void check(chosen);
  }

  function close(): void {
    if (isSending) cancel();
    else if (losing) setLosing(undefined);
    else if (atStake === "columns") setLosing({ opens: undefined });
    else onClose();
  }

  return (
    <Dialog title="Import plants" notices={notices} onClose={close} isWide>
      {problem === undefined ? null : (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      {/* The same element in all steps: what comes together with its text is not read out. */}
      <p role="status">{headlineOf(step)}</p>
      {losing && atStake ? (
        <LosingQuestion
          atStake={atStake}
          opens={losing.opens?.name}
          onLose={() => (losing.opens ? open(losing.opens) : onClose())}
          onKeep={() => setLosing(undefined)}
        />
      ) : null}
      {step.kind === "choosing" ? <ChooseFile text={pasted.value} onText={pasted.set} onFile={open} /> : null}
      {step.kind === "checking" ? (
        <div>
          <progress value={step.share} aria-label="Read so far" />
          <p class="hint">{step.rows.toLocaleString()} rows</p>
        </div>
      ) : null}
      {step.kind === "preview" && !losing ? (
        <ImportPreview
          step={step}
          preview={preview}
          isNew={isNew}
          onChoose={(choices) => void choose(step, choices)}
          onConflict={onConflict}
          onChange={setOnConflict}
          onSend={() => void send(step.checked, NOTHING_SENT)}
          onBack={chooseAnother}
        />
      ) : null}
      {step.kind === "sending" ? <SendProgress step={step} onCancel={cancel} /> : null}
      {step.kind === "ended" && !losing ? (
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

/** What a step announces first, and screen readers read out. */
function headlineOf(step: ImportStep): string {
  if (step.kind === "checking") return `Reading ${step.name}. Nothing is sent yet.`;
  if (step.kind === "preview") return describe(step.checked);
  if (step.kind === "sending") return sendingText(step);
  return step.kind === "ended" ? countsText(step.progress.counts) : "";
}
