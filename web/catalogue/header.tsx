import type { Session } from "../../src/client/client.ts";
import type { Access } from "../access.ts";
import { serviceNow } from "../service-time.ts";
import { untilText } from "../time-text.ts";
import { Brand } from "../ui/brand.tsx";
import { FOCUS_HOME } from "../ui/focus.ts";
import { Menu } from "../ui/menu.tsx";
import type { MenuItem } from "../ui/menu.tsx";
import type { ExportKind } from "./export-to-file.ts";

type HeaderProps = Readonly<{
  access: Access;
  who: Session;
  onImport: () => void;
  onExport: (kind: ExportKind) => void;
  onTokens: () => void;
  onSignOut: () => void;
}>;

/** The name, and what can be done with the whole catalogue, in groups. */
export function Header({ access, who, onImport, onExport, onTokens, onSignOut }: HeaderProps) {
  const files: readonly MenuItem[] = [
    { kind: "button", label: "Export for a spreadsheet", run: () => onExport("spreadsheet") },
    { kind: "button", label: "Export CSV", run: () => onExport("csv") },
    { kind: "button", label: "Export NDJSON", run: () => onExport("ndjson") },
  ];
  const until = who.expires === undefined ? undefined : untilText(who.expires, serviceNow());
  const settings: readonly MenuItem[] = [
    ...(until === undefined ? [] : [{ kind: "text", label: until, title: `The token ${who.name} is valid ${until}.` } as const]),
    ...(access.admin ? [{ kind: "button", label: "Tokens", run: onTokens } as const] : []),
    { kind: "link", label: "API reference", href: "docs" },
    { kind: "button", label: "Sign out", run: onSignOut },
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
        {access.write ? (
          <button class="button quiet" type="button" onClick={onImport}>
            Import
          </button>
        ) : null}
        {access.read ? <Menu label="Export" items={files} /> : null}
        <Menu label="Settings" items={settings} />
      </nav>
    </header>
  );
}
