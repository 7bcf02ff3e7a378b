import { useEffect, useRef, useState } from "preact/hooks";
import { ServiceError } from "../../src/client/page-client.ts";
import type { NewToken, Token } from "../../src/client/client.ts";
import type { Catalogue } from "../catalogue/catalogue.ts";
import { failureText } from "../failure-text.ts";
import { forgetTyped } from "../kept.ts";
import { useHold, useShown } from "../leaving.ts";
import { quote } from "../notices.ts";
import { useValue } from "../state.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Problem } from "../ui/form.tsx";
import { useOwnStyle } from "../ui/own-style.ts";
import { NEW_TOKEN, NewTokenForm } from "./new-token-form.tsx";
import { NewSecret } from "./new-secret.tsx";
import { TokenTable } from "./token-table.tsx";
import css from "./tokens.css" with { type: "text" };

export function TokenDialog({ catalogue }: Readonly<{ catalogue: Catalogue }>) {
  useOwnStyle(css);
  const { notices, opening } = catalogue.context;
  const { newSecret } = catalogue;
  const secret = useValue(newSecret);
  const [isMaking, setMaking] = useState(false);
  const { list, problem, revoked, load, create, revoke } = useTokens(catalogue);
  // A secret that is shown only once does not go by Escape or a reload.
  useHold(secret !== undefined);

  function goBack(): void {
    setMaking(false);
    // One that was not heard of may have been made.
    load();
  }

  function close(): void {
    newSecret.set(undefined);
    opening.close();
  }

  return (
    <Dialog title="Tokens" notices={notices} isWide {...(secret === undefined ? { onClose: () => opening.close() } : {})}>
      <Problem text={problem} />
      <p class="unseen" role="status">
        {revoked}
      </p>
      {isMaking ? (
        <NewTokenForm onCreate={(token) => create(token, () => setMaking(false))} onBack={goBack} />
      ) : (
        <>
          {secret === undefined ? <p>Anyone who has a token can do what its scopes allow.</p> : <NewSecret secret={secret} />}
          {list === undefined ? null : <TokenTable tokens={list} onRevoke={revoke} />}
          <footer>
            <Button label="New token" onClick={() => setMaking(true)} />
            <Button label="Done" class="primary" onClick={close} />
          </footer>
        </>
      )}
    </Dialog>
  );
}

function useTokens({ client, newSecret, context: { notices } }: Catalogue) {
  const [list, setList] = useState<readonly Token[]>();
  const [problem, setProblem] = useState<string>();
  const [revoked, setRevoked] = useState("");
  const isShown = useShown();
  const last = useRef({});

  async function read(): Promise<void> {
    const mine = {};
    last.current = mine;
    const tokens = await client.listTokens();
    // One that was asked for before may come later.
    if (last.current === mine) setList(tokens);
  }

  /** `token` and `done`: what no one would hear of if the dialog were closed. */
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
        if (token !== undefined) read().catch(() => undefined);
      } else if (token !== undefined) notices.add({ kind: "problem", text: told });
    }
  }

  const load = () => void attempt(read);
  useEffect(load, [client]);

  function create(token: NewToken, onMade: () => void): Promise<void> {
    async function make(): Promise<void> {
      const made = await client.createToken(token);
      forgetTyped(NEW_TOKEN);
      newSecret.set(made.token);
      onMade();
      load();
    }
    return attempt(make, `The token ${quote(token.name)}`, "created");
  }

  function revoke({ id, name }: Token): void {
    async function end(): Promise<void> {
      // The same words are read out again only where they were gone.
      setRevoked("");
      await client.revokeToken(id);
      setRevoked(`${quote(name)} is revoked.`);
      load();
    }
    void attempt(end, "The token", "revoked");
  }

  return { list, problem, revoked, load, create, revoke };
}

/** Whether the service refuses it whenever it is asked: no earlier try, whose response was lost, was accepted either. */
function isNeverDone(thrown: unknown): boolean {
  return thrown instanceof ServiceError && (thrown.status === 400 || thrown.status === 403);
}
