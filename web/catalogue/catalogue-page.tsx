import { useEffect, useState } from "preact/hooks";
import type { Plant, Session, Sort } from "../../src/client/client.ts";
import type { AppContext } from "../app-context.ts";
import { createImportCode } from "../import/import-code.ts";
import type { ImportCode } from "../import/import-code.ts";
import { ImportEntrance } from "../import/import-entrance.tsx";
import type { Opened } from "../opening.ts";
import { PROBLEM_MS, quote } from "../notices.ts";
import { AddDialog } from "../plants/add-dialog.tsx";
import { EditDialog } from "../plants/edit-dialog.tsx";
import { useValue } from "../state.ts";
import { FOCUS_HOME } from "../ui/focus.ts";
import { TokenDialog } from "../tokens/token-dialog.tsx";
import { isEverything } from "../view.ts";
import { AskTag } from "./ask-tag.tsx";
import type { TagQuestion } from "./ask-tag.tsx";
import type { Catalogue } from "./catalogue.ts";
import { useDrop } from "./file-drop.ts";
import { ROWS_AT_ONCE_MAX } from "./listing.ts";
import { exportToFile } from "./export-to-file.ts";
import { Header } from "./header.tsx";
import { Results } from "./results.tsx";
import type { RowAction } from "./plant-row.tsx";
import { TagBars } from "./tag-bars.tsx";
import { savePlants, setTag } from "./tick-actions.ts";
import { TickBar } from "./tick-bar.tsx";
import type { TickAction } from "./tick-bar.tsx";
import { Toolbar } from "./toolbar.tsx";
import { usePageEffects } from "./page-effects.ts";
import { Welcome } from "./welcome.tsx";
import { WithoutPlants } from "./without-plants.tsx";

/** How often to look whether a list has followed an import. */
const BEHIND_MS = 1000;

type CataloguePageProps = Readonly<{ context: AppContext; catalogue: Catalogue; who: Session }>;

