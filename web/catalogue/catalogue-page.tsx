import { useState } from "preact/hooks";
import type { Session } from "../../src/client/client.ts";
import type { ImportCode } from "../import/import-code.ts";
import { useImportDrop } from "../import/import-drop.ts";
import { ImportEntrance } from "../import/import-entrance.tsx";
import { AddDialog } from "../plants/add-dialog.tsx";
import { EditDialog } from "../plants/edit-dialog.tsx";
import { useValue } from "../state.ts";
import { Later } from "../ui/later.tsx";
import { isEverything } from "../view.ts";
import { AskTag } from "./ask-tag.tsx";
import type { TagQuestion } from "./ask-tag.tsx";
import type { Catalogue } from "./catalogue.ts";
import { Header } from "./header.tsx";
import { usePageEffects } from "./page-effects.ts";
import { ShownPlants } from "./shown-plants.tsx";
import { TickBar } from "./tick-bar.tsx";
import { Welcome, WithoutPlants } from "./welcome.tsx";

type CataloguePageProps = Readonly<{ catalogue: Catalogue; who: Session }>;

/** What the token may see and do, and nothing that would fail. */
export function CataloguePage({ catalogue, who }: CataloguePageProps) {
  const { access, listing, tagCounts, context } = catalogue;
  const view = useValue(context.views.state);
  const listed = useValue(listing.state);
  const total = useValue(tagCounts.total);
  const opened = useValue(context.opening.state);
  const [asked, setAsked] = useState<TagQuestion>();
  function ask(about: TagQuestion): void {
    setAsked(about);
    context.opening.open({ kind: "tag" });
  }
  usePageEffects(catalogue, who);
  const importCode = useImportDrop(catalogue);

  const isNothing = listed.phase === "whole" && listed.plants.length === 0 && isEverything(listed.view) && isEverything(view);
  // Those that wait to be deleted are still there.
  const isEmpty = isNothing && (total?.plants ?? 0) === 0;
  return (
    <>
      <div inert={opened.kind === "labels" && access.read}>
        <Header catalogue={catalogue} who={who} />
        {!access.read ? (
          <WithoutPlants catalogue={catalogue} />
        ) : isEmpty ? (
          <Welcome catalogue={catalogue} />
        ) : (
          <ShownPlants catalogue={catalogue} onRename={(tag) => ask({ kind: "rename", tag })} />
        )}
        <TickBar catalogue={catalogue} onTag={() => ask({ kind: "tag" })} />
      </div>
      <Front catalogue={catalogue} importCode={importCode} asked={asked} />
    </>
  );
}

/** What is loaded when it opens, and the right that it needs. */
const LATER = {
  labels: { title: "Labels", right: "read", load: async () => (await import("../labels/labels-page.tsx")).LabelsPage },
  "same-names": {
    title: "Same names",
    right: "read",
    load: async () => (await import("../same-names/same-names-dialog.tsx")).SameNamesDialog,
  },
  history: { title: "History", right: "read", load: async () => (await import("../past/history-dialog.tsx")).HistoryDialog },
  past: { title: "Past changes", right: "read", load: async () => (await import("../past/past-dialog.tsx")).PastDialog },
  tokens: { title: "Tokens", right: "admin", load: async () => (await import("../tokens/token-dialog.tsx")).TokenDialog },
} as const;

type FrontProps = Readonly<{ catalogue: Catalogue; importCode: ImportCode; asked: TagQuestion | undefined }>;

/** What is open, if the token allows it: a link may ask for more. */
function Front({ catalogue, importCode, asked }: FrontProps) {
  const { opening, notices } = catalogue.context;
  const opened = useValue(opening.state);
  const { read, write } = catalogue.access;
  // Not later: people type at once.
  if (opened.kind === "tag" && asked) return <AskTag catalogue={catalogue} asked={asked} />;
  if (opened.kind === "add" && write) return <AddDialog catalogue={catalogue} name={opened.name} />;
  if (opened.kind === "edit" && read) return <EditDialog key={opened.id} catalogue={catalogue} id={opened.id} />;
  if (opened.kind === "import" && write) return <ImportEntrance catalogue={catalogue} importCode={importCode} file={opened.file} />;
  if (opened.kind === "nothing" || !(opened.kind in LATER)) return null;
  const { right, ...later } = LATER[opened.kind as keyof typeof LATER];
  if (!catalogue.access[right]) return null;
  const props = {
    catalogue,
    isOfTicked: opened.kind === "labels" && opened.isOfTicked === true,
    id: opened.kind === "history" ? opened.id : 0n,
    takesBack: opened.kind === "past" ? opened.takesBack : undefined,
  };
  return <Later key={opened.kind} {...later} props={props} notices={notices} onClose={() => opening.close()} />;
}
