import type { Metrics } from "../../runtime/metrics.ts";
import type { PlantStore } from "../plants.ts";
import type { ChangeLog } from "./change-log.ts";
import { OLDEST } from "./change-statements.ts";
import type { Statement } from "./engine/pool.ts";
import type { Execute } from "./engine/retry.ts";
import { SCHEMA } from "./engine/schema.ts";
import type { Server } from "./pooled-server.ts";

type Measured = Readonly<{
  plants: Pick<PlantStore, "count">;
  execute: Execute;
  pools: Server["pools"];
  changes: Pick<ChangeLog, "isKept">;
}>;

/** Adds what is looked up only when someone asks: each asks the database. */
export function addPostgresGauges(metrics: Metrics, { plants, execute, pools, changes }: Measured): void {
  async function ask(statement: Statement): Promise<number> {
    const [row] = await execute<[value: bigint]>(statement, [], { isRepeatable: true });
    return Number(row![0]);
  }

  metrics.gauge(
    { name: "plant_store_plants", help: "Plants in the store. Above 20,000 it is about right, from the statistics of the database." },
    async () => (await plants.count({ words: [], tag: undefined })).plants,
  );
  metrics.gauge({ name: "plant_store_schema_version", help: "Version of the tables." }, () => ask(SCHEMA.read));
  metrics.gauge({ name: "plant_store_bytes", help: "Bytes of the database, indexes included, on the server that the address names." }, () =>
    ask(SCHEMA.size),
  );
  metrics.gauge({ name: "plant_store_changes_oldest_timestamp_seconds", help: "When the oldest change was made that is kept." }, async () =>
    changes.isKept() ? [{ labels: {}, value: (await ask(OLDEST)) / 1_000_000 }] : [],
  );
  metrics.gauge(
    { name: "plant_store_database_connections", help: "Connections to the database by pool: used, idle; waiting: those that want one." },
    () =>
      Object.entries(pools).flatMap(([pool, { connections }]) =>
        Object.entries(connections()).map(([state, value]) => ({ labels: { pool, state }, value })),
      ),
  );
}