/** What the token may see and do, and nothing that would fail. */
export function CataloguePage({ context, catalogue, who }: CataloguePageProps) {
  const { views, session, reaching, notices, opening } = context;
  const { listing, tagCounts, deletions, bulkChanges, ticks, client, access } = catalogue;
  const view = useValue(views.state);
  const listed = useValue(listing.state);
  const revealed = useValue(catalogue.revealed);
  const counts = useValue(tagCounts.found);
  const total = useValue(tagCounts.total);
  const opened = useValue(opening.state);
  const setOpened = opening.open;

  const ticked = useValue(ticks.state);
  const [asked, setAsked] = useState<TagQuestion>();
  function ask(about: TagQuestion): void {
    setAsked(about);
    setOpened({ kind: "tag" });
  }

  usePageEffects(context, catalogue, who);
  const [importCode] = useState(() => createImportCode(reaching.fetch));
  // A form that is open would be lost with what is typed in it.
  const isDropTaken = () => access.write && ["nothing", "import"].includes(opening.state.get().kind);
  useDrop({
    onNear: () => void (isDropTaken() && importCode.state.get().kind === "unasked" && importCode.load()),
    onFile(file, others) {
      if (!isDropTaken()) return;
      opening.open({ kind: "import", file });
      const text = `Only ${quote(file.name)} was taken: import the others after it.`;
      if (others > 0) notices.add({ kind: "problem", text, lastsMs: PROBLEM_MS });
    },
  });

  function act(action: RowAction, plant: Plant): void {
    if (action === "edit" || action === "open") setOpened({ kind: "edit", id: plant.id });
    else if (action === "delete") deletions.remove([plant]);
    else if (plant.tag !== undefined) views.show({ ...view, tag: plant.tag }, "push");
  }

  function actOnTicked(action: TickAction): void {
    const plants = ticks.seen();
    if (action === "all") void ticks.tickFound();
    else if (action === "spreadsheet" || action === "csv" || action === "ndjson") savePlants(notices, plants, action);
    else if (action === "tag") ask({ kind: "tag", plants });
    else if (action === "untag") void setTag(bulkChanges, notices, plants, undefined);
    else {
      if (action === "delete") deletions.remove(plants);
      // Its buttons go with the selection.
      else document.getElementById(FOCUS_HOME)?.focus({ preventScroll: true });
      ticks.clear();
    }
  }

  function sortBy(sort: Sort): void {
    views.show({ ...view, sort }, "push");
  }

  async function signOut(): Promise<void> {
    await deletions.flush();
    session.signOut();
  }

  const isNothing = listed.phase === "whole" && listed.plants.length === 0 && isEverything(listed.view) && isEverything(view);
  // Lists by name or time may be behind an import, and counts are not.
  const isBehind = isNothing && (total?.plants ?? 0) > 0;
  useEffect(() => {
    const timer = isBehind ? setTimeout(() => void catalogue.refresh(), BEHIND_MS) : undefined;
    return () => clearTimeout(timer);
  }, [isBehind, listed]);
  return (
    <>
      <Header
        access={access}
        who={who}
        onImport={() => setOpened({ kind: "import", file: undefined })}
        onExport={(kind) => void exportToFile({ client, notices, view }, kind)}
        onTokens={() => setOpened({ kind: "tokens" })}
        onSignOut={() => void signOut()}
      />
      {!access.read ? (
        <WithoutPlants
          access={access}
          onAdd={() => setOpened({ kind: "add" })}
          onImport={() => setOpened({ kind: "import", file: undefined })}
          onTokens={() => setOpened({ kind: "tokens" })}
        />
      ) : isNothing && !isBehind ? (
        <Welcome mayAdd={access.write} onAdd={() => setOpened({ kind: "add" })} onImport={(file) => setOpened({ kind: "import", file })} />
      ) : (
        <div class="catalogue-page">
          <TagBars
            counts={counts}
            chosen={view.tag}
            onRename={access.write ? (tag) => ask({ kind: "rename", tag }) : undefined}
            onChoose={(tag) => views.show({ ...view, tag: tag === view.tag ? undefined : tag }, "push")}
          />
          <main>
            <h1 class="unseen">Plants</h1>
            <Toolbar
              views={views}
              listed={listed}
              total={total}
              mayAdd={access.write}
              onAdd={() => setOpened({ kind: "add" })}
              onOpen={(id) => setOpened({ kind: "edit", id })}
              onRefresh={() => void (listed.plants.length > ROWS_AT_ONCE_MAX ? catalogue.reload() : catalogue.refresh())}
            />
            <Results
              listed={listed}
              position={views.position}
              revealed={revealed}
              ticks={ticks}
              mayChange={access.write}
              onMore={() => void listing.loadMore()}
              onSort={sortBy}
              onRetry={() => void catalogue.retry()}
              onShow={(next) => views.show(next, "push")}
              onAction={act}
            />
          </main>
        </div>
      )}
      <TickBar ticked={ticked} listed={listed} mayChange={access.write} onAction={actOnTicked} />
      {asked && opened.kind === "tag" ? <AskTag asked={asked} context={context} catalogue={catalogue} onClose={opening.close} /> : null}
      <Front context={context} catalogue={catalogue} importCode={importCode} opened={opened} />
    </>
  );
}

type FrontProps = Readonly<{ context: AppContext; catalogue: Catalogue; importCode: ImportCode; opened: Opened }>;

/** What is open, if the token allows it: a link may ask for more. */
function Front({ context: { notices, opening }, catalogue, importCode, opened }: FrontProps) {
  const { read, write, admin } = catalogue.access;
  const shared = { notices, catalogue, onClose: opening.close };
  if (opened.kind === "add" && write)
    return <AddDialog {...shared} onEdit={read ? (id) => opening.open({ kind: "edit", id }) : undefined} />;
  if (opened.kind === "edit" && read) return <EditDialog key={opened.id} {...shared} id={opened.id} />;
  if (opened.kind === "import" && write) return <ImportEntrance {...shared} importCode={importCode} file={opened.file} />;
  return opened.kind === "tokens" && admin ? <TokenDialog {...shared} /> : null;
}
