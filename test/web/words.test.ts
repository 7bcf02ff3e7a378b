// What people type and paste, and what the page makes of words of plants, by pure functions.
import { afterAll, beforeAll, describe, expect, it } from "bun:test";
import { ConnectionError, createClient } from "../../src/client/client.ts";
import type { Client } from "../../src/client/client.ts";
import { nameLabel, tagLabel } from "../../web/plants/label.ts";
import { nameProblem, parseId, toDraft, toPlant, typedTag } from "../../web/plants/draft.ts";
import { savePlant } from "../../web/plants/save-plant.ts";
import { parseToken } from "../../web/sign-in/token-text.ts";
import { untilText } from "../../web/time.ts";
import { rejectionOf } from "../support/rejection.ts";
import { startTestService } from "../support/service.ts";
import type { TestService } from "../support/service.ts";
import { modules, plantOf } from "../support/web/page-state.ts";

describe("a token in what is pasted", () => {
  const token = "plant_0aB1";
  for (const pasted of [
    token,
    `Bearer ${token}`,
    `Authorization: Bearer ${token}\n`,
    `"${token}",`,
    ` “${token}” `,
    `„${token}“.`,
    `«\u00a0${token}\u00a0»`,
    `(**${token}**)`,
    `\u200b${token}\u2060`,
  ])
    it(`is found in ${JSON.stringify(pasted)}`, () => expect(parseToken(pasted)).toBe(token));

  it("is found in nothing else, which is known at once of a large paste", () => {
    for (const none of ["", "two words", "x".repeat(20_000), `${",".repeat(200_000)}x`]) expect(parseToken(none)).toBeUndefined();
  });
});

describe("an id that is typed", () => {
  for (const [typed, id] of [
    ["9223372036854775807", 9223372036854775807n],
    ["-9223372036854775808", -9223372036854775808n],
    ["－１２３４５６７８９０", -1234567890n],
    ["\u200e7\u200e", 7n],
    ["", undefined],
    ["1.5", undefined],
    ["1e3", undefined],
    ["9223372036854775808", undefined],
    ["one", undefined],
  ] as const)
    it(`${JSON.stringify(typed)} is ${id ?? "none"}`, () => expect(parseId(typed)).toBe(id));
});

describe("a plant that is typed", () => {
  it("keeps exactly what no one touched, even where an input cannot show it", () => {
    for (const odd of [
      plantOf(1, " Acer\n", " tree\t"),
      plantOf(1, "\u200b", "\u200b"),
      plantOf(1, "a", ""),
      plantOf(1, "Two\nlines \0", ""),
    ]) {
      const draft = toDraft(odd);
      expect(toPlant(1n, draft, odd)).toEqual(odd);
      expect(toPlant(1n, { ...draft, name: "b " }, odd)).toEqual({ ...odd, name: "b" });
      expect(toPlant(1n, { ...draft, tag: "b " }, odd)).toEqual({ ...odd, tag: "b" });
    }
  });

  it("loses what no one sees at the ends of its name and tag, and keeps it within", () => {
    const draft = { id: "1", name: " \u200bBambus\u200bgras \u200b", tag: "tree\u200b" };
    expect(toPlant(1n, draft)).toEqual(plantOf(1, "Bambus\u200bgras", "tree"));
    expect([typedTag(" herb "), typedTag(" \u2060")]).toEqual(["herb", undefined]);
  });

  for (const { name, before, isRefused } of [
    { name: "", before: undefined, isRefused: true },
    { name: "", before: "Acer", isRefused: true },
    { name: " \t", before: "Acer", isRefused: true },
    { name: "\u200b", before: undefined, isRefused: true },
    { name: "\u3164\u2800", before: "Acer", isRefused: true },
    { name: "\u200b", before: "", isRefused: true },
    { name: "", before: "", isRefused: false },
    { name: "\u200b", before: "\u200b", isRefused: false },
    { name: "A", before: "", isRefused: false },
  ])
    it(`is ${isRefused ? "refused" : "taken"} with the name ${JSON.stringify(name)} after ${JSON.stringify(before)}`, () => {
      const problem = nameProblem(plantOf(1, name), before === undefined ? undefined : plantOf(1, before));
      expect(problem).toBe(isRefused ? "The plant needs a name: type one." : undefined);
    });
});

describe("a name of which nothing can be seen", () => {
  for (const name of ["", "\u200b", "\u2066\u2067\u2068", "\u00ad", "\u3164", "\u2800", "\u0007", " \u00a0"])
    it(`is called so: ${JSON.stringify(name)}`, () => expect([nameLabel(name), tagLabel(name)]).toEqual(["(no name)", "(empty tag)"]));

  it("is none that has a letter", () => expect([nameLabel("A\u200b"), tagLabel(null)]).toEqual(["A\u200b", "Without a tag"]));
});

