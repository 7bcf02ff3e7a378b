import { it } from "bun:test";
import { ENGINES } from "../support/engines.ts";
import { compareWithModel } from "../support/model-run.ts";

// On PostgreSQL too, and ten times as long: model.night.ts.
it("any sequence of operations and restarts is answered like a map in memory", () => compareWithModel(ENGINES.slice(0, 1), 20));
