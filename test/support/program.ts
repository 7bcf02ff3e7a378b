/** Installs all programs that these tests need. */
export const INSTALL = "apt-get install strace curl haproxy faketime nginx caddy apache2 pgbouncer";

/** The path of a program that these tests need. If it is missing, throws what to do. */
export function findProgram(name: "strace" | "curl" | "haproxy" | "nginx" | "caddy" | "apache2" | "pgbouncer"): string {
  const path = Bun.which(name);
  if (path === null) throw new Error(`This test needs ${name}: ${INSTALL}`);
  return path;
}
