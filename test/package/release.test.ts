// Releases: what a workflow runs is pinned and may do no more than it must, and every change that is not released has its file.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { repository } from "../support/temporary-copy.js";

const text = (path: string) => readFileSync(join(repository, path), "utf8");
const workflows = readdirSync(join(repository, ".github/workflows")).map((name) => `.github/workflows/${name}`);
const manifest = JSON.parse(text("package.json")) as { name: string; version: string; [field: string]: unknown };

/** The `uses:` lines that are not pinned to a commit, with the version beside it for whoever reads it. */
function unpinned(workflow: string): string[] {
  const uses = workflow.split("\n").filter((line) => /\buses:/.test(line));
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

test("only the release job writes, and only after everything passed in the same run", () => {
  const [verify = "", release = ""] = text(".github/workflows/release.yml").split(/^ {2}release:$/m);
  expect(verify).toMatch(/bash \.ci\/run/);
  expect(verify).not.toMatch(/: write|secrets\./);
  expect(release).toMatch(/needs: verify/);
  expect(release).toMatch(/NPM_CONFIG_PROVENANCE: "true"/);
  expect(text(".github/workflows/ci.yml")).not.toMatch(/: write|secrets\./);
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
