import { testOrders } from "../support/order-suite.ts";
import { sharedCluster } from "../support/postgres/cluster.ts";
import { openPostgres } from "../support/stores.ts";

const url = await (await sharedCluster()).createDatabase();
testOrders("PostgreSQL", { open: () => openPostgres(url) });
