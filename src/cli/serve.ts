import { Command } from "commander";
import manifest from "../../package.json" with { type: "json" };
import { countEvents, createLog } from "../runtime/log.ts";
import type { Log } from "../runtime/log.ts";
import { createMetrics } from "../runtime/metrics.ts";
import { start } from "../app/service.ts";
import type { Running } from "../app/service.ts";
import { isServiceLink, SETTINGS, withoutSecrets } from "../app/settings.ts";
import type { Config } from "../app/config.ts";
import { isExposed } from "../runtime/loopback.ts";
import { escapeControls } from "../runtime/terminal-text.ts";
import { withoutIgnored } from "./interruption.ts";
import { isJournal, openOutput } from "./log-stream.ts";
import { passedSocket } from "./passed-socket.ts";
import { addSettings, configOf, settingsOf } from "./settings.ts";

/** How long a stop may take beyond its two settings, for the commit under way and the files, in milliseconds. */
const CLOSE_MS_MAX = 1500;

/** Where the code is in the single executable. */
const PACKED = "/$bunfs/";

/** What to do about an address that other machines can reach. */
const EXPOSED = `Other machines can reach this address, and nothing encrypts what they send, tokens included: put a proxy with TLS in front, or listen on ${SETTINGS.host.fallback}.`;

const SERVICE_LINK =
  "Kubernetes made PLANT_STORE_PORT of a service with this name: set enableServiceLinks: false in the pod, and the port with --port.";

export function serveCommand(): Command {
  const command = new Command("serve").description(
    "Run the service. On SIGTERM it finishes the requests that it has accepted, then exits.",
  );
  return addSettings(command).action(async () => {
    const config = configOf(command);
    const isTerminal = process.stdout.isTTY;
    const write = openOutput(process.stdout, (lines) => log.warn("log_gap", { lines }));
    const metrics = createMetrics();
    const log = countEvents(createLog({ level: config.log, isTerminal, isJournal: isJournal(process.env), write, now: Date.now }), metrics);
    function end(event: string, error: unknown): never {
      log.error(event, { error });
      process.exit(1);
    }
    process.on("uncaughtException", (error) => end("crashed", error));
    process.on("unhandledRejection", (error) => end("crashed", error));

    if (isServiceLink("PLANT_STORE_PORT", process.env["PLANT_STORE_PORT"])) log.warn("service_link_ignored", { reason: SERVICE_LINK });
    if (config.tracesOff !== undefined) log.warn("traces_off", { reason: config.tracesOff });
    const running = await start(config, {
      log,
      metrics,
      socketFd: passedSocket(process.env),
      onFatal: (reason) => end("store_failed", reason),
    });
    // Before announcing that it runs: until then, a signal would end it at once, with work under way.
    stopOnSignal(running, { log, stopMsMax: config.drainDelayMs + config.drainMs + CLOSE_MS_MAX });
    // On a terminal, `plant-store config` shows them.
    if (!isTerminal) log.info("settings", Object.fromEntries(settingsOf(command).map(({ name, text }) => [name, withoutSecrets(text)])));
    // With trusted proxies there is one in front, and it does the TLS.
    const exposed = config.trustedProxies === undefined && (await isExposed(config.host));
    if (exposed && !isTerminal) log.warn("exposed_without_tls", { address: running.url, todo: EXPOSED });
    announce(running, { log, isTerminal, exposed, config });
  });
}

function stopOnSignal(running: Running, { log, stopMsMax }: { log: Log; stopMsMax: number }): void {
  let isStopping = false;
  async function stop(signal: string): Promise<void> {
    // A terminal that is closed may send its signal twice, by itself and by the shell.
    if (isStopping && signal === "SIGHUP") return;
    // A second Ctrl-C means now.
    if (isStopping) process.exit(1);
    isStopping = true;
    log.info("stopping", { signal });
    setTimeout(() => {
      log.error("stop_cut_off", { afterMs: stopMsMax });
      process.exit(1);
    }, stopMsMax).unref();
    await running.stop();
    log.info("stopped");
    process.exit(0);
  }
  for (const signal of ["SIGTERM", "SIGINT", ...withoutIgnored(["SIGHUP"])]) process.on(signal, () => void stop(signal));
}

type Announcing = Readonly<{ log: Log; isTerminal: boolean; exposed: boolean; config: Config }>;

/** Says where everything is: in a few lines for people, as one event for machines. Only people see the token. */
function announce(
  { url, metricsUrl, tracesUrl, store, tokenFile, firstToken }: Running,
  { log, isTerminal, exposed, config }: Announcing,
): void {
  const curl = tokenFile === undefined ? undefined : curlLine(url, tokenFile);
  if (!isTerminal)
    return log.info("started", {
      version: manifest.version,
      address: url,
      metrics: metricsUrl,
      traces: tracesUrl,
      store: store.name,
      ...(curl === undefined ? {} : { tokenFile, curl }),
    });
  const token =
    tokenFile === undefined
      ? `one of your own; if you have none left: ${rescueLine(config)}`
      : `in ${tokenFile}, until you use another token with all scopes`;
  process.stdout.write(`
Plant Store is ready.

  address  ${url}
${metricsUrl ? `  metrics  ${metricsUrl}\n` : ""}${tracesUrl ? `  traces   to ${escapeControls(tracesUrl)}\n` : ""}  store    ${escapeControls(store.name)}
  token    ${escapeControls(token)}
${firstToken ? `\nThe token, which is shown only now:\n\n${firstToken}\n` : ""}${exposed ? `\n${EXPOSED}\n` : ""}
Open the address in a browser and sign in with the token. Developers: ${url}/docs
${curl ? `\nOr create a plant in the terminal:\n\n  ${escapeControls(curl)}\n` : ""}
`);
}

/** The command that makes a token with all scopes in this store, as it is run from here. */
function rescueLine({ data, database }: Config): string {
  const program = process.argv[1]?.startsWith(PACKED) ? quote(process.execPath) : "npx plant-store";
  const create = `${program} token create --admin --name rescue`;
  if (database.kind === "sqlite") return `${create} --data ${quote(data)}`;
  // A password belongs neither on a terminal nor among the arguments of a process.
  if (database.url !== withoutSecrets(database.url)) return `${create} # with the PLANT_STORE_DATABASE of this service`;
  return `${create} --database ${quote(database.url)}`;
}

function curlLine(url: string, tokenFile: string): string {
  const plant = '{"id":1,"name":"Monstera deliciosa","tag":"tropical"}';
  return `curl -H "Authorization: Bearer $(cat ${quote(tokenFile)})" -H 'Content-Type: application/json' -d '${plant}' ${url}/plants`;
}

/** Quotes a word for a POSIX shell. */
function quote(word: string): string {
  return /^[\w./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
