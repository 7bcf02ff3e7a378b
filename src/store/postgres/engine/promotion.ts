import type { Log } from "../../../runtime/log.ts";
import { UnsentError } from "./failure.ts";
import type { Hosts } from "./hosts.ts";
import { openPool, SERVER_MS_MAX } from "./pool.ts";
import { FIND_READER, OvertakenError } from "./requirements.ts";

/**
 * Connects to the servers that are not in use. If one of them was promoted since, all connections to the one in use end.
 * Resolves with the names of those that go on as a primary although another one was promoted.
 */
export async function checkStandbys(hosts: Hosts): Promise<readonly string[]> {
  const names = await Promise.all(hosts.others().map(async (server) => ((await isOvertaken(server)) ? [server.name] : [])));
  return names.flat();
}

/** Does the same, one look at a time, and tells them in the log, each once while it goes on. */
export function watchOthers(hosts: Hosts, log: Log): () => Promise<void> {
  let logged: readonly string[] = [];
  let isLooking = false;

  return async () => {
    if (isLooking) return;
    isLooking = true;
    const overtaken = await checkStandbys(hosts);
    for (const server of overtaken) if (!logged.includes(server)) log.warn("server_overtaken", { server });
    logged = overtaken;
    isLooking = false;
  };
}

/** Never rejects: a standby, or one that is away, is nothing new. Its connection finds out where it writes. */
async function isOvertaken(hosts: Hosts): Promise<boolean> {
  const pool = openPool({ hosts, connectionsMax: 1, serverMs: SERVER_MS_MAX });
  try {
    await pool.query(FIND_READER, [], { connectMs: SERVER_MS_MAX, statementMs: SERVER_MS_MAX });
    return false;
  } catch (reason) {
    return reason instanceof UnsentError && reason.cause instanceof OvertakenError;
  } finally {
    await pool.close();
  }
}
