// What a user installs: the packed file, unpacked into a folder of its own, in a node process of its own. No network.
// Owns: the tarball's contents, that the core runs without any optional peer, and that it never loads LangChain.
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { entryPoints, readPins } from "../../scripts/public-api.mjs";
import { repository } from "../support/temporary-copy.js";

const PEERS = ["@langchain/core", "@langchain/langgraph", "@opentelemetry/api", "langchain", "zod"];
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
  const output = execFileSync("npm", ["pack", "--json", "--ignore-scripts", "--offline", "--pack-destination", root], {
    cwd: copy,
    encoding: "utf8",
  });
  const [{ filename, files }] = JSON.parse(output) as [{ filename: string; files: { path: string }[] }];
  packed.files = files.map(({ path }) => path);
  cpSync(join(root, filename), join(root, "agent-adapter.tgz"));
}, 60_000);

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

describe("without any optional peer", { timeout: 30_000 }, () => {
  test("the core imports, by import and by require", () => {
    const folder = project("bare", []);
    const names = JSON.parse(node(folder, "--input-type=module", "-e", importNames("agent-adapter"))) as string[];
    expect(names).toEqual(readPins(repository)["."]?.values);
    const required = node(folder, "-e", 'console.log(typeof require("agent-adapter").defineTool)');
    expect(required.trim()).toBe("function");
  });
});

describe("with the peers", { timeout: 30_000 }, () => {
  test("every entry point imports, and the core loads neither LangChain nor zod", () => {
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
