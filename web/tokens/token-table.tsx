import { useState } from "preact/hooks";
import type { Token } from "../../src/client/client.ts";
import { serviceNow } from "../service-time.ts";
import { dayOf, minuteOf } from "../time-text.ts";

type TokenTableProps = Readonly<{ tokens: readonly Token[]; onRevoke: (token: Token) => void }>;

/** Its parts carry their roles, as the layout of a phone takes them from the elements. */
export function TokenTable({ tokens, onRevoke }: TokenTableProps) {
  // The one whose button was pressed once.
  const [asked, setAsked] = useState<string>();
  // After years most are revoked, and nobody looks for those.
  const inOrder = [...tokens.filter(isValid), ...tokens.filter((token) => !isValid(token))];
  return (
    <div class="token-table">
      <table class="ruled" role="table">
        <thead role="rowgroup">
          <tr role="row">
            {["Name", "Scopes", "Created", "Last used", "State"].map((title) => (
              <th role="columnheader" scope="col" key={title}>
                {title}
              </th>
            ))}
            <th role="columnheader" scope="col">
              <span class="unseen">Change</span>
            </th>
          </tr>
        </thead>
        <tbody role="rowgroup">
          {inOrder.map((token) => {
            const canRevoke = isValid(token);
            return (
              <tr role="row" key={token.id} class={canRevoke ? "" : "token-table-old"}>
                <th role="rowheader" scope="row">
                  {token.name}
                </th>
                <td role="cell">{token.scopes.join(", ")}</td>
                <td role="cell">{madeText(token, tokens)}</td>
                <td role="cell">{token.lastUsed === undefined ? "never" : minuteOf(token.lastUsed)}</td>
                <td role="cell">{stateText(token)}</td>
                <td role="cell" class="token-table-actions">
                  {canRevoke ? (
                    <button
                      class="button"
                      type="button"
                      aria-label={asked === token.id ? `Cancel: do not revoke ${token.name}` : `Revoke ${token.name}`}
                      // A user who presses it twice has not read the question: a key takes it back, and a double click asks it.
                      onClick={({ detail }) => detail < 2 && setAsked(asked === token.id ? undefined : token.id)}
                    >
                      {asked === token.id ? "Cancel" : "Revoke"}
                    </button>
                  ) : null}
                  {canRevoke && asked === token.id ? (
                    // Read out as it comes: the focus stays on the button before it.
                    <div role="alert">
                      <button
                        class="button danger"
                        type="button"
                        aria-label={`Revoke for good? ${token.name}`}
                        onClick={({ detail }) => detail < 2 && onRevoke(token)}
                      >
                        Revoke for good?
                      </button>
                    </div>
                  ) : null}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

function isValid({ expires, revoked }: Token): boolean {
  return revoked === undefined && (expires === undefined || Date.parse(expires) > serviceNow());
}

function stateText(token: Token): string {
  const { expires, revoked } = token;
  if (revoked !== undefined) return `revoked ${dayOf(revoked)}`;
  if (expires === undefined) return "valid";
  return `${isValid(token) ? "valid until" : "expired"} ${dayOf(expires)}`;
}

/** When, and by which token, if by any: its name says more than its id. */
function madeText({ created, parent }: Token, tokens: readonly Token[]): string {
  const maker = tokens.find(({ id }) => id === parent)?.name ?? parent;
  return maker === undefined ? dayOf(created) : `${dayOf(created)} by ${maker}`;
}
