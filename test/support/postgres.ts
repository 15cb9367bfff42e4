// A PostgreSQL server for tests: the one AGENT_ADAPTER_TEST_POSTGRES names, else one started from the server binaries of this
// machine, with its own folder and port, as an unprivileged user, stopped afterwards. Without either, or with "none": a reason
// to skip.
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type * as Pg from "pg";

const pg = loadPg();

export interface PostgresServer {
  /** A connection string. */
  readonly url: string;
  /** Can this server be killed? Not one that somebody else runs. */
  readonly isOurs: boolean;
  /** SIGKILL for the server and everything it started, then a start on the same data. */
  killAndRestart(): Promise<void>;
  stop(): Promise<void>;
}

interface ServerOptions {
  /** Keep every acknowledged change whatever happens, as servers do by default; slower. */
  readonly durable?: boolean;
}

/** Why there is no server here; `undefined` when there can be one. */
export function whyNoPostgres(): string | undefined {
  const given = process.env["AGENT_ADAPTER_TEST_POSTGRES"];
  if (given === "none") return "AGENT_ADAPTER_TEST_POSTGRES is none";
  if (given !== undefined) return undefined;
  if (binaries() === undefined)
    return "no PostgreSQL binaries under /usr/lib/postgresql and no AGENT_ADAPTER_TEST_POSTGRES";
  if (process.getuid?.() === 0 && unprivileged() === undefined) return "no user to run PostgreSQL as";
  return undefined;
}

/** Say how many tests a missing server skips, and why. For the end of a file: hooks of skipped suites do not run. */
export function reportSkipped(count: number, what: string): void {
  const reason = whyNoPostgres();
  if (reason !== undefined) console.log(`skipped ${count} tests (${what}): ${reason}`);
}

export async function startPostgres({ durable = false }: ServerOptions = {}): Promise<PostgresServer> {
  const given = process.env["AGENT_ADAPTER_TEST_POSTGRES"];
  if (given !== undefined) {
    const refuse = () => Promise.reject(new Error("this server is not ours to kill"));
    return { url: given, isOurs: false, killAndRestart: refuse, stop: () => Promise.resolve() };
  }
  const bin = binaries();
  if (bin === undefined) throw new Error(whyNoPostgres());
  const folder = mkdtempSync(join(tmpdir(), "aa-postgres-"));
  const user = process.getuid?.() === 0 ? unprivileged() : undefined;
  if (user !== undefined) chownSync(folder, user.uid, user.gid);
  const data = join(folder, "data");
  const as = user ?? {};
  execFileSync(
    join(bin, "initdb"),
    ["-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync", "--no-instructions"],
    {
      ...as,
      stdio: "ignore",
      cwd: folder,
    },
  );
  const port = await freePort();
  const url = `postgresql://postgres@127.0.0.1:${port}/postgres`;
  const settings = ["-p", `${port}`, "-k", folder, "-h", "127.0.0.1", "-c", "max_connections=150"];
  if (!durable) settings.push("-c", "fsync=off", "-c", "synchronous_commit=off", "-c", "full_page_writes=off");
  const start = async () => {
    const server = spawn(join(bin, "postgres"), ["-D", data, ...settings], { ...as, cwd: folder, stdio: "ignore" });
    await answers(url, server);
    return server;
  };
  let server = await start();
  let watch = watchdog(server, folder);
  return {
    url,
    isOurs: true,
    killAndRestart: async () => {
      watch.kill("SIGKILL");
      await killTree(server);
      server = await start();
      watch = watchdog(server, folder);
    },
    stop: async () => {
      watch.kill("SIGKILL");
      const gone = new Promise((resolve) => server.once("exit", resolve));
      server.kill("SIGINT");
      await gone;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Stops the server when this process ends without doing so, however it ends: its end of the pipe is closed then. */
function watchdog(server: ChildProcess, folder: string): ChildProcess {
  const script = `cat; kill -INT ${server.pid}; sleep 2; rm -rf "${folder}"`;
  const watch = spawn("sh", ["-c", script], { stdio: ["pipe", "ignore", "ignore"], detached: true });
  watch.unref();
  return watch;
}

/** A pool whose lost idle connections are no event: the tests cut them on purpose. */
export function poolOf(url: string, max = 4): Pg.Pool {
  const pool = new pg.Pool({ connectionString: url, max });
  pool.on("error", () => undefined);
  return pool;
}

/**
 * Vitest gives its workers the condition "import", under which the `require("pg-pool")` inside `pg` finds the ES module of that
 * package, and not the class that it wants.
 */
function loadPg(): typeof Pg {
  const require = createRequire(import.meta.url);
  const path = createRequire(require.resolve("pg")).resolve("pg-pool");
  if (path.endsWith(".mjs")) {
    const found = require(path);
    const module = require.cache[path];
    if (module !== undefined) module.exports = found.default;
  }
  return require("pg");
}

/** One connection that nobody else uses; losing it is no event. */
export async function clientOf(url: string): Promise<Pg.Client> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => undefined);
  await client.connect();
  return client;
}

function binaries(): string | undefined {
  const root = "/usr/lib/postgresql";
  if (!existsSync(root)) return undefined;
  const versions = readdirSync(root).toSorted((a, b) => Number(b) - Number(a));
  return versions.map((version) => join(root, version, "bin")).find((bin) => existsSync(join(bin, "initdb")));
}

function unprivileged(): { uid: number; gid: number } | undefined {
  const users = readFileSync("/etc/passwd", "utf8").split("\n");
  for (const name of ["postgres", "nobody"]) {
    const [, , uid, gid] = users.find((line) => line.startsWith(`${name}:`))?.split(":") ?? [];
    if (uid !== undefined) return { uid: Number(uid), gid: Number(gid) };
  }
  return undefined;
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const address = probe.address();
      const port = typeof address === "object" && address !== null ? address.port : 0;
      probe.close(() => resolve(port));
    });
  });
}

async function answers(url: string, server: ChildProcess): Promise<void> {
  for (let attempt = 0; attempt < 300; attempt += 1) {
    if (server.exitCode !== null || server.signalCode !== null) {
      throw new Error(`PostgreSQL ended with ${server.exitCode ?? server.signalCode} before it answered`);
    }
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2000 });
    client.on("error", () => undefined);
    try {
      await client.connect();
      await client.end();
      return;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
  server.kill("SIGKILL");
  throw new Error("PostgreSQL did not answer within 15 s");
}

/** The server first, so that it cannot tidy up; then its children, which would hold its memory. */
async function killTree(server: ChildProcess): Promise<void> {
  const children = childrenOf(server.pid ?? -1);
  const gone = new Promise((resolve) => server.once("exit", resolve));
  server.kill("SIGKILL");
  await gone;
  for (const pid of children) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It ended by itself.
    }
  }
  while (children.some((pid) => existsSync(`/proc/${pid}`))) await new Promise((resolve) => setTimeout(resolve, 10));
}

function childrenOf(parent: number): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        // pid (name) state parent ...; a name may hold spaces and brackets.
        const [, after = ""] = /\) (.*)$/s.exec(readFileSync(`/proc/${name}/stat`, "utf8")) ?? [];
        return after.split(" ")[1] === String(parent) ? [Number(name)] : [];
      } catch {
        return [];
      }
    });
}
