import { useEffect, useRef, useState } from "preact/hooks";
import type { Catalogue } from "../catalogue/catalogue.ts";
import { failureText, isAbort } from "../failure-text.ts";
import { useKept } from "../kept.ts";
import { useHold } from "../leaving.ts";
import type { Notices } from "../notices.ts";
import { Dialog } from "../ui/dialog.tsx";
import { useShown } from "../ui/shown.ts";
import { checkFile } from "./check-file.ts";
import type { CheckedFile } from "./check-file.ts";
import { ChooseFile, PASTED } from "./choose-file.tsx";
import { foretell } from "./forecast.ts";
import type { Forecast } from "./forecast.ts";
import { guessFile } from "./guess.ts";
import { ImportResult, stoppedText } from "./import-result.tsx";
import { ImportPreview } from "./import-preview.tsx";
import { atStakeIn } from "./import-step.ts";
import type { ImportStep, PreviewStep } from "./import-step.ts";
import { LosingQuestion } from "./losing-question.tsx";
import { numberRows } from "./numbering.ts";
import { openFile } from "./open-file.ts";
import { NOTHING_SENT, sendFile } from "./send-file.ts";
import type { SentSoFar } from "./send-file.ts";
import { SendProgress } from "./send-progress.tsx";

type ImportDialogProps = Readonly<{ catalogue: Catalogue; notices: Notices; file: File | undefined; onClose: () => void }>;

type OnConflict = "refuse" | "replace";

/** What would lose what is at stake: another file that is opened, or the dialog closed. */
type Losing = Readonly<{ opens: File | undefined }>;

const CANCELLED = "You cancelled it.";
const CLOSED = "Its dialog was closed.";

export function ImportDialog({ catalogue, notices, file, onClose }: ImportDialogProps) {
  const [step, setStep] = useState<ImportStep>({ kind: "choosing" });
  const [onConflict, setOnConflict] = useState<OnConflict>("refuse");
  const [problem, setProblem] = useState<string>();
  const [told, setTold] = useState<{ forecast?: Forecast; failure?: string }>({});
  const stop = useRef(new AbortController());
  useEffect(() => () => stop.current.abort(), []);
  const shown = step.kind === "preview" ? step.checked : undefined;
  useEffect(() => {
    setTold({});
    if (!shown || shown.failure !== undefined) return undefined;
    const asking = new AbortController();
    foretell(shown, { client: catalogue.client, onConflict, signal: asking.signal, onForecast: (forecast) => setTold({ forecast }) }).catch(
      (thrown: unknown) => {
        if (!isAbort(thrown)) setTold({ failure: failureText(thrown) });
      },
    );
    return () => asking.abort();
  }, [shown, onConflict]);
  const isSending = step.kind === "sending";
  const isShown = useShown();
  const pasted = useKept(PASTED, () => "");
  const atStake = atStakeIn(step);
  useHold(isSending || atStake === "columns" || pasted.value.trim() !== "");
  /** Until people have said whether they want it. */
  const [losing, setLosing] = useState<Losing>();
  useEffect(() => {
    if (!file || isSending) return;
    if (atStake === undefined) void check(file);
    else setLosing({ opens: file });
  }, [file]);

  function close(): void {
    if (isSending) cancel();
    else if (losing) setLosing(undefined);
    else if (atStake === "columns") setLosing({ opens: undefined });
    else onClose();
  }

  function cancel(): void {
    stop.current.abort();
  }

  async function check(chosen: File): Promise<void> {
    setLosing(undefined);
    stop.current.abort();
    const mine = new AbortController();
    stop.current = mine;
    setProblem(undefined);
    setStep({ kind: "checking", name: chosen.name, rows: 0, share: 0 });
    try {
      const { file: opened, notes } = await openFile(chosen);
      mine.signal.throwIfAborted();
      const checked = await guessFile(opened, {
        signal: mine.signal,
        onRows: (rows, bytes) => setStep({ kind: "checking", name: chosen.name, rows, share: bytes / opened.size }),
      });
      setStep({ kind: "preview", checked, notes, isReading: false, isChosen: false, isKnown: false });
    } catch (thrown) {
      if (isAbort(thrown)) return;
      setProblem(`${chosen.name} cannot be read. ${failureText(thrown)}`);
      setStep({ kind: "choosing" });
    }
  }

  /** Reads the file of the preview again, in another way. */
  async function readAgain(before: PreviewStep, act: (signal: AbortSignal) => Promise<Partial<PreviewStep>>): Promise<void> {
    const from = { ...before, isChosen: true };
    stop.current.abort();
    const mine = new AbortController();
    stop.current = mine;
    setProblem(undefined);
    setStep({ ...from, isReading: true });
    try {
      setStep({ ...from, isReading: false, ...(await act(mine.signal)) });
    } catch (thrown) {
      if (isAbort(thrown)) return;
      setProblem(failureText(thrown));
      setStep({ ...from, isReading: false });
    }
  }

  async function send(checked: CheckedFile, from: SentSoFar): Promise<void> {
    const mine = new AbortController();
    stop.current = mine;
    const sending = { kind: "sending", checked, startedAt: performance.now(), startRows: from.counts.read } as const;
    let progress = from;
    setStep({ ...sending, progress });
    function end(reason: string | undefined): void {
      // What was refused may be nowhere else.
      if (reason === undefined && progress.counts.refused === 0) {
        pasted.set("");
        pasted.forget();
      }
      if (reason !== undefined && !isShown()) notices.add({ kind: "problem", text: stoppedText(checked, progress, reason) });
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
      end(isAbort(thrown) ? (isShown() ? CANCELLED : CLOSED) : failureText(thrown));
    }
  }

  function chooseAnother(): void {
    cancel();
    setStep({ kind: "choosing" });
  }

  return (
    <Dialog title="Import plants" notices={notices} onClose={close} isWide>
      {problem === undefined ? null : (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      {losing && atStake ? (
        <LosingQuestion
          atStake={atStake}
          opens={losing.opens?.name}
          onLose={() => (losing.opens ? void check(losing.opens) : onClose())}
          onKeep={() => setLosing(undefined)}
        />
      ) : null}
      {step.kind === "choosing" ? <ChooseFile text={pasted.value} onText={pasted.set} onFile={(chosen) => void check(chosen)} /> : null}
      {step.kind === "checking" ? (
        <div>
          <p role="status">Reading {step.name}. Nothing is sent yet.</p>
          <progress value={step.share} aria-label="Read so far" />
          <p class="hint">{step.rows.toLocaleString()} rows</p>
        </div>
      ) : null}
      {step.kind === "preview" && !losing ? (
        <ImportPreview
          checked={step.checked}
          notes={step.notes}
          forecast={told.forecast}
          forecastFailure={told.failure}
          isReading={step.isReading}
          isKnown={step.isKnown}
          onReading={(csv) =>
            void readAgain(step, async (signal) => ({ checked: await checkFile(step.checked.file, { csv, signal }), isKnown: false }))
          }
          onNumber={() => void readAgain(step, (signal) => numberRows(step.checked, { client: catalogue.client, signal }))}
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
