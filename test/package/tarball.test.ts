// What a user installs: the packed file, unpacked into a folder of its own, in a node process of its own. No network.
// Owns: the tarball's contents, what each entry point needs of the peers, that the core never loads LangChain, and that what esbuild
// and Vite make of each entry point runs. scripts/check-tarball.mjs does the same with npm, the network, and other versions of Node.
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { build as esbuild } from "esbuild";
import { build as vite } from "vite";
import { entryPoints, readPins } from "../../scripts/public-api.mjs";
import { builtEntries, faultsOf, pack, probe } from "../../scripts/support/packed.mjs";
import { repository } from "../support/temporary-copy.js";

const { peerDependencies } = JSON.parse(readFileSync(join(repository, "package.json"), "utf8")) as {
  peerDependencies: Record<string, string>;
};
const PEERS = Object.keys(peerDependencies);
const root = mkdtempSync(join(tmpdir(), "agent-adapter-tarball-"));
const packed: { files: string[] } = { files: [] };

/** A project that installed the tarball, its dependencies and the named peers. */
function project(name: string, peers: readonly string[]): string {
  const folder = join(root, name);
  const installed = join(folder, "node_modules/agent-adapter");
  mkdirSync(installed, { recursive: true });
  execFileSync("tar", ["-xzf", join(root, "agent-adapter.tgz"), "-C", installed, "--strip-components=1"]);
  const { dependencies } = JSON.parse(readFileSync(join(installed, "package.json"), "utf8")) as {
    dependencies: Record<string, string>;
  };
  for (const dependency of [...Object.keys(dependencies), ...peers]) {
    mkdirSync(join(folder, "node_modules", dependency, ".."), { recursive: true });
    symlinkSync(join(repository, "node_modules", dependency), join(folder, "node_modules", dependency), "dir");
  }
  return folder;
}

