// What holds for every page, whatever it says: its links lead somewhere, its code is compiled and run, its output was printed.
import { execFile } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { join, posix } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { pages } from "../../scripts/support/blocks.mjs";
import { partOf, syncOutputs } from "../../scripts/sync-outputs.mjs";
import { repository } from "../support/temporary-copy.js";
import { page } from "./run-example.js";

const run = promisify(execFile);
const PAGES = pages(repository);
/** Pages that somebody wrote. The API reference is made of docstrings: their examples are compiled by `npm run docstrings`, and its
 * numbered anchors are followed in a browser by the site's `npm run look`. */
const WRITTEN = PAGES.filter((name) => !name.startsWith("docs/reference/api/"));

/** A page without its code: what stands in fences and backquotes is no link and no heading. */
const prose = (text: string) =>
  text
    .replaceAll(/^(```+)[^\n]*\n[\s\S]*?^\1$/gm, "")
    .replaceAll(/`[^`\n]*`/g, (code) => code.replaceAll(/[[\]()]/g, ""));

/** The anchors of a page: of headings whose anchor is the same on GitHub and where every sign becomes a hyphen. */
function anchorsOf(text: string): Set<string> {
  const seen = new Map<string, number>();
  const titles = [...prose(text).matchAll(/^#{1,6} (.+)$/gm)].map(([, title = ""]) =>
    title.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1").toLowerCase(),
  );
  const anchors = titles.map((title) => {
    const onGitHub = title.replaceAll(/[^\p{L}\p{N}\s_-]/gu, "").replaceAll(" ", "-");
    const before = seen.get(onGitHub) ?? 0;
    seen.set(onGitHub, before + 1);
    const elsewhere = title.replaceAll(/[^\p{L}\p{N}]+/gu, "-").replaceAll(/^-|-$/g, "");
    return onGitHub === elsewhere && before === 0 ? [onGitHub] : [];
  });
  return new Set(anchors.flat());
}

/** The links of a page that lead nowhere; those to other sites are not followed. */
function deadLinks(name: string, text: string): string[] {
  return [...prose(text).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = ""]) => target)
    .filter((target) => !/^https?:/.test(target))
    .filter((target) => {
      const [path = "", anchor] = target.split("#");
      const file = path === "" ? name : posix.join(posix.dirname(name), path);
      if (!existsSync(join(repository, file))) return true;
      if (anchor === undefined) return false;
      if (statSync(join(repository, file)).isDirectory()) return true;
      return !anchorsOf(file === name ? text : page(file)).has(anchor);
    })
    .map((target) => `${name}: ${target}`);
}

/** The fenced blocks of a page in a language that runs, which no snippet block surrounds. */
function looseCode(name: string, text: string): string[] {
  const rest = text.replaceAll(/^<!-- snippet: .*-->$[\s\S]*?^<!-- \/snippet -->$/gm, "");
  return [...rest.matchAll(/^ *```(ts|tsx|js|mjs|typescript|javascript)\b.*\n(.*)/gm)].map(
    ([, , first = ""]) => `${name}: ${first}`,
  );
}

describe("every page", () => {
  test("links to files and headings that exist", () => {
    expect(PAGES.length).toBeGreaterThan(25);
    expect(WRITTEN.flatMap((name) => deadLinks(name, page(name)))).toEqual([]);
  });

  test("has no code that is not a part of an example", () => {
    expect(WRITTEN.flatMap((name) => looseCode(name, page(name)))).toEqual([]);
  });

  test("shows what the examples print", { timeout: 600_000 }, async () => {
    // Not the synchronous kind: that would keep the test runner waiting for as long.
    const check = await run(process.execPath, ["scripts/sync-outputs.mjs", "--check"], { cwd: repository });
    expect(check.stderr).toBe("");
    expect(check.stdout).toMatch(/^outputs: [1-9]\d* as printed/);
  });

  test("is within two links of docs/index.md", () => {
    const from = (name: string) =>
      [...prose(page(name)).matchAll(/\]\(([^)\s#]+\.md)/g)].map(([, to = ""]) => posix.join(posix.dirname(name), to));
    const first = from("docs/index.md");
    const reached = new Set([...first, ...first.filter((name) => existsSync(join(repository, name))).flatMap(from)]);
    const written = WRITTEN.filter((name) => name.startsWith("docs/"));
    const lost = written.filter((name) => name !== "docs/index.md" && !reached.has(name));
    expect(lost).toEqual([]);
  });
});

describe("the checks above find", () => {
  test("a file, a heading of this page and one of another page that do not exist", () => {
    const text =
      "# One\n[a](none.md) [b](#one) [c](#two) [d](docs/guarantees.md#nothing) [e](https://example.org) `[f](g)`";
    expect(deadLinks("README.md", text)).toEqual([
      "README.md: none.md",
      "README.md: #two",
      "README.md: docs/guarantees.md#nothing",
    ]);
  });

  test("headings once, with the same anchor everywhere, and none in code", () => {
    const text = "## `toolNode` options\n## Read, and write\n## A: b/c\n## Read, and write\n```sh\n# no heading\n```\n";
    expect([...anchorsOf(text)]).toEqual(["toolnode-options", "read-and-write"]);
  });

  test("code outside of snippets", () => {
    expect(
      looseCode("a.md", "<!-- snippet: x.ts -->\n```ts\na();\n```\n<!-- /snippet -->\n```ts\nb();\n```\n"),
    ).toEqual(["a.md: b();"]);
  });

  test("output that is not printed, but for hashes", () => {
    const output = "first\n  a  1\n\nSecond: it\n  b  deadbeef00\n";
    const block = (inside: string, part = "") =>
      `<!-- output: x.ts${part} -->\n\`\`\`text\n${inside}\n\`\`\`\n<!-- /output -->`;
    expect(partOf(output, "second")).toEqual(["Second: it", "  b  deadbeef00"]);
    const same = block("Second: it\n  b  0badcafe", "#second");
    expect(syncOutputs(same, () => output).text).toBe(same);
    const stale = block("Second: it\n  c", "#second");
    expect(syncOutputs(stale, () => output).text).toBe(block("Second: it\n  b  deadbeef00", "#second"));
    expect(syncOutputs(block("", "#third"), () => output).problems[0]).toContain("no such section");
    expect(syncOutputs(block(""), () => undefined).problems[0]).toContain("it does not run");
  });
});