describe("a name in a message", () => {
  for (const { what, name, quoted } of [
    {
      what: "that closes its quotes does not speak for the page",
      name: "Acer” is deleted. “Ginkgo",
      quoted: "“Acer’ is deleted. ‘Ginkgo”",
    },
    { what: "that turns letters around does not turn those of the message", name: "\u202eevil\u2069\u2069", quoted: "“evil”" },
    { what: "that is read from the right takes no words along", name: "زهرة\u202d abc", quoted: "“\u2068زهرة abc\u2069”" },
    { what: "of many letters is cut", name: "Longleaf ".repeat(1000), quoted: `“${"Longleaf ".repeat(6)}Longle…”` },
  ])
    it(what, () => expect(modules.quote(name)).toBe(quoted));
});

it("the end of a token is its day, and in its last 24 hours its minute", () => {
  const now = Date.parse("2026-03-01T12:00:00Z");
  expect(untilText("2026-03-31T12:00:00Z", now)).not.toMatch(/:/);
  expect(untilText("2026-03-02T11:59:00Z", now)).toMatch(/\d:59/);
});

describe("messages", () => {
  it("are not pushed out by others if they ask for something, however many there are", () => {
    const notices = new modules.Notices();
    const action = { label: "Undo", run: () => undefined };
    for (const text of ["one", "two", "three"]) notices.add({ kind: "done", text, action });
    for (const text of ["four", "five"]) notices.add({ kind: "done", text });
    expect(notices.state.get().map(({ text }) => text)).toEqual(["one", "two", "three", "five"]);
    notices.withdrawActions();
    expect(notices.state.get().filter(({ action: left }) => left !== undefined)).toEqual([]);
  });
});

it("a browser that refuses many steps of its history gets the last one later", async () => {
  let isFull = true;
  const urls: string[] = [];
  function replaceState(_: unknown, __: string, url: string): void {
    if (isFull) throw new DOMException("Attempt to use history too often", "SecurityError");
    urls.push(url);
  }
  Object.assign(globalThis, { history: { replaceState } });
  for (const url of ["/?q=a", "/?q=ac"]) modules.takeStep("replace", null, url);
  isFull = false;
  await Bun.sleep(1_200);
  expect(urls).toEqual(["/?q=ac"]);
});

describe("a plant that is saved", () => {
  let service: TestService;
  let client: Client;
  beforeAll(async () => {
    service = await startTestService();
    client = createClient({ url: service.url, token: service.token });
  });
  afterAll(() => service.stop());

  const lost = () => Promise.reject(new ConnectionError({ message: "Lost.", isRepeatable: true }));
  /** How a client fails: the answer is lost, the change never comes to the service, or a proxy makes tags weak. */
  const FAULTS: Readonly<Record<string, (sound: Client) => Partial<Client>>> = {
    answer: ({ put }) => ({ put: (...given) => put(...given).then(lost) }),
    change: () => ({ put: lost }),
    tag: ({ find }) => ({ find: (...given) => find(...given).then((found) => found && { ...found, etag: `W/${found.etag}` }) }),
    none: () => ({}),
  };
  const MINE = { kind: "saved", plant: { name: "Mine" } };
  const THEIRS = { kind: "conflict", theirs: { plant: { name: "Theirs" } } };
  const UNREACHED = "The service cannot be reached: check the connection, then try again.";
  const ALTERED = "Something on the way to the service alters what is sent: tell its operator.";
  for (const [id, what, fault, isNew, isTheirs, result] of [
    [1, "is saved if it is as wanted, though the answer was lost", "answer", false, false, MINE],
    [2, "takes no place that someone else has taken, if it is a new one", "none", true, true, THEIRS],
    [3, "is not saved if it is as it was", "change", false, false, UNREACHED],
    [4, "is theirs if it is neither", "change", false, true, THEIRS],
    [5, "is not saved behind a proxy that makes tags weak, and conflicts with none", "tag", false, false, ALTERED],
  ] as const)
    it(what, async () => {
      const faulty = { ...client, ...FAULTS[fault]!(client) };
      await client.create(plantOf(id, isNew ? "Theirs" : "Acer"));
      const seen = isNew ? undefined : await faulty.find(BigInt(id));
      if (isTheirs) await client.put(plantOf(id, "Theirs"), {});
      const saving = savePlant(faulty, plantOf(id, "Mine"), seen);
      if (typeof result === "string") expect(modules.failureText(await rejectionOf(saving))).toBe(result);
      else expect(await saving).toMatchObject(result);
    });
});
