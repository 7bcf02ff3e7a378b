import { openFaults, type Faults } from "./faults.ts";
import { relay } from "./relay.ts";
import { listenAsStandIn, type StandIn } from "./stand-in.ts";

type Address = Readonly<{ host: string; port: number }>;

/** A proxy between the service and a PostgreSQL, which breaks what passes between them. */
export type Proxy = Faults &
  StandIn &
  Readonly<{
    /** Routes new connections to another server. Open ones stay: cut them. */
    pointAt(target: Address): void;
  }>;

export async function startProxy({ target }: Readonly<{ target: Address }>): Promise<Proxy> {
  const { takeForStartup, takeForStatement, count, ...faults } = openFaults();
  let { host, port } = target;
  const standIn = await listenAsStandIn(
    (client) => void relay({ client, target: { host, port }, faults: { takeForStartup, takeForStatement, count } }),
  );
  return {
    ...faults,
    ...standIn,
    pointAt(other) {
      ({ host, port } = other);
    },
  };
}
