import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { findProgram } from "../program.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { askUntil, until } from "../until.ts";

export type Firefox = Awaited<ReturnType<typeof startFirefox>>;

type Send = (method: string, params?: object) => Promise<Answer>;
type Answer = Readonly<{ nodes?: readonly object[]; context?: string; result?: { value?: string } }>;
type Message = Readonly<{ id?: number; error?: string; message?: string; result?: Answer; params?: { level: string; text: string } }>;

const KEYS: Readonly<Record<string, string>> = { Shift: "\ue008", Enter: "\ue007", Space: " ", ArrowDown: "\ue015", End: "\ue010" };

/**
 * A real Firefox without a window, and one tab of it, driven by WebDriver BiDi (w3.org/TR/webdriver-bidi), which it
 * speaks by itself. `errors` are those that pages threw or that were written; `saved` is the folder of downloads.
 */
export async function startFirefox() {
  const profile = temporaryFolder();
  const flags = ["--headless", "--no-remote", "--profile", profile, "--remote-debugging-port", "0"];
  const child = spawn(findProgram("firefox-esr"), flags, { stdio: "ignore" });
  // Also when it cannot be asked.
  process.on("exit", () => child.kill("SIGKILL"));
  const exited = once(child, "exit");
  const told = join(profile, "WebDriverBiDiServer.json");
  // It is there before it is written.
  await until("Firefox can be asked", () => existsSync(told) && readFileSync(told, "utf8").includes("}"));
  const { ws_port: port } = JSON.parse(readFileSync(told, "utf8")) as { ws_port: number };
  const errors: string[] = [];
  const send = await connect(`ws://127.0.0.1:${port}/session`, errors);
  await send("session.new", { capabilities: {} });
  await send("session.subscribe", { events: ["log.entryAdded"] });
  const saved = temporaryFolder();
  await send("browser.setDownloadBehavior", { downloadBehavior: { type: "allowed", destinationFolder: saved } });
  // That of the start has no focus, so a key would make no click in it.
  const { context } = await send("browsingContext.create", { type: "tab" });
  const close = async () => void (child.kill(), await exited);
  return { ...toTab(send, context!), saved, errors, close };
}

async function connect(url: string, errors: string[]): Promise<Send> {
  const socket = new WebSocket(url);
  const waiting = new Map<number, (message: Message) => void>();
  const closed = Promise.withResolvers<never>();
  closed.promise.catch(() => {});
  for (const end of ["close", "error"])
    socket.addEventListener(end, () => closed.reject(new Error("Firefox has ended, or cannot be asked.")));
  socket.addEventListener("message", ({ data }) => {
    const message = JSON.parse(String(data)) as Message;
    if (message.id !== undefined) waiting.get(message.id)?.(message);
    else if (message.params?.level === "error") errors.push(message.params.text);
  });
  await Promise.race([once(socket, "open"), closed.promise]);
  return async (method, params = {}) => {
    const id = waiting.size;
    const answered = new Promise<Message>((resolve) => waiting.set(id, resolve));
    socket.send(JSON.stringify({ id, method, params }));
    const { error, message, result } = await Promise.race([answered, closed.promise]);
    if (error !== undefined) throw new Error(`${method}: ${error}: ${message}`);
    return result!;
  };
}

function toTab(send: Send, context: string) {
  async function find(locator: object): Promise<object> {
    const look = async () => (await send("browsingContext.locateNodes", { context, locator })).nodes![0];
    const element = await askUntil(look, (found) => found !== undefined);
    if (!element) throw new Error(`There is no ${JSON.stringify(locator)}.`);
    return element;
  }
  async function evaluate(expression: string): Promise<string> {
    return (await send("script.evaluate", { expression, target: { context }, awaitPromise: true })).result?.value ?? "";
  }
  const act = (id: string, actions: object) => send("input.performActions", { context, actions: [{ type: id, id, actions }] });
  /** Characters, names of keys, or one of them after "Shift+". */
  function press(...keys: readonly string[]): Promise<Answer> {
    const presses = keys.map((key) => key.split("+").map((one) => KEYS[one] ?? one));
    const toActions = (type: string, values: readonly string[]) => values.map((value) => ({ type, value }));
    return act(
      "key",
      presses.flatMap((values) => [...toActions("keyDown", values), ...toActions("keyUp", values.toReversed())]),
    );
  }
  return {
    go: (url: string) => send("browsingContext.navigate", { context, url, wait: "complete" }),
    async click(role: string, name: string): Promise<void> {
      const element = await find({ type: "accessibility", value: { role, name } });
      const move = { type: "pointerMove", x: 0, y: 0, origin: { type: "element", element } };
      await act("pointer", [move, { type: "pointerDown", button: 0 }, { type: "pointerUp", button: 0 }]);
    },
    press,
    type: (text: string) => press(...Array.from(text)),
    async choose(path: string): Promise<void> {
      const element = await find({ type: "css", value: "input[type=file]" });
      await send("input.setFiles", { context, element, files: [path] });
    },
    reads: (text: string) => until(`The page says ${text}`, async () => (await evaluate("document.body.innerText")).includes(text)),
    /** Waits until the table shows exactly these plants, by their names. */
    sees: (...names: readonly string[]) => until(`The table shows ${names.join()}`, async () => (await evaluate(NAMES)) === names.join()),
  };
}

const NAMES = "Array.from(document.querySelectorAll('.plant-row-name'), (cell) => cell.innerText).join()";
