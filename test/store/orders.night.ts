import { join } from "node:path";
import { testOrders } from "../support/order-suite.ts";
import { sharedCluster } from "../support/postgres/cluster.ts";
import { openPostgres, openSqlite } from "../support/stores.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const url = await (await sharedCluster()).createDatabase();
const path = join(temporaryFolder(), "plants.db");

testOrders("SQLite", { open: () => openSqlite(path) });
testOrders("PostgreSQL", { open: () => openPostgres(url) });
