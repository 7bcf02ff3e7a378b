import { join } from "node:path";
import { testOrders } from "../support/order-suite.ts";
import { sharedCluster } from "../support/postgres/cluster.ts";
import { testStore } from "../support/store-suite.ts";
import { openPostgres, openSqlite } from "../support/stores.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const url = await (await sharedCluster()).createDatabase();
const path = () => join(temporaryFolder(), "plants.db");
const [plants, ordered] = [path(), path()];

testStore("SQLite", { open: () => openSqlite(plants) });
testStore("PostgreSQL", { open: () => openPostgres(url) });
testOrders("SQLite", { open: () => openSqlite(ordered) });
