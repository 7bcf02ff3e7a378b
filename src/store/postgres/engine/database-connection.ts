import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";
import pg from "pg";
import type { ClientConfig, QueryArrayConfig, QueryArrayResult } from "pg";
import { isLoopback } from "../../../runtime/loopback.ts";
import { mendErrors } from "./error-ends.ts";
import { GuardError, isSound, sqlStateOf, UnconfirmedError, UnsentError } from "./failure.ts";
import type { Hosts, Timeline } from "./hosts.ts";
import {
  checkAge,
  checkReader,
  checkSettings,
  checkVersion,
  FIND_AGE,
  FIND_ALIVE,
  FIND_READER,
  FIND_SCHEMA,
  FIND_SEARCHED,
  FIND_TIMELINE,
  IDENTIFY,
  INSPECT,
  OTHER_POOLER,
  OvertakenError,
  pin,
  poolerUnfit,
  RESET,
  UnfitError,
} from "./requirements.ts";
import type { Identity, Settings } from "./requirements.ts";

/**
 * A statement with parameters $1, $2 … With a name it is prepared once for each connection. Without one it is planned
 * for the values of each call. With a guard it runs between BEGIN and COMMIT, behind the statements of the guard, which
 * are in one message with BEGIN. If the last of them does not return true, a GuardError is thrown.
 */
export type Statement = Readonly<{ name?: string; text: string; guard?: readonly string[] }>;

type ConnectionConfig = ClientConfig & Readonly<{ hosts: Hosts; serverMs: number }>;

/** Which parts of the server warn that a commit did not wait for its standby: the text is translated. Citus passes warnings on. */
const WARNS_OF_STANDBY = ["SyncRepWaitForLSN", "DefaultCitusNoticeReceiver"];

/** A free connection is replaced at this age, less up to a half: it follows a name that leads elsewhere, and frees the server's memory. */
const AGE_MS_MAX = 60 * 60_000;

/** Another isolation, which a user or a database may have as its default, would show a statement what was so before a lock. */
const BLOCK = {
  begin: { text: "BEGIN ISOLATION LEVEL READ COMMITTED" },
  commit: { text: "COMMIT" },
  rollback: { text: "ROLLBACK" },
} as const;

/** What the server gets instead of a password that someone could read on the way. */
const CLEARTEXT =
  "The server asks for the password in plain text over an unencrypted connection: add ?sslmode=verify-full to the address of the database, let the server use scram-sha-256, or allow it with require_auth=password.";

/** What pg calls when the server, or who is in its place, asks for the password itself. Its types do not say so. */
const ON_CLEARTEXT = "_handleAuthCleartextPassword";
type Authenticating = Readonly<Record<typeof ON_CLEARTEXT, (message: unknown) => void>>;

/** A connection to the server in use when it opens. If opening fails, the next one goes to another server. */
export class DatabaseConnection extends pg.Client {
  // What pg has, and its types do not say.
  declare readonly connection: pg.Connection;
  declare readonly processID: number | null;
  readonly url: string;
  readonly #serverMs: number;
  /** The process of the server. */
  backend = 0;
  /** Whether it has passed the check, or failed it: what comes later says nothing about the server. */
  #isJudged = false;
  /** Whether it has passed the check. */
  #isFit = false;
  /** It has none of the settings that we pin, and no processes. */
  #isCockroach = false;
  #schema: Hosts["schema"];
  /** Where the server writes, if it says so. */
  #timeline: Timeline | undefined;
  /** Why the last commit may be missing on the standby. */
  #doubt: string | undefined;
  readonly #hosts: Hosts;
  readonly #since = performance.now();
  readonly #until = performance.now() + AGE_MS_MAX * (1 - Math.random() / 2);

