import { createMetrics } from "../../src/runtime/metrics.ts";
import { createLog } from "../../src/runtime/log.ts";
import { openPostgresStore } from "../../src/store/postgres/store.ts";
import { sharedCluster } from "../support/postgres/cluster.ts";
import { testStore } from "../support/store-suite.ts";

const log = createLog({ level: "error", isTerminal: false, write: () => {}, now: Date.now });
const url = await (await sharedCluster()).createDatabase();

testStore("PostgreSQL", {
  open: () => openPostgresStore({ url, isServing: true, isNew: true, queueMax: 1024, queueWaitMs: 1000, log, metrics: createMetrics() }),
});
