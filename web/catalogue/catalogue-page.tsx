import { useEffect, useState } from "preact/hooks";
import type { Plant, Session } from "../../src/client/client.ts";
import type { AppContext } from "../app-context.ts";
import { ImportDialog } from "../import/import-dialog.tsx";
import { AddDialog } from "../plants/add-dialog.tsx";
import { EditDialog } from "../plants/edit-dialog.tsx";
import { useValue } from "../state.ts";
import { TokenDialog } from "../tokens/token-dialog.tsx";
import { isEverything } from "../view.ts";
import type { Catalogue } from "./catalogue.ts";
import { useDrop } from "./file-drop.ts";
import { exportToFile } from "./export-to-file.ts";
import { Header } from "./header.tsx";
import { Results } from "./results.tsx";
import type { RowAction } from "./plant-row.tsx";
import { TagBars } from "./tag-bars.tsx";
import { Toolbar } from "./toolbar.tsx";
import { Welcome } from "./welcome.tsx";
import { WithoutPlants } from "./without-plants.tsx";

/** What is open in front of the catalogue. */
type Opened =
  | Readonly<{ kind: "nothing" }>
  | Readonly<{ kind: "add" }>
  | Readonly<{ kind: "edit"; id: bigint }>
  | Readonly<{ kind: "import"; file: File | undefined }>
  | Readonly<{ kind: "tokens" }>;

const NOTHING: Opened = { kind: "nothing" };

type CataloguePageProps = Readonly<{ context: AppContext; catalogue: Catalogue; who: Session }>;

/** What the token may see and do, and nothing that would fail. */
export function CataloguePage({ context, catalogue, who }: CataloguePageProps) {
  const { views, session, reaching, notices } = context;
  const { listing, tagCounts, deletions, client, access } = catalogue;
  const view = useValue(views.state);
  const listed = useValue(listing.state);
  const counts = useValue(tagCounts.state);
  const [opened, setOpened] = useState<Opened>(access.admin && !access.read && !access.write ? { kind: "tokens" } : NOTHING);

  useEffect(() => void (access.read && listing.show(view)), [listing, view]);
  useEffect(() => void (access.read && tagCounts.load()), [tagCounts]);
  useEffect(() => {
    document.title = [view.q, view.tag ?? "", "Plant Store"].filter((part) => part !== "").join(" – ");
  }, [view]);
  useEffect(
    () =>
      reaching.state.watch(() => {
        if (reaching.state.get() === "reached" && listing.state.get().phase === "failed") void catalogue.reload();
      }),
    [catalogue],
  );
  // A form that is open would be lost with what is typed in it.
  useDrop((file) => access.write && setOpened((now) => (now.kind === "nothing" || now.kind === "import" ? { kind: "import", file } : now)));

  function act(action: RowAction, plant: Plant): void {
    if (action === "edit") setOpened({ kind: "edit", id: plant.id });
    else if (action === "delete") deletions.remove(plant);
    else if (plant.tag !== undefined) views.show({ ...view, tag: plant.tag }, "push");
  }

  async function signOut(): Promise<void> {
    await deletions.flush();
    session.signOut();
  }

  const isEmpty = listed.phase === "whole" && listed.plants.length === 0 && isEverything(listed.view) && isEverything(view);
  return (
    <>
      <Header
        access={access}
        who={who}
        onImport={() => setOpened({ kind: "import", file: undefined })}
        onExport={(kind) => void exportToFile(client, notices, kind)}
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
      ) : isEmpty ? (
        <Welcome mayAdd={access.write} onAdd={() => setOpened({ kind: "add" })} onImport={(file) => setOpened({ kind: "import", file })} />
      ) : (
        <div class="catalogue-page">
          <TagBars
            counts={counts}
            chosen={view.tag}
            onChoose={(tag) => views.show({ ...view, tag: tag === view.tag ? undefined : tag }, "push")}
          />
          <main>
            <h1 class="unseen">Plants</h1>
            <Toolbar views={views} listed={listed} mayAdd={access.write} onAdd={() => setOpened({ kind: "add" })} />
            <Results
              listed={listed}
              mayChange={access.write}
              onMore={() => void listing.loadMore()}
              onRetry={() => void (listed.plants.length === 0 ? catalogue.reload() : listing.loadMore())}
              onShow={(next) => views.show(next, "push")}
              onAction={act}
            />
          </main>
        </div>
      )}
      <Front context={context} catalogue={catalogue} opened={opened} onOpen={setOpened} />
    </>
  );
}

type FrontProps = Readonly<{ context: AppContext; catalogue: Catalogue; opened: Opened; onOpen: (opened: Opened) => void }>;

function Front({ context, catalogue, opened, onOpen }: FrontProps) {
  const shared = { notices: context.notices, catalogue, onClose: () => onOpen(NOTHING) };
  if (opened.kind === "add")
    return <AddDialog {...shared} onEdit={catalogue.access.read ? (id) => onOpen({ kind: "edit", id }) : undefined} />;
  if (opened.kind === "edit") return <EditDialog key={opened.id} {...shared} id={opened.id} />;
  if (opened.kind === "import") return <ImportDialog {...shared} file={opened.file} />;
  return opened.kind === "tokens" ? <TokenDialog {...shared} /> : null;
}
