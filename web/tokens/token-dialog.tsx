import { useEffect, useState } from "preact/hooks";
import type { NewToken, Token } from "../../src/client/client.ts";
import type { Catalogue } from "../catalogue/catalogue.ts";
import { failureText } from "../failure-text.ts";
import type { Notices } from "../notices.ts";
import { Dialog } from "../ui/dialog.tsx";
import { NewTokenForm } from "./new-token-form.tsx";
import { NewSecret } from "./new-secret.tsx";
import { TokenTable } from "./token-table.tsx";

/** What is done with tokens: looking at them, making one, or showing the one that was just made. */
type Step = Readonly<{ kind: "list" }> | Readonly<{ kind: "new" }> | Readonly<{ kind: "made"; secret: string }>;

type TokenDialogProps = Readonly<{ catalogue: Catalogue; notices: Notices; onClose: () => void }>;

export function TokenDialog({ catalogue, notices, onClose }: TokenDialogProps) {
  const { client } = catalogue;
  const [step, setStep] = useState<Step>({ kind: "list" });
  const [list, setList] = useState<readonly Token[]>();
  const [problem, setProblem] = useState<string>();

  async function attempt(work: () => Promise<void>): Promise<void> {
    setProblem(undefined);
    try {
      await work();
    } catch (thrown) {
      setProblem(failureText(thrown));
    }
  }

  async function load(): Promise<void> {
    setList(await client.listTokens());
  }
  useEffect(() => void attempt(load), [client]);

  async function create(token: NewToken): Promise<void> {
    const { token: secret } = await client.createToken(token);
    setStep({ kind: "made", secret });
    await load();
  }

  async function revoke(id: string): Promise<void> {
    await client.revokeToken(id);
    await load();
  }

  return (
    <Dialog title="Tokens" notices={notices} onClose={onClose} isWide>
      {problem === undefined ? null : (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      {step.kind === "new" ? (
        <NewTokenForm onCreate={(token) => attempt(() => create(token))} onBack={() => setStep({ kind: "list" })} />
      ) : (
        <>
          {step.kind === "made" ? <NewSecret secret={step.secret} /> : <p>Anyone who has a token can do what its scopes allow.</p>}
          {list === undefined ? null : <TokenTable tokens={list} onRevoke={(id) => void attempt(() => revoke(id))} />}
          <footer>
            <button class="button" type="button" onClick={() => setStep({ kind: "new" })}>
              New token
            </button>
            <button class="button primary" type="button" onClick={onClose}>
              Done
            </button>
          </footer>
        </>
      )}
    </Dialog>
  );
}