function node(folder: string, ...options: string[]): string {
  return execFileSync(process.execPath, options, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

const importNames = (entry: string) =>
  `console.log(JSON.stringify(Object.keys(await import(${JSON.stringify(entry)})).sort()))`;

beforeAll(() => {
  const copy = join(root, "copy");
  const decoys = { "test/decoy.test.ts": "", "examples/decoy.ts": "", ".env": "" };
  for (const path of [
    "package.json",
    ".gitignore",
    "LICENSE",
    "README.md",
    "src",
    "tsconfig.json",
    "tsconfig.build.json",
  ]) {
    cpSync(join(repository, path), join(copy, path), { recursive: true });
  }
  for (const [path, text] of Object.entries(decoys)) {
    mkdirSync(join(copy, path, ".."), { recursive: true });
    writeFileSync(join(copy, path), text);
  }
  symlinkSync(join(repository, "node_modules"), join(copy, "node_modules"), "dir");
  const compiler = join(repository, "node_modules/typescript/bin/tsc");
  execFileSync(process.execPath, [compiler, "-p", "tsconfig.build.json"], { cwd: copy });
  const { file, files } = pack(copy, root);
  packed.files = files;
  cpSync(file, join(root, "agent-adapter.tgz"));
}, 300_000);

afterAll(() => rmSync(root, { recursive: true, force: true }));

test("the tarball holds dist and src of every entry point, and neither tests nor anything private", () => {
  const { exports } = JSON.parse(readFileSync(join(repository, "package.json"), "utf8")) as {
    exports: Record<string, Record<string, string>>;
  };
  for (const [name, conditions] of Object.entries(exports)) {
    if (name === "./package.json") continue;
    for (const target of Object.values(conditions)) expect(packed.files).toContain(target.replace("./", ""));
  }
  const folders = new Set(packed.files.map((path) => path.replace(/\/.*/, "")));
  expect([...folders].toSorted()).toEqual(["LICENSE", "README.md", "dist", "package.json", "src"]);
});

describe("what each entry point needs", { timeout: 300_000 }, () => {
  test("the peers that each entry point imports are these", () => {
    const needs = builtEntries(join(project("needs", []), "node_modules/agent-adapter")).map(({ entry, peers }) => [
      entry,
      peers,
    ]);
    expect(Object.fromEntries(needs)).toEqual({
      ".": [],
      "./flow": [],
      "./spi": [],
      "./langgraph": ["@langchain/core", "@langchain/langgraph", "zod"],
      "./langchain": ["@langchain/core"],
      "./langchain/agents": ["@langchain/core", "@langchain/langgraph", "langchain", "zod"],
      "./opentelemetry": ["@opentelemetry/api"],
      "./sqlite": [],
      "./postgres": [],
      "./testing": [],
    });
  });

  const projects = [[], ...PEERS.map((peer) => [peer]), PEERS].map((installed) => ({
    installed,
    title: installed.join(", ") || "no peer",
  }));
  test.each(projects)(
    "with $title, by import and by require an entry point exports its names or says which peer is missing",
    ({ installed }) => {
      const folder = project(`with-${installed.join().replaceAll("/", "-")}`, installed);
      const entries = builtEntries(join(folder, "node_modules/agent-adapter"));
      const names = entries.map(({ name }) => name);
      for (const by of ["import", "require"] as const) {
        const found = probe({ folder, names, by });
        expect(faultsOf(found, { entries, installed, pins: readPins(repository) })).toEqual([]);
      }
    },
  );
});

describe("bundles", { timeout: 300_000 }, () => {
  const ENTRY = "entry.js";
  const bundlers = {
    esbuild: (folder: string, out: string) =>
      esbuild({
        absWorkingDir: folder,
        entryPoints: [ENTRY],
        bundle: true,
        format: "esm",
        platform: "node",
        external: PEERS,
        outfile: out,
        logLevel: "error",
      }),
    vite: (folder: string, out: string) =>
      vite({
        root: folder,
        configFile: false,
        logLevel: "error",
        ssr: { noExternal: ["agent-adapter", /cfworker/], external: PEERS },
        build: { ssr: ENTRY, outDir: ".", emptyOutDir: false, rollupOptions: { output: { entryFileNames: out } } },
      }),
  };

  test.each(Object.keys(bundlers) as (keyof typeof bundlers)[])(
    "what %s makes of each entry point runs without the package and exports the pinned names",
    async (bundler) => {
      for (const { name } of entryPoints(repository)) {
        const slug = name.replaceAll(/[^a-z]/g, "-");
        const folder = project(`${bundler}-${slug}`, PEERS);
        const text = `import * as all from "${name.replace(".", "agent-adapter")}";
          globalThis.process.stdout.write(JSON.stringify(Object.keys(all).sort()));`;
        writeFileSync(join(folder, ENTRY), text);
        await bundlers[bundler](folder, "bundle.mjs");
        rmSync(join(folder, "node_modules/agent-adapter"), { recursive: true });
        rmSync(join(folder, "node_modules/@cfworker"), { recursive: true });
        expect(JSON.parse(node(folder, "bundle.mjs")), `${bundler}: ${name}`).toEqual(
          readPins(repository)[name]?.values,
        );
      }
    },
  );

  test.each(Object.keys(bundlers) as (keyof typeof bundlers)[])("a tool runs in a bundle of %s", async (bundler) => {
    const folder = project(`${bundler}-program`, []);
    const program = `import { Executor, Registry } from "agent-adapter";
      const registry = new Registry();
      const inputSchema = { type: "object", properties: { a: { type: "number" } }, required: ["a"] };
      registry.tool({ name: "double", description: "Doubles.", inputSchema, effects: "read", execute: ({ a }) => a * 2 });
      console.log(await new Executor(registry).run("double", { a: 21 }));`;
    writeFileSync(join(folder, ENTRY), program);
    await bundlers[bundler](folder, "bundle.mjs");
    rmSync(join(folder, "node_modules"), { recursive: true });
    expect(node(folder, "bundle.mjs").trim()).toBe("42");
  });
});

describe("with the peers", { timeout: 300_000 }, () => {
  test("S9: every entry point imports, and the core loads neither LangChain nor zod", () => {
    const folder = project("full", PEERS);
    const log = join(folder, "loaded.txt");
    // A loader that writes down every module that is resolved.
    const hook = `import { appendFileSync } from "node:fs";
      export async function resolve(specifier, context, next) {
        const result = await next(specifier, context);
        appendFileSync(${JSON.stringify(log)}, result.url + "\\n");
        return result;
      }`;
    writeFileSync(join(folder, "hook.mjs"), hook);
    const register = 'import { register } from "node:module"; register("./hook.mjs", import.meta.url);';
    writeFileSync(join(folder, "register.mjs"), register);
    const loadedBy = (entry: string): string => {
      writeFileSync(log, "");
      node(folder, "--import", "./register.mjs", "--input-type=module", "-e", importNames(entry));
      return readFileSync(log, "utf8");
    };
    const core = loadedBy("agent-adapter");
    expect(core).toMatch(/agent-adapter\/dist\/index\.js/);
    expect(core).not.toMatch(/node_modules\/(@langchain|langchain|zod)\//);
    expect(loadedBy("agent-adapter/langgraph"), "the loader sees what is loaded").toMatch(/node_modules\/@langchain\//);
    for (const { name } of entryPoints(repository)) {
      const entry = name.replace(".", "agent-adapter");
      const names = JSON.parse(node(folder, "--input-type=module", "-e", importNames(entry))) as string[];
      expect(names).toEqual(readPins(repository)[name]?.values);
    }
  });
});
