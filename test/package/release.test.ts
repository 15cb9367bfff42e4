// Releases: what a workflow runs is pinned and may do no more than it must, and every change that is not released has its file.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { repository } from "../support/temporary-copy.js";

const text = (path: string) => readFileSync(join(repository, path), "utf8");
const workflows = readdirSync(join(repository, ".github/workflows")).map((name) => `.github/workflows/${name}`);
const manifest = JSON.parse(text("package.json")) as Manifest;

type Manifest = {
  readonly name: string;
  readonly version: string;
  readonly scripts: Readonly<Record<string, string>>;
  readonly [field: string]: unknown;
};
type Tool = { readonly devDependencies: Readonly<Record<string, string>> };
type Lock = { readonly packages: Readonly<Record<string, { readonly version?: string; readonly integrity?: string }>> };

/** The `uses:` lines of others that are not pinned to a commit, with the version beside it for whoever reads it. */
function unpinned(workflow: string): string[] {
  const uses = workflow.split("\n").filter((line) => /\buses: (?!\.\/)/.test(line));
  return uses.filter((line) => !/uses: [\w-]+\/[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(line));
}

test.each(workflows)("%s pins every action to a commit and gives no job what it does not need", (path) => {
  const workflow = text(path);
  expect(workflow).toMatch(/\buses:/);
  expect(unpinned(workflow)).toEqual([]);
  expect(workflow).toMatch(/^permissions: \{\}$/m);
  expect(workflow).not.toMatch(/write-all|pull_request_target/);
  // Each checkout but the one that pushes leaves no credentials behind.
  const [quiet, all] = [/persist-credentials: false/g, /actions\/checkout@/g].map(
    (it) => workflow.match(it)?.length ?? 0,
  );
  expect(quiet).toBe((all ?? 0) - (path.endsWith("release.yml") ? 1 : 0));
});

test("a tag, a branch and a short commit are not pins", () => {
  for (const version of ["v7", "main", "3d3c42e", "3d3c42e5aac5ba805825da76410c181273ba90b1"]) {
    expect(unpinned(`      - uses: actions/checkout@${version}`)).toHaveLength(1);
  }
  expect(unpinned("      - uses: actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1")).toEqual([]);
});

test("only the release job writes, and only after all of CI passed in the same run", () => {
  const ci = text(".github/workflows/ci.yml");
  const [before = "", release = ""] = text(".github/workflows/release.yml").split(/^ {2}release:$/m);
  expect(before).toMatch(
    /^ {2}ci:\n {4}uses: \.\/\.github\/workflows\/ci\.yml\n {4}permissions:\n {6}contents: read\n\n$/m,
  );
  expect(before).not.toMatch(/: write|secrets/);
  expect(release).toMatch(/^ {4}needs: ci$/m);
  expect(release).toMatch(/NPM_CONFIG_PROVENANCE: "true"/);
  expect(release).not.toMatch(/^ {4}if:|continue-on-error|always\(\)/m);
  expect(ci).toMatch(/bash \.ci\/run/);
  expect(ci).not.toMatch(/: write|secrets|continue-on-error/);
});

test("a push to main runs everything once, and a pull request does", () => {
  const triggered = (event: string) => workflows.filter((path) => new RegExp(`^  ${event}:$`, "m").test(text(path)));
  expect(triggered("push")).toEqual([".github/workflows/release.yml"]);
  expect(triggered("pull_request")).toEqual([".github/workflows/ci.yml"]);
  expect(text(".github/workflows/release.yml")).not.toContain(".ci/run\n");
});

test("what runs beside the npm token is locked: no npx, and the release tool comes from its own lock file", () => {
  const scripts = Object.entries(manifest.scripts).filter(([name]) => /^(release:|changeset$)/.test(name));
  expect(scripts.map(([name]) => name)).toEqual(["release:install", "changeset", "release:version", "release:publish"]);
  for (const [, script] of scripts) expect(script).not.toMatch(/\bnpx\b|npm (?:exec|x)\b/);
  for (const [name, script] of scripts.slice(1)) {
    expect([name, script.startsWith("npm run -s release:install && release/node_modules/.bin/changeset")]).toEqual([
      name,
      true,
    ]);
  }
  for (const path of [".github/workflows/release.yml", "scripts/publish.sh"]) {
    expect(text(path)).not.toMatch(/\bnpx\b|npm (?:exec|x)\b|npm install\b/);
  }
  const wanted = (JSON.parse(text("release/package.json")) as Tool).devDependencies["@changesets/cli"];
  const locked = (JSON.parse(text("release/package-lock.json")) as Lock).packages;
  expect(locked["node_modules/@changesets/cli"]?.version).toBe(wanted);
  const loose = Object.entries(locked).filter(([name, { integrity }]) => name !== "" && integrity === undefined);
  expect(loose).toEqual([]);
});

test("every changeset names this package and a kind of version, and says something", () => {
  const files = readdirSync(join(repository, ".changeset")).filter(
    (name) => name.endsWith(".md") && name !== "README.md",
  );
  const form = /^---\n"agent-adapter": (major|minor|patch)\n---\n\n\S/;
  expect(files.filter((name) => !form.test(text(`.changeset/${name}`)))).toEqual([]);
  // Before the first release there is at least one; a released version has a section of its own.
  const isTold = text("CHANGELOG.md").includes(`\n## ${manifest.version}\n`);
  expect(manifest.version === "0.0.0" ? files.length > 0 : isTold).toBe(true);
});

test("package.json has what npm shows, and names no place that does not exist", () => {
  const shown = ["name", "version", "description", "license", "keywords", "engines", "files", "exports"];
  expect(Object.keys(manifest)).toEqual(expect.arrayContaining(shown));
  expect(manifest["publishConfig"]).toEqual({ access: "public" });
  expect(existsSync(join(repository, "LICENSE"))).toBe(true);
  // The release workflow writes the repository it runs in; nobody else knows it.
  expect(Object.keys(manifest).filter((field) => ["repository", "homepage", "bugs"].includes(field))).toEqual([]);
  expect(text("scripts/publish.sh")).toMatch(/npm pkg set repository\.type=git/);
});
