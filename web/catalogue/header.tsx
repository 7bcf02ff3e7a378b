import type { Session } from "../../src/client/client.ts";
import { quote } from "../notices.ts";
import { State, useValue } from "../state.ts";
import { serviceNow, untilText } from "../time.ts";
import { Button } from "../ui/button.tsx";
import { FOCUS_HOME } from "../ui/focus.ts";
import { Brand } from "../ui/icon.tsx";
import { Menu } from "../ui/menu.tsx";
import type { MenuItem } from "../ui/menu.tsx";
import type { Catalogue } from "./catalogue.ts";
import { exportToFile } from "./export-to-file.ts";
import type { ExportKind } from "./export-to-file.ts";

/** How long a sign-out waits for deletions: the user may have left. */
const SIGN_OUT_MS = 5_000;

function toCompactRows(isCompact: State<boolean>): MenuItem {
  return { kind: "button", label: "Compact rows", isOn: isCompact.get(), run: () => isCompact.set(!isCompact.get()) };
}

/** The name, and what can be done with the whole catalogue, in groups. */
export function Header({ catalogue, who }: Readonly<{ catalogue: Catalogue; who: Session }>) {
  const { access, deletions, context } = catalogue;
  const { opening, session } = context;
  const view = useValue(context.views.state);
  useValue(context.compactRows);
  async function signOut(): Promise<void> {
    await Promise.race([deletions.flush(), new Promise((resolve) => setTimeout(resolve, SIGN_OUT_MS))]);
    session.signOut();
  }
  function toExport(kind: ExportKind, label: string): MenuItem {
    return { kind: "button", label, run: () => void exportToFile(catalogue, view, kind) };
  }
  const files = [
    toExport("spreadsheet", "Export for a spreadsheet"),
    toExport("csv", "Export CSV"),
    toExport("ndjson", "Export NDJSON"),
    { kind: "button", label: "Print labels", run: () => opening.open({ kind: "labels" }) } as const,
  ];
  const until = who.expires === undefined ? "" : `, ${untilText(who.expires, serviceNow())}`;
  const token = `Token ${quote(who.name)}${until}`;
  const account: readonly MenuItem[] = [
    { kind: "text", label: token, title: token },
    ...(access.read
      ? [toCompactRows(context.compactRows), { kind: "button", label: "Past changes", run: () => opening.open({ kind: "past" }) } as const]
      : []),
    ...(access.admin ? [{ kind: "button", label: "Tokens", run: () => opening.open({ kind: "tokens" }) } as const] : []),
    { kind: "link", label: "API reference", href: "docs" },
    { kind: "button", label: "Sign out", run: () => void signOut() },
  ];
  return (
    <header class="header">
      <a
        class="header-skip"
        href={`#${FOCUS_HOME}`}
        onClick={(event) => {
          // Without a step in the address bar, which is for views.
          event.preventDefault();
          document.getElementById(FOCUS_HOME)?.focus();
        }}
      >
        {access.read ? "Skip to the plants" : "Skip the menu"}
      </a>
      <Brand />
      <nav aria-label="Catalogue">
        {access.write ? <Button label="Import" class="quiet" onClick={() => opening.open({ kind: "import" })} /> : null}
        {access.read ? <Menu label="Export" items={files} /> : null}
        <Menu label="Account" items={account} />
      </nav>
    </header>
  );
}
