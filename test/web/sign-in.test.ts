import { describe, expect, it } from "bun:test";
import { usePlace } from "../support/web/place.ts";

const place = usePlace();

describe("signing in", () => {
  it("keeps the token only for this tab, not in the URL or anywhere else", async () => {
    const { page, signIn, address, reads } = await place.visit();
    await signIn();
    await reads("Nothing grows here yet");
    const kept = await page.evaluate("({ session: Object.values(sessionStorage), local: localStorage.length, cookie: document.cookie })");
    expect(kept).toEqual({ session: [place.service.token], local: 0, cookie: "" });
    expect(address()).toBe("/");
    await page.reload();
    await reads("Nothing grows here yet");
  });

  it("shows the service's message for an invalid token, and accepts the next one", async () => {
    place.expectStatus(401);
    const { signIn, button, field, reads } = await place.visit();
    await field("Token").fill("plant_wrong");
    await button("Sign in").click();
    await reads("The bearer token is invalid: send one that exists and has not expired or been revoked.");
    await field("Token").fill("two words");
    await button("Sign in").click();
    await reads("That is not a token");
    await signIn();
    await reads("Nothing grows here yet");
  });

  it("is needed again, with the reason and the same view, after the token was revoked", async () => {
    place.expectStatus(401);
    await place.plant(["9007199254740993,Monstera deliciosa,tropical"]);
    const created = await place.service.request("/tokens", {
      method: "POST",
      body: JSON.stringify({ name: "short", scopes: ["plants:read", "plants:write"] }),
      headers: { "content-type": "application/json" },
    });
    const { id, token } = (await created.json()) as { id: string; token: string };
    const { page, signIn, field, reads, sees, address } = await place.visit("/?tag=tropical");
    await signIn(token);
    await sees(["Monstera deliciosa"]);
    await place.service.request(`/tokens/${id}`, { method: "DELETE" });
    // The service remembers a token for half a second.
    await page.waitForTimeout(700);
    await field("Search names").fill("mon");
    await reads("The service no longer accepts this token: it has expired or was revoked.");
    expect(await page.evaluate("sessionStorage.length")).toBe(0);
    await signIn();
    await sees(["Monstera deliciosa"]);
    expect(address()).toBe("/?q=mon&tag=tropical");
  });

  it("is undone by a sign-out, which forgets the token", async () => {
    const { page, signIn, button, field } = await place.visit();
    await signIn();
    await button("Sign out").click();
    await field("Token").waitFor();
    expect(await page.evaluate("sessionStorage.length")).toBe(0);
  });
});
