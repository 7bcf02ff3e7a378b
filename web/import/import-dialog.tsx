import { useEffect, useState } from "preact/hooks";
import type { Catalogue } from "../catalogue/catalogue.ts";
import { useKept } from "../kept.ts";
import { useHold, useShown } from "../leaving.ts";
import { Notices, quote } from "../notices.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { takeFocus } from "../ui/focus.ts";
import { Problem } from "../ui/form.tsx";
import { ChooseFile, PASTED } from "./choose-file.tsx";
import { describe, ImportPreview } from "./import-preview.tsx";
import { countsText, ImportResult, sendingText, SendProgress, stoppedText } from "./import-result.tsx";
import { useImportRun, usePreview } from "./import-run.ts";
import type { Ended } from "./import-run.ts";
import { atStakeIn } from "./import-step.ts";
import type { AtStake, ImportStep } from "./import-step.ts";
import { nothingSent } from "./send-file.ts";
import type { OnConflict } from "./send-slice.ts";

type ImportDialogProps = Readonly<{ catalogue: Catalogue; file: File | undefined }>;

export function ImportDialog({ catalogue, file }: ImportDialogProps) {
  const { notices, opening } = catalogue.context;
  const onClose = () => opening.close();
  const [onConflict, setOnConflict] = useState<OnConflict>("refuse");
  const isShown = useShown();
  const pasted = useKept(PASTED, () => "");
  function onEnd(ended: Ended): void {
    // What was refused may be nowhere else.
    if (ended.reason === undefined && ended.progress.counts.refused === 0) pasted.reset("");
    if (!isShown()) tell(ended, notices);
  }
  const run = useImportRun({ catalogue, onConflict, onEnd });
  const { step, problem, send, cancel } = run;
  const isSending = step.kind === "sending";
  const { question, open, close } = useLosing({
    step,
    file,
    onOpen(chosen) {
      // It was said of another file, and cannot be undone.
      setOnConflict("refuse");
      run.check(chosen);
    },
    onClose: isSending ? cancel : onClose,
  });
  useHold(isSending || atStakeIn(step) === "reading" || pasted.value.trim() !== "");
  const preview = usePreview(step.kind === "preview" ? step.checked : undefined, { client: catalogue.client, onConflict });
  // What has a number that was free is new: who takes it meanwhile is not to be replaced.
  const isNew = step.kind === "preview" && step.choices.ids?.kind === "free" && !step.isKnown;
  useEffect(() => {
    if (isNew) setOnConflict("refuse");
  }, [isNew]);
  return (
    <Dialog title="Import plants" notices={notices} onClose={close} isWide>
      <Problem text={problem} />
      {/* The same element in all steps: what comes together with its text is not read out. */}
      <p role="status">{headlineOf(step)}</p>
      {question}
      {step.kind === "choosing" ? <ChooseFile text={pasted.value} onText={pasted.set} onFile={open} /> : null}
      {step.kind === "checking" ? (
        <div>
          <progress value={step.share} aria-label="Read so far" />
          <p class="hint">{step.rows.toLocaleString()} rows</p>
        </div>
      ) : null}
      {step.kind === "preview" && !question ? (
        <ImportPreview
          step={step}
          preview={preview}
          isNew={isNew}
          onChoose={(choices) => run.choose(step, choices)}
          onConflict={onConflict}
          onChange={setOnConflict}
          onSend={() => send(step.checked, nothingSent())}
          onBack={run.chooseAnother}
        />
      ) : null}
      {isSending ? <SendProgress step={step} onCancel={cancel} /> : null}
      {step.kind === "ended" && !question ? (
        <ImportResult
          {...step}
          onContinue={() => send(step.checked, { ...step.progress, isWaiting: false })}
          onTakeBack={(takesBack) => opening.open({ kind: "past", takesBack })}
          onClose={onClose}
        />
      ) : null}
    </Dialog>
  );
}

/** Of an import that went on behind the closed dialog until the service had said what became of the lines on their way. */
function tell({ checked, progress, reason }: Ended, notices: Notices): void {
  if (reason === undefined) notices.add({ kind: "done", text: countsText(progress.counts) });
  else notices.add({ kind: "problem", text: stoppedText(checked, progress, reason) });
}

/** What a step announces first, and screen readers read out. */
function headlineOf(step: ImportStep): string {
  if (step.kind === "checking") return `Reading ${step.name}. Nothing is sent yet.`;
  if (step.kind === "preview") return describe(step.checked);
  if (step.kind === "sending") return sendingText(step);
  return step.kind === "ended" ? countsText(step.progress.counts) : "";
}

type LosingOptions = Readonly<{ step: ImportStep; file: File | undefined; onOpen: (file: File) => void; onClose: () => void }>;

/** What would lose what is at stake: another file that is opened, or the dialog closed. */
type Losing = Readonly<{ opens: File | undefined }>;

/** Asks before something is lost. */
function useLosing({ step, file, onOpen, onClose }: LosingOptions) {
  /** Until people have said whether they want it. */
  const [losing, setLosing] = useState<Losing>();
  const atStake = atStakeIn(step);
  const isSending = step.kind === "sending";
  function open(chosen: File): void {
    setLosing(undefined);
    onOpen(chosen);
  }
  useEffect(() => {
    if (!file || isSending) return;
    if (atStake === undefined) open(file);
    else setLosing({ opens: file });
  }, [file]);
  return {
    open,
    close(): void {
      if (isSending) onClose();
      else if (losing) setLosing(undefined);
      else if (atStake === "reading") setLosing({ opens: undefined });
      else onClose();
    },
    question:
      losing && atStake ? (
        <LosingQuestion
          atStake={atStake}
          opens={losing.opens?.name}
          onLose={() => (losing.opens ? open(losing.opens) : onClose())}
          onKeep={() => setLosing(undefined)}
        />
      ) : undefined,
  };
}

type LosingQuestionProps = Readonly<{
  atStake: AtStake;
  /** The file that takes the place of the import; without one, its dialog is closed. */
  opens: string | undefined;
  onLose: () => void;
  onKeep: () => void;
}>;

const LOST = {
  reading: "forgets how you chose to read it.",
  refused: "forgets which lines were refused.",
  rest: "forgets this import, which stopped before its end.",
} as const satisfies Record<AtStake, string>;

function LosingQuestion({ atStake, opens, onLose, onKeep }: LosingQuestionProps) {
  const isClosing = opens === undefined;
  const back = `Back to the ${atStake === "reading" ? "preview" : "result"}`;
  return (
    <div>
      <Problem text={`${isClosing ? "Closing" : `Opening ${quote(opens)}`} ${LOST[atStake]}`} />
      <footer>
        <Button label={isClosing ? "Close it" : "Open the file"} onClick={onLose} />
        <Button label={back} class="primary" onClick={onKeep} ref={takeFocus} />
      </footer>
    </div>
  );
}
