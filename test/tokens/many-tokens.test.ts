import { expect, it } from "bun:test";
import { usePlace } from "../support/web/place.ts";

const place = usePlace();

it("of 1,800 tokens on the page, those that are valid come first, and the others in their order", async () => {
  const { tokens } = place.service.store;
  const old = Array.from({ length: 1800 }, (_, at) => `old ${at}`);
  const create = (name: string, at: number) =>
    tokens.create(
      { id: name, name, scopes: [], created: 1000 + at, ...(at % 2 === 0 ? { revoked: 2000 } : { expires: 2000 }) },
      `hash of ${name}`,
    );
  // More than that may not wait at once.
  for (let at = 0; at < old.length; at += 600) await Promise.all(old.slice(at, at + 600).map((name, behind) => create(name, at + behind)));
  await place.service.request("/tokens", { method: "POST", body: '{"name":"Anna","scopes":["plants:read"],"days":30}' });
  const { signIn, choose, dialog } = await place.visit();
  await signIn();
  await choose("Tokens");
  const names = dialog.getByRole("rowheader");
  await names.getByText("Anna", { exact: true }).waitFor();
  expect(await names.allInnerTexts()).toEqual(["first", "Anna", ...old]);
});
