import { useState } from "preact/hooks";
import type { Token } from "../../src/client/client.ts";
import { dayOf, minuteOf, serviceNow } from "../time.ts";
import { Button } from "../ui/button.tsx";

type TokenTableProps = Readonly<{ tokens: readonly Token[]; onRevoke: (token: Token) => void }>;

/** Its parts carry their roles, as the layout of a phone takes them from the elements. */
export function TokenTable({ tokens, onRevoke }: TokenTableProps) {
  // The one whose button was pressed once.
  const [asked, setAsked] = useState<string>();
  // After years most are revoked, and no one looks for those.
  const inOrder = [...tokens.filter(isValid), ...tokens.filter((token) => !isValid(token))];
  return (
    <div class="tokens">
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
          {inOrder.map((token) => (
            <tr role="row" key={token.id} class={isValid(token) ? "" : "tokens-old"}>
              <th role="rowheader" scope="row">
                {token.name}
              </th>
              <td role="cell">{token.scopes.join(", ")}</td>
              <td role="cell">{madeText(token, tokens)}</td>
              <td role="cell">{token.lastUsed === undefined ? "never" : minuteOf(token.lastUsed)}</td>
              <td role="cell">{stateText(token)}</td>
              <td role="cell" class="tokens-actions">
                {isValid(token) ? (
                  <Revocation token={token} isAsked={asked === token.id} onAsk={setAsked} onRevoke={() => onRevoke(token)} />
                ) : null}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

type RevocationProps = Readonly<{ token: Token; isAsked: boolean; onAsk: (id: string | undefined) => void; onRevoke: () => void }>;

/** A user who presses its first button twice has not read the question: a key takes it back, and a double click asks it. */
function Revocation({ token: { id, name }, isAsked, onAsk, onRevoke }: RevocationProps) {
  return (
    <>
      <Button
        label={isAsked ? "Cancel" : "Revoke"}
        aria-label={isAsked ? `Cancel: do not revoke ${name}` : `Revoke ${name}`}
        onClick={({ detail }) => detail < 2 && onAsk(isAsked ? undefined : id)}
      />
      {isAsked ? (
        // Read out as it comes: the focus stays on the button before it.
        <div role="alert">
          <Button
            label="Revoke for good?"
            class="danger"
            aria-label={`Revoke for good? ${name}`}
            onClick={({ detail }) => detail < 2 && onRevoke()}
          />
        </div>
      ) : null}
    </>
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
