import { join } from "node:path";
import { createLog } from "../../src/runtime/log.ts";
import { createMetrics } from "../../src/runtime/metrics.ts";
import { openPostgresStore } from "../../src/store/postgres/store.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { testOrders } from "../support/order-suite.ts";
import { sharedCluster } from "../support/postgres/cluster.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const log = createLog({ level: "error", isTerminal: false, write: () => {}, now: Date.now });
const common = { isServing: true, queueMax: 1024, queueWaitMs: 1000, log };
const path = join(temporaryFolder(), "plants.db");
const url = await (await sharedCluster()).createDatabase();

testOrders("SQLite", {
  open: () =>
    openSqliteStore({
      ...common,
      metrics: createMetrics(),
      path,
      onFatal(reason) {
        throw reason;
      },
    }),
});
testOrders("PostgreSQL", { open: () => openPostgresStore({ ...common, isNew: true, metrics: createMetrics(), url }) });
