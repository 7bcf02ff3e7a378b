import { afterAll, describe, expect, it } from "bun:test";
import { ENGINES } from "../support/engines.ts";
import { judge } from "../support/growth/growth.ts";
import { openRequests } from "../support/growth/requests.ts";
import { WORKS } from "../support/growth/works.ts";
import { tell } from "../support/run-form.ts";

const asked = await Promise.all(ENGINES.map(async (engine) => ({ where: ` on ${engine.engine}`, ...(await openRequests(engine)) })));
afterAll(() => Promise.all(asked.map(({ stop }) => stop())));

for (const { where, inputs } of [{ where: "", inputs: WORKS }, ...asked])
  describe(`doubling any text takes at most three times the work${where}, and at its largest it keeps the loop for 50 ms at most, for`, () => {
    for (const input of inputs)
      it(`${input.what} of ${input.bytes} bytes`, async () => {
        const { growths, longestMs, faults } = await judge(input);
        tell(`growth${where}: ${input.what} of ${input.bytes} bytes`, { growths, longestMs });
        expect(faults).toEqual([]);
      });
  });
