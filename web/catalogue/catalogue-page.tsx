import { useState } from "preact/hooks";
import type { Session } from "../../src/client/client.ts";
import type { AppContext } from "../app-context.ts";
import type { ImportCode } from "../import/import-code.ts";
import { useImportDrop } from "../import/import-drop.ts";
import { ImportEntrance } from "../import/import-entrance.tsx";
import type { Opened } from "../opening.ts";
import { AddDialog } from "../plants/add-dialog.tsx";
import { EditDialog } from "../plants/edit-dialog.tsx";
import { useValue } from "../state.ts";
import { focusHome } from "../ui/focus.ts";
import { TokenDialog } from "../tokens/token-dialog.tsx";
import { isEverything } from "../view.ts";
import { AskTag } from "./ask-tag.tsx";
import type { TagQuestion } from "./ask-tag.tsx";
import type { Catalogue } from "./catalogue.ts";
import { exportToFile } from "./export-to-file.ts";
import { Header } from "./header.tsx";
import { savePlants } from "./tick-actions.ts";
import { TickBar } from "./tick-bar.tsx";
import type { TickAction } from "./tick-bar.tsx";
import { usePageEffects } from "./page-effects.ts";
import { ShownPlants } from "./shown-plants.tsx";
import { Welcome } from "./welcome.tsx";
import { WithoutPlants } from "./without-plants.tsx";

/** How long a sign-out waits for deletions: the user may have left. */
const SIGN_OUT_MS = 5_000;

type CataloguePageProps = Readonly<{ context: AppContext; catalogue: Catalogue; who: Session }>;

/** What the token may see and do, and nothing that would fail. */
export function CataloguePage({ context, catalogue, who }: CataloguePageProps) {
  const { views, session, notices, opening } = context;
  const { listing, tagCounts, deletions, tagging, ticks, client, access } = catalogue;
  const view = useValue(views.state);
  const listed = useValue(listing.state);
  const total = useValue(tagCounts.total);
  const opened = useValue(opening.state);
  const ticked = useValue(ticks.state);
  const [asked, setAsked] = useState<TagQuestion>();
  function ask(about: TagQuestion): void {
    setAsked(about);
    opening.open({ kind: "tag" });
  }

  usePageEffects(context, catalogue, who);
  const importCode = useImportDrop(context, access);

  function actOnTicked(action: TickAction): void {
    const plants = ticks.seen();
    if (action === "all") void ticks.tickFound();
    else if (action === "spreadsheet" || action === "csv" || action === "ndjson") savePlants(notices, plants, action);
    else if (action === "tag") ask({ kind: "tag" });
    else if (action === "untag") void tagging.setTag(plants, undefined);
    else {
      if (action === "delete") deletions.remove(plants);
      // Its buttons go with the selection.
      else focusHome();
      ticks.clear();
    }
  }

  const onAdd = () => opening.open({ kind: "add" });
  const onImport = (file?: File) => opening.open({ kind: "import", file });
  const onTokens = () => opening.open({ kind: "tokens" });

  async function signOut(): Promise<void> {
    await Promise.race([deletions.flush(), new Promise((resolve) => setTimeout(resolve, SIGN_OUT_MS))]);
    session.signOut();
  }

  const isNothing = listed.phase === "whole" && listed.plants.length === 0 && isEverything(listed.view) && isEverything(view);
  // Those that wait to be deleted are still there.
  const isEmpty = isNothing && (total?.plants ?? 0) === 0;
  return (
    <>
      <Header
        access={access}
        who={who}
        onImport={() => onImport()}
        onExport={(kind) => void exportToFile({ client, notices, view }, kind)}
        onTokens={onTokens}
        onSignOut={() => void signOut()}
      />
      {!access.read ? (
        <WithoutPlants access={access} onAdd={onAdd} onImport={() => onImport()} onTokens={onTokens} />
      ) : isEmpty ? (
        <Welcome mayAdd={access.write} onAdd={onAdd} onImport={onImport} />
      ) : (
        <ShownPlants context={context} catalogue={catalogue} onRename={(tag) => ask({ kind: "rename", tag })} />
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
