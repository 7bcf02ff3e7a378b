import { Button } from "../ui/button.tsx";
import { useEffect, useState } from "preact/hooks";
import { createPageClient } from "../../src/client/page-client.ts";
import type { AppContext } from "../app-context.ts";
import { TableSkeleton } from "../catalogue/plant-table.tsx";
import { failureText } from "../failure-text.ts";
import { useShown } from "../leaving.ts";

/** Asks the service who has the token that this tab kept. Where it takes the token no more, the sign-in comes instead. */
export function Arrival({ context, token }: { context: AppContext; token: string }) {
  const { base, reaching, session } = context;
  const [problem, setProblem] = useState<string>();
  const isShown = useShown();

  async function ask(): Promise<void> {
    setProblem(undefined);
    try {
      const who = await createPageClient({ url: base, token, fetch: reaching.fetch, retries: 1 }).session();
      // Someone may have signed out in another tab.
      if (isShown()) session.signIn(token, who);
    } catch (thrown) {
      setProblem(failureText(thrown));
    }
  }
  useEffect(() => void ask(), [token]);
  useEffect(
    () =>
      reaching.state.watch(() => {
        if (reaching.state.get() === "reached" && problem !== undefined) void ask();
      }),
    [problem],
  );

  if (problem === undefined)
    return (
      <main aria-busy="true">
        <TableSkeleton />
      </main>
    );
  return (
    <main class="empty">
      <div role="alert">
        <p>{problem}</p>
        <Button label="Try again" onClick={() => void ask()} /> <Button label="Sign out" class="quiet" onClick={() => session.signOut()} />
      </div>
    </main>
  );
}
