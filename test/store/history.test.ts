import { join } from "node:path";
import { testHistory } from "../support/history-suite.ts";
import { sharedCluster } from "../support/postgres/cluster.ts";
import { openPostgres, openSqlite } from "../support/stores.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const path = join(temporaryFolder(), "plants.db");
const url = await (await sharedCluster()).createDatabase();

testHistory("SQLite", { open: () => openSqlite(path) });
testHistory("PostgreSQL", { open: () => openPostgres(url) });
