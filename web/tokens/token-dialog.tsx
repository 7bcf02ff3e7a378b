import { useEffect, useRef, useState } from "preact/hooks";
import { ServiceError } from "../../src/client/client.ts";
import type { NewToken, Token } from "../../src/client/client.ts";
import type { Catalogue } from "../catalogue/catalogue.ts";
import { failureText } from "../failure-text.ts";
import { forgetTyped } from "../kept.ts";
import { useHold } from "../leaving.ts";
import { quote } from "../notices.ts";
import type { Notices } from "../notices.ts";
import { useValue } from "../state.ts";
import { Dialog } from "../ui/dialog.tsx";
import { useShown } from "../ui/shown.ts";
import { NEW_TOKEN, NewTokenForm } from "./new-token-form.tsx";
import { NewSecret } from "./new-secret.tsx";
import { TokenTable } from "./token-table.tsx";

type TokenDialogProps = Readonly<{ catalogue: Catalogue; notices: Notices; onClose: () => void }>;

/** Whether the service refuses it whenever it is asked: no earlier try, whose response was lost, was accepted either. */
function isNeverDone(thrown: unknown): boolean {
  return thrown instanceof ServiceError && (thrown.status === 400 || thrown.status === 403);
}

export function TokenDialog({ catalogue, notices, onClose }: TokenDialogProps) {
  const { client, newSecret } = catalogue;
  const secret = useValue(newSecret);
  const [isMaking, setMaking] = useState(false);
  const [list, setList] = useState<readonly Token[]>();
  const [problem, setProblem] = useState<string>();
  const [revoked, setRevoked] = useState("");
  const isShown = useShown();
  const last = useRef({});
  // A secret that is shown only once does not go by Escape or a reload.
  useHold(secret !== undefined);

  /** `token` and `done`: what nobody would hear of if the dialog were closed. */
  async function attempt(work: () => Promise<void>, token?: string, done = ""): Promise<void> {
    setProblem(undefined);
    try {
      await work();
    } catch (thrown) {
      const text = failureText(thrown);
      const became = isNeverDone(thrown) ? `was not ${done}` : `may have been ${done}: look at the list`;
      const told = token === undefined ? text : `${token} ${became}. ${text}`;
      if (isShown()) {
        setProblem(told);
        if (token !== undefined) load().catch(() => undefined);
      } else if (token !== undefined) notices.add({ kind: "problem", text: told });
    }
  }

  async function load(): Promise<void> {
    const mine = {};
    last.current = mine;
    const tokens = await client.listTokens();
    // One that was asked for before may come later.
    if (last.current === mine) setList(tokens);
  }
  useEffect(() => void attempt(load), [client]);

  async function create(token: NewToken): Promise<void> {
    const made = await client.createToken(token);
    forgetTyped(NEW_TOKEN);
    newSecret.set(made.token);
    setMaking(false);
    void attempt(load);
  }

  async function revoke({ id, name }: Token): Promise<void> {
    // The same words are read out again only where they were gone.
    setRevoked("");
    await client.revokeToken(id);
    setRevoked(`${quote(name)} is revoked.`);
    void attempt(load);
  }

  return (
    <Dialog title="Tokens" notices={notices} isWide {...(secret === undefined ? { onClose } : {})}>
      {problem === undefined ? null : (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      <p class="unseen" role="status">
        {revoked}
      </p>
      {isMaking ? (
        <NewTokenForm
          onCreate={(token) => attempt(() => create(token), `The token ${quote(token.name)}`, "created")}
          onBack={() => {
            setMaking(false);
            // One that was not heard of may have been made.
            void attempt(load);
          }}
        />
      ) : (
        <>
          {secret === undefined ? <p>Anyone who has a token can do what its scopes allow.</p> : <NewSecret secret={secret} />}
          {list === undefined ? null : (
            <TokenTable tokens={list} onRevoke={(token) => void attempt(() => revoke(token), "The token", "revoked")} />
          )}
          <footer>
            <button class="button" type="button" onClick={() => setMaking(true)}>
              New token
            </button>
            <button
              class="button primary"
              type="button"
              onClick={() => {
                newSecret.set(undefined);
                onClose();
              }}
            >
              Done
            </button>
          </footer>
        </>
      )}
    </Dialog>
  );
}
