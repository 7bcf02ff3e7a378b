import { join } from "node:path";
import { beforeAll, describe, expect, it } from "bun:test";
import * as client from "../../src/client/client.ts";
import { PROJECT } from "../support/process.ts";
import { installClient } from "../support/client/package.ts";
import { runNode } from "../support/client/node.ts";
import { fileTroubles } from "../support/client/trouble.files.ts";
import { requestTroubles } from "../support/client/trouble.requests.ts";
import { suffer } from "../support/client/trouble.ts";
import type { Sufferings } from "../support/client/trouble.ts";

const TROUBLES = { ...requestTroubles, ...fileTroubles };

for (const [runtime, sufferAll] of Object.entries({ Bun: sufferInBun, Node: sufferInNode })) {
  describe(`in ${runtime}, the client`, () => {
    let sufferings: Sufferings = {};
    beforeAll(async () => {
      sufferings = await sufferAll();
    });
    for (const [name, { outcome, requests = 1 }] of Object.entries(TROUBLES)) {
      it(`meets ${name}`, () => {
        expect(sufferings[name]).toEqual({ outcome, requests: requests === "any" ? expect.any(Number) : requests });
      });
    }
  });
}

async function sufferInBun(): Promise<Sufferings> {
  return { ...(await suffer(client, requestTroubles)), ...(await suffer(client, fileTroubles)) };
}

async function sufferInNode(): Promise<Sufferings> {
  const outdir = installClient();
  const entrypoints = ["trouble.ts", "trouble.requests.ts", "trouble.files.ts"].map((name) => join(PROJECT, "test/support/client", name));
  await Bun.build({ entrypoints, outdir, target: "node", naming: "[name].mjs" });
  return (await runNode({
    text: `
      import * as client from "plant-store-client";
      const [folder] = process.argv.slice(1);
      const { suffer } = await import(folder + "/trouble.mjs");
      const { requestTroubles } = await import(folder + "/trouble.requests.mjs");
      const { fileTroubles } = await import(folder + "/trouble.files.mjs");
      console.log(JSON.stringify({ ...(await suffer(client, requestTroubles)), ...(await suffer(client, fileTroubles)) }));
    `,
    words: [outdir],
    cwd: outdir,
  })) as Sufferings;
}
