// What a user installs, with npm and with each Node we support: the packed file without peers and with each peer alone, by `import`
// and by `require`. Needs the network. An entry point whose peers are there exports the pinned names; one whose peers are missing
// fails with the name of a missing package; the tool of a program runs, and approvals are kept by the SQLite that this Node has.
//   npm run tarball                        with this Node
//   npm run tarball -- --nodes=20,22,24    with these, fetched from npm where they are not the one that runs
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { readPins } from "./public-api.mjs";
import { nodeOf } from "./support/nodes.mjs";
import { builtEntries, faultsOf, pack, probe } from "./support/packed.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const { peerDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const PEERS = Object.keys(peerDependencies);
const pins = readPins(root);
const nodes = process.argv
  .find((argument) => argument.startsWith("--nodes="))
  ?.slice("--nodes=".length)
  .split(",");

/** What a program does with the package alone; the plain JSON Schema needs no peer. */
const PROGRAM = `
import { Executor, Registry } from "agent-adapter";
const registry = new Registry();
const inputSchema = { type: "object", properties: { a: { type: "number" } }, required: ["a"] };
registry.tool({ name: "double", description: "Doubles.", inputSchema, effects: "read", execute: ({ a }) => a * 2 });
console.log(await new Executor(registry).run("double", { a: 21 }));
`;
const KEEPS = `
import { openSqlite } from "agent-adapter/sqlite";
const { ledger, close } = await openSqlite("kept.db");
console.log((await ledger.totals()).calls);
await close();
`;

/**
 * A project that installed the packed file and these peers with npm.
 * @param {string} folder
 * @param {string} file
 * @param {string[]} peers
 */
function install(folder, file, peers) {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true }));
  const wanted = [file, ...peers.map((peer) => `${peer}@${peerDependencies[peer]}`)];
  execFileSync("npm", ["install", "--no-audit", "--no-fund", "--ignore-scripts", ...wanted], {
    cwd: folder,
    stdio: "pipe",
  });
  return PEERS.filter((peer) => existsSync(join(folder, "node_modules", peer)));
}

/**
 * @param {string} node
 * @param {string} folder
 * @param {string} program
 */
function run(node, folder, program) {
  const { stdout, stderr, status } = spawnSync(node, ["--input-type=module", "-e", program], {
    cwd: folder,
    encoding: "utf8",
  });
  return status === 0 ? stdout.trim() : `failed: ${stderr.trim()}`;
}

const work = mkdtempSync(join(tmpdir(), "agent-adapter-packed-"));
/** @type {string[]} */
const faults = [];
try {
  execFileSync("npm", ["run", "-s", "build"], { cwd: root });
  const { file, files, size } = pack(root, work);
  console.log(`packed: ${files.length} files, ${size} bytes`);
  const projects = [[], ...PEERS.map((peer) => [peer])].map((peers) => {
    const folder = join(work, peers.join().replaceAll("/", "-") || "without-peers");
    return { peers, folder, installed: install(folder, file, peers) };
  });
  for (const wanted of nodes ?? [process.versions.node]) {
    const found = nodeOf(wanted, join(root, ".tmp/nodes"));
    if ("reason" in found) {
      faults.push(`node ${wanted} did not run: ${found.reason}`);
      continue;
    }
    for (const project of projects)
      faults.push(...checked(found, project).map((fault) => `node ${found.version}, ${fault}`));
    console.log(`node ${found.version}: ${projects.length} projects, by import and by require`);
  }
} finally {
  rmSync(work, { recursive: true, force: true });
}
for (const fault of faults) console.error(fault);
console.log(faults.length === 0 ? "the packed file works" : `${faults.length} faults`);
process.exitCode = faults.length === 0 ? 0 : 1;

/**
 * @param {{ version: string, program: string }} node
 * @param {{ peers: string[], folder: string, installed: string[] }} project
 * @returns {string[]}
 */
function checked({ version, program }, { peers, folder, installed }) {
  const entries = builtEntries(join(folder, "node_modules/agent-adapter"));
  const names = entries.map(({ name }) => name);
  /** @type {string[]} */
  const problems = [];
  for (const by of /** @type {const} */ (["import", "require"])) {
    const found = probe({ node: program, folder, names, by });
    problems.push(...faultsOf(found, { entries, installed, pins }).map((fault) => `${by} ${fault}`));
  }
  const doubled = run(program, folder, PROGRAM);
  if (doubled !== "42") problems.push(`a tool gave ${doubled}`);
  // SQLite is in Node from 22 on; before that it is a peer.
  const hasSqlite = Number.parseInt(version, 10) >= 22 || installed.includes("libsql");
  const kept = run(program, folder, KEEPS);
  if (hasSqlite ? kept !== "0" : !/libsql/.test(kept)) problems.push(`openSqlite: ${kept}`);
  return problems.map((problem) => `${peers.join() || "without peers"}: ${problem}`);
}
