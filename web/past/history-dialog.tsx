import { useEffect, useState } from "preact/hooks";
import type { PastChange, Plant } from "../../src/client/client.ts";
import { isSame } from "../../src/domain/plant.ts";
import type { Catalogue } from "../catalogue/catalogue.ts";
import { quote } from "../notices.ts";
import { nameLabel, tagLabel } from "../plants/label.ts";
import { PlantText } from "../plants/plant-text.tsx";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Problem } from "../ui/form.tsx";
import { useOwnStyle } from "../ui/own-style.ts";
import { usePastPages } from "./past-pages.ts";
import { pastText, statusText } from "./past-text.ts";
import css from "./past.css" with { type: "text" };

type HistoryProps = Readonly<{ catalogue: Catalogue; id: bigint }>;

/** What a plant was, as far as the service keeps it, and what puts it back. */
export function HistoryDialog({ catalogue, id }: HistoryProps) {
  useOwnStyle(css);
  const { client, context, heard } = catalogue;
  const { notices, opening } = context;
  const { changes: past, problem, again, earlier } = usePastPages((query) => client.changesOf(id, query));
  // A button that someone points at stays where it is: what is new is shown when people ask for it.
  const [now, setNow] = useState<Readonly<{ plant: Plant | undefined }>>();
  useEffect(() => heard.watch(() => heard.get().has(id) && setNow({ plant: heard.get().get(id) })), []);
  const [newest] = past ?? [];
  const isBehind = past !== undefined && now !== undefined && newest?.forgotten !== true && !isSame(now.plant, newest?.to);
  const isGone = newest !== undefined && newest.forgotten !== true && newest.to === undefined;
  // Where its history does not come, no one knows better.
  const isOnItsWay = past === undefined && problem === undefined;
  // A message outside of the dialog is not read out.
  const [failed, setFailed] = useState<string>();

  async function putBack(state: Plant): Promise<void> {
    setFailed(undefined);
    const phrases = () => ({ doing: `Putting back ${quote(state.name)}`, done: `${quote(state.name)} is put back` });
    const changes = [{ from: newest?.to, to: state }];
    const isDone = await catalogue.bulkChanges.run({ changes, total: 1, doing: "Putting it back", phrases });
    if (!isDone) setFailed("It was not put back: look at what the plant is now.");
    again();
  }

  return (
    <Dialog title="History" notices={notices} onClose={() => opening.close()} isWide>
      <p class="hint number">Id {String(id)}</p>
      <Problem text={failed} />
      <Problem text={problem} />
      <p role="status">{statusText(past, problem, "The service keeps no change of this plant.")}</p>
      <ol class="past-list">
        {(past ?? []).map((change, place) => (
          <PastState
            key={place}
            change={change}
            now={newest?.to}
            onPutBack={catalogue.access.write && newest?.forgotten !== true ? putBack : undefined}
          />
        ))}
      </ol>
      <p class="unseen" role="status">
        {isBehind ? "This plant was changed just now." : ""}
      </p>
      <footer>
        {isBehind ? <Button label="Show the latest change" onClick={again} /> : null}
        {problem === undefined ? null : <Button label="Try again" onClick={again} />}
        {earlier ? <Button label="Earlier" onClick={earlier} /> : null}
        {isGone || isOnItsWay ? null : <Button label="Back to the plant" onClick={() => opening.open({ kind: "edit", id })} />}
        <Button label="Done" class="primary" onClick={() => opening.close()} />
      </footer>
    </Dialog>
  );
}

type PastStateProps = Readonly<{
  change: PastChange;
  now: Plant | undefined;
  onPutBack: ((state: Plant) => Promise<void>) | undefined;
}>;

/** One change: what the plant was before it, and after. */
function PastState({ change, now, onPutBack }: PastStateProps) {
  const { from, to, forgotten } = change;
  const text = pastText(change);
  return (
    <li>
      <h3>{text}</h3>
      {forgotten ? <p class="none">What it was then is erased.</p> : null}
      <div class="plants-sides">
        {from ? (
          <div class="past-side">
            <h4>Before</h4>
            <PlantText plant={from} other={to} />
            {onPutBack && !isSame(from, now) ? (
              <Button label="Put this back" aria-label={`Put this back: ${stateText(from)}`} onClick={() => void onPutBack(from)} />
            ) : null}
          </div>
        ) : null}
        {to ? (
          <div class="past-side">
            <h4>{from ? "After" : "Added"}</h4>
            <PlantText plant={to} other={from} />
          </div>
        ) : null}
      </div>
    </li>
  );
}

function stateText({ name, tag }: Plant): string {
  return `${nameLabel(name)}, ${tag === undefined ? "no tag" : tagLabel(tag)}`;
}