  constructor({ hosts, serverMs, ...config }: ConnectionConfig) {
    const url = hosts.current();
    super({ ...config, connectionString: url });
    mendErrors(this.connection, () => this.#isFit);
    this.url = url;
    this.#hosts = hosts;
    this.#schema = hosts.schema;
    this.#serverMs = serverMs;
    // Ignore an idle connection that breaks: its next user gets the error.
    this.on("error", () => {});
    // Before the driver hears of it, whose caller may try again at once.
    for (const event of ["error", "errorMessage", "end"]) this.connection.on(event, () => this.leave());
    this.on("notice", ({ routine, message }) => {
      if (WARNS_OF_STANDBY.includes(routine ?? "")) this.#doubt = message ?? routine;
    });
  }

  /** Checks the server, and sets up the session. Throws an UnfitError when the server is unfit. */
  async open(): Promise<void> {
    const [identity] = await this.send<Identity>(IDENTIFY);
    const [version, backend, , searched] = identity!;
    this.#isCockroach = version.startsWith("CockroachDB");
    this.#note(backend);
    checkVersion(identity!);
    if (!this.isShared && !this.#isCockroach) {
      const [age] = await this.send<[ms: bigint]>(FIND_AGE);
      checkAge(age, performance.now() - this.#since);
    }
    if (this.isShared) await this.#tryTransaction();
    else {
      if (!this.#isCockroach) await this.send(pin({ serverMs: this.#serverMs, isLocal: false }));
      await this.#findSchema(searched);
      const [settings] = await this.send<Settings>(INSPECT);
      checkSettings(settings!);
    }
    const [reader] = await this.send<[inHotStandby: string | null]>(FIND_READER);
    checkReader(reader!);
    [this.#timeline] = await this.send<[...Timeline]>(FIND_TIMELINE).catch(noneIfUnknown);
    if (this.isOvertaken()) throw new OvertakenError();
    if (this.#hosts.schema.name === undefined) Object.assign(this.#hosts.schema, this.#schema);
    this.#isFit = true;
    this.#isJudged = true;
  }

  [ON_CLEARTEXT](message: unknown): void {
    const { stream } = this.connection;
    // A Unix socket has no address.
    const { remoteAddress } = stream as Socket;
    const isReadable = !(stream instanceof TLSSocket) && remoteAddress !== undefined && !isLoopback(remoteAddress);
    if (isReadable && !this.#hosts.allowsCleartext) stream.destroy(new UnfitError(CLEARTEXT));
    else (pg.Client.prototype as unknown as Authenticating)[ON_CLEARTEXT].call(this, message);
  }

  /** Lets the next connection go to another server, unless this one has been found fit. */
  leave(): void {
    if (!this.#isJudged) this.#hosts.leave(this.url);
    this.#isJudged = true;
  }

  /** Whether a pooler may give each transaction another connection, with settings of others: so each has to begin with ours. */
  get isShared(): boolean {
    return !this.#isCockroach && this.#hosts.pooler.isFound;
  }

  /** Runs one statement, which is a transaction of its own. */
  async run<Row extends unknown[]>(statement: Statement, values: readonly unknown[]): Promise<Row[]> {
    this.#doubt = undefined;
    const isBlock = this.isShared || statement.guard !== undefined;
    const rows = await (isBlock ? this.#transact<Row>(statement, values) : this.send<Row>(statement, values));
    if (this.#doubt !== undefined) throw new UnconfirmedError(this.#doubt);
    return rows;
  }

  /** Begins a transaction of several statements. Throws an UnsentError when the server is unfit. */
  async begin(how: Statement): Promise<void> {
    if (!this.isShared) return void (await this.send(how));
    try {
      const settings = await this.#sendTogether<Settings>([how, RESET, pin({ serverMs: this.#serverMs, isLocal: true }), INSPECT]);
      checkSettings(settings);
      this.#note(settings[0]);
    } catch (reason) {
      throw new UnsentError(reason);
    }
  }

  /** Sends several statements without parameters in one message. Resolves with the first row of the last of them. */
  async #sendTogether<Row extends unknown[]>(statements: readonly Statement[]): Promise<Row> {
    const text = this.#qualify(statements.map((statement) => statement.text).join(";"));
    const results: unknown = await this.query({ text, rowMode: "array" });
    // The driver returns a list, unless there is only one.
    const row = [results as QueryArrayResult<Row>].flat().at(-1)?.rows[0];
    if (row === undefined) throw new UnfitError(`What is in front of the database drops results. ${OTHER_POOLER}`);
    return row;
  }

  /** Sends a statement as it is. */
  async send<Row extends unknown[]>({ name, text }: Statement, values: readonly unknown[] = []): Promise<Row[]> {
    const query: QueryArrayConfig = {
      ...(name === undefined || this.isShared ? {} : { name }),
      text: this.#qualify(text),
      values: [...values],
      rowMode: "array",
    };
    return (await this.query<Row>(query)).rows;
  }

  /** Cancels what these processes of the server run. Takes how many ms ago each was given up. Resolves with those that still ran. */
  async cancelOthers(givenUp: ReadonlyMap<number, number>): Promise<number[]> {
    const ages = Array.from(givenUp.values(), Math.floor);
    const alive = await this.run<[backend: bigint, isSignalled: string]>(FIND_ALIVE, [[...givenUp.keys()], ages]);
    return alive.map(([backend]) => Number(backend));
  }

  /** Whether another server was promoted since. Then the next connection goes elsewhere. */
  isOvertaken(): boolean {
    const isSo = this.#timeline !== undefined && this.#hosts.isOvertaken(this.#timeline);
    if (isSo) this.#hosts.leave(this.url);
    return isSo;
  }

  isOld(): boolean {
    return performance.now() > this.#until;
  }

  /** Names the schema of our tables. */
  #qualify(text: string): string {
    const { name } = this.#schema;
    return name === undefined ? text : text.replaceAll("store.", () => `${name}.`);
  }

  async #findSchema(searched: string): Promise<void> {
    if (this.#schema.name !== undefined) return;
    const [[name] = []] = await this.send<[name: string]>(FIND_SCHEMA, [searched]);
    if (name === undefined) throw new UnfitError("The search_path of the user names no existing schema: set it, for example to public.");
    // It has to stand in a text as it is.
    if (/['\\]/.test(name)) throw new UnfitError(`The schema ${name} has a quote or a backslash in its name: use another one.`);
    this.#schema = { name, searched };
  }

  #note(backend: bigint): void {
    this.backend = Number(backend);
    if (!this.#isCockroach && this.backend !== this.processID) this.#hosts.pooler.isFound = true;
  }

  async #transact<Row extends unknown[]>(statement: Statement, values: readonly unknown[]): Promise<Row[]> {
    const guarding: Statement[] = (statement.guard ?? []).map((text) => ({ text }));
    if (this.isShared || guarding.length === 0) await this.begin(BLOCK.begin);
    else guarding.unshift(BLOCK.begin);
    try {
      if (guarding.length > 0 && (await this.#sendTogether<[isMet: string]>(guarding))[0] !== "t") throw new GuardError();
      const rows = await this.send<Row>(statement, values);
      await this.send(BLOCK.commit);
      return rows;
    } catch (thrown) {
      if (isSound(thrown)) await this.send(BLOCK.rollback);
      throw thrown;
    }
  }

  async #tryTransaction(): Promise<void> {
    try {
      if (this.#schema.name === undefined) {
        const [searched] = await this.#sendTogether<[searched: string]>(FIND_SEARCHED);
        await this.send(pin({ serverMs: this.#serverMs, isLocal: true }));
        await this.#findSchema(searched);
        await this.send(BLOCK.rollback);
      }
      await this.#transact(INSPECT, []);
    } catch (thrown) {
      const reason = thrown instanceof UnsentError ? thrown.cause : thrown;
      // What a pooler itself refuses (08P01, protocol violation).
      throw sqlStateOf(reason) === "08P01" ? poolerUnfit(reason) : reason;
    }
  }
}

/** A relative of PostgreSQL has no timelines. */
function noneIfUnknown(thrown: unknown): [] {
  if (isSound(thrown)) return [];
  throw thrown;
}
