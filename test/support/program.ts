/** Installs all programs that these tests need. */
export const INSTALL =
  "apt-get install strace curl haproxy faketime nginx caddy apache2 pgbouncer prometheus systemd zsh fish mandoc openssl minisign runc firefox-esr";

/** The path of a program that these tests need. If it is missing, throws what to do. */
export function findProgram(
  name:
    | "bash"
    | "zsh"
    | "fish"
    | "mandoc"
    | "strace"
    | "curl"
    | "openssl"
    | "haproxy"
    | "nginx"
    | "caddy"
    | "apache2"
    | "pgbouncer"
    | "prometheus"
    | "promtool"
    | "minisign"
    | "runc"
    | "firefox-esr"
    | "systemd-analyze"
    | "systemd-socket-activate",
): string {
  const path = Bun.which(name);
  if (path === null) throw new Error(`This test needs ${name}: ${INSTALL}`);
  return path;
}
