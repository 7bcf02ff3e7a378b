import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { afterAll, beforeAll, expect } from "bun:test";
import { median } from "../../bench/quantile.ts";
import { PATIENCE } from "../support/patience.ts";
import { findFreePort } from "../support/port.ts";
import { findProgram, needs } from "../support/program.ts";
import { endFronts, FRONT_NAMES, startFront } from "../support/proxies/fronts.ts";
import { tell } from "../support/run-form.ts";
import { killServices, PATIENT, startService } from "../support/service-process.ts";
import type { Service } from "../support/service-process.ts";
import { openStream } from "../support/stream.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { until } from "../support/until.ts";

const { describe, it } = needs("nginx", "haproxy", "caddy", "apache2");

/** A second after the one before: what a proxy keeps back until more comes is noticed. */
const EVENTS = 8;

/** A proxy that waits for more to come is slower by 0.2 s. The usual is 0.1 s, of which the service waits half. */
const LAG_MS_MAX = 250 * PATIENCE;

let service: Service;
const running: ChildProcess[] = [];
beforeAll(async () => {
  service = await startService({ flags: PATIENT });
});
afterAll(async () => {
  for (const child of running) child.kill("SIGTERM");
  await endFronts();
  await killServices();
});

/** nginx with nothing but the address of the service: it speaks HTTP/1.0 to it, buffers, and has the switch of Debian that compresses. */
async function startBareNginx(): Promise<string> {
  const folder = temporaryFolder();
  const port = await findFreePort();
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((kind) => `${kind}_temp_path ${folder}/${kind};`).join(" ");
  const server = `server { listen 127.0.0.1:${port}; location / { proxy_pass ${service.url}; } }`;
  writeFileSync(join(folder, "nginx.conf"), `events {}\nhttp { access_log off; gzip on; ${temporary} ${server} }\n`);
  const words = ["-c", join(folder, "nginx.conf"), "-e", join(folder, "error"), "-g", `daemon off; pid ${folder}/pid;`];
  running.push(spawn(findProgram("nginx"), words, { stdio: "ignore" }));
  const url = `http://127.0.0.1:${port}`;
  await until("nginx answers", async () => (await fetch(`${url}/readyz`).catch(() => undefined))?.status === 200);
  return url;
}

const FRONTS = [
  { name: "nginx without any configuration", start: startBareNginx },
  ...FRONT_NAMES.map((name) => ({
    name: `${name} as it is shipped`,
    start: () => startFront(name, { hosts: [new URL(service.url).host] }),
  })),
];

let id = 0;

for (const { name, start } of FRONTS)
  describe(name, () => {
    it("passes each change on at once, though nothing follows it, and a bookmark, and goes on behind the last one", async () => {
      const url = await start();
      const accepted = ["Accept-Encoding: gzip, br, zstd"];
      const stream = await openStream(url, { token: service.token, fields: accepted });
      expect(stream.head()).toContain("text/event-stream");
      const lags: number[] = [];
      for (let event = 1; event <= EVENTS; event += 1) {
        id += 1;
        expect((await service.ask("PUT", `/plants/${id}`, '{"name":"Acer"}')).ok).toBe(true);
        const since = performance.now();
        await stream.waitFor(event);
        lags.push(Math.round(performance.now() - since));
        await Bun.sleep(200);
      }
      tell(`${name}: a change through it`, { lags });
      expect(median(lags)).toBeLessThan(LAG_MS_MAX);
      const last = stream.cursor();
      await service.ask("PUT", "/plants/1", JSON.stringify({ name }));
      await stream.waitFor(EVENTS + 1);
      const before = stream.events().length;
      await until("A bookmark comes", () => stream.events().length > before);
      expect(stream.events().at(-1)).toEqual({ id: expect.stringMatching(/^[\w-]+$/) });
      stream.socket.destroy();
      const rest = await openStream(url, { token: service.token, fields: [...accepted, `Last-Event-ID: ${last}`] });
      await rest.waitFor(1);
      expect(rest.changes()[0]).toStartWith("1 ");
      rest.socket.destroy();
    });
  });
