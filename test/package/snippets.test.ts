// Snippets in pages: copied from marked regions, and a stale page is caught.
import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { regionOf, syncPage } from "../../scripts/sync-snippets.mjs";
import { repository, temporaryCopy } from "../support/temporary-copy.js";

const script = join(repository, "scripts/sync-snippets.mjs");
const source = "before();\n  // region: pay\n  if (ok) {\n    pay();\n  }\n  // endregion\nafter();\n";
const block = (name: string, inside: string) => `text\n<!-- snippet: ${name} -->\n${inside}<!-- /snippet -->\nmore\n`;
const fresh = block("examples/pay.ts#pay", "```ts\nif (ok) {\n  pay();\n}\n```\n");

test("a region is written into its block without its indentation, and twice is the same", () => {
  const root = temporaryCopy([], {
    "examples/pay.ts": source,
    "README.md": block("examples/pay.ts#pay", "old\n"),
    "docs/guide/pay.md": block("examples/pay.ts#pay", ""),
    "docs/plain.md": "no snippet\n",
  });
  execFileSync(process.execPath, [script, root]);
  expect(readFileSync(join(root, "README.md"), "utf8")).toBe(fresh);
  expect(readFileSync(join(root, "docs/guide/pay.md"), "utf8")).toBe(fresh);
  expect(syncPage(root, fresh)).toEqual({ text: fresh, problems: [], count: 1 });
});

test("the check passes on a fresh page, fails on a stale one and rewrites nothing", () => {
  const root = temporaryCopy([], { "examples/pay.ts": source, "README.md": fresh });
  const check = () => spawnSync(process.execPath, [script, root, "--check"], { encoding: "utf8" });
  expect(check().status).toBe(0);
  writeFileSync(join(root, "examples/pay.ts"), source.replace("pay();", "refund();"));
  expect(check()).toMatchObject({ status: 1, stderr: expect.stringContaining("README.md: stale") });
  expect(readFileSync(join(root, "README.md"), "utf8")).toBe(fresh);
});

test("a missing file, a missing region and an open block are named and left alone", () => {
  const root = temporaryCopy([], { "examples/pay.ts": source });
  for (const name of ["examples/none.ts", "examples/pay.ts#none"]) {
    const page = block(name, "old\n");
    expect(syncPage(root, page)).toMatchObject({ text: page, problems: [expect.stringContaining("no such file")] });
  }
  const open = `<!-- snippet: examples/pay.ts#pay -->\nold\n${fresh}`;
  expect(syncPage(root, open).problems).toEqual([expect.stringContaining("no <!-- /snippet -->")]);
});

test("regions nest, and their markers never reach the page", () => {
  const nested = "// region: a\none\n// region: b\ntwo\n// endregion\nthree\n// endregion\n";
  expect(regionOf(nested, "a")).toEqual(["one", "two", "three"]);
  expect(regionOf(nested, "b")).toEqual(["two"]);
  expect(regionOf(nested, undefined)).toEqual(["one", "two", "three"]);
  expect(regionOf("// region: a\none\n", "a")).toBeUndefined();
});
