/** Installs all that these tests cannot do without. */
export const INSTALL = "apt-get install strace curl haproxy faketime nginx caddy apache2";

/** The path of a program that these tests cannot do without. Throws what to do when it is missing. */
export function findProgram(name: "strace" | "curl" | "haproxy" | "nginx" | "caddy" | "apache2"): string {
  const path = Bun.which(name);
  if (path === null) throw new Error(`This test needs ${name}: ${INSTALL}`);
  return path;
}
