import { fstatSync, readFileSync } from "node:fs";

/** The first that systemd passes, after those for input, output and errors. */
const SOCKET_FD = 3;

/**
 * The socket that systemd listens on for us, if it does (sd_listen_fds(3)). Throws if there are several, or it has
 * no port. Connections wait in it while the service starts again.
 */
export function passedSocket({ LISTEN_PID, LISTEN_FDS }: NodeJS.ProcessEnv): number | undefined {
  if (LISTEN_FDS === undefined || LISTEN_PID !== String(process.pid)) return undefined;
  if (LISTEN_FDS !== "1") throw new Error(`systemd passed ${LISTEN_FDS} sockets, and the service takes one: name one ListenStream=.`);
  if (isFile(SOCKET_FD)) throw new Error("systemd passed a socket without a port: name one, as in ListenStream=127.0.0.1:8080.");
  return SOCKET_FD;
}

/** Whether a socket has a path (unix(7)): then no client has an address, and all would share their limits. */
function isFile(fd: number): boolean {
  const inode = String(fstatSync(fd).ino);
  // Num RefCount Protocol Flags Type St Inode Path
  return readFileSync("/proc/self/net/unix", "utf8")
    .split("\n")
    .some((line) => line.split(/\s+/)[6] === inode);
}
