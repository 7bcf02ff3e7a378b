import { it } from "bun:test";
import { ENGINES } from "../support/engines.ts";
import { compareWithModel } from "../support/model-run.ts";

it("any sequence of operations and restarts is answered alike by both engines, byte for byte, and like a map in memory", () =>
  compareWithModel(ENGINES, 200));
