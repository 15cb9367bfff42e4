// The public surface: every entry point exists, names what it exports, and exports what test/package/public-api.json says.
// A change of the surface is a change of that file: `npm run api -- --update`, then review the diff.
import { existsSync } from "node:fs";
import { relative } from "node:path";
import { expect, test } from "vitest";
import { entryPoints, readPins, readSurface } from "../../scripts/public-api.mjs";
import { repository, temporaryCopy } from "../support/temporary-copy.js";

const pins = readPins(repository);

test("every pinned entry point is still one, and the other way round", () => {
  const names = entryPoints(repository).map(({ name }) => name);
  expect(Object.keys(pins).toSorted()).toEqual(names.toSorted());
});

test.each(entryPoints(repository))("entry point $name exports the pinned names and nothing else", async (entry) => {
  const file = relative(repository, entry.source);
  if (!existsSync(entry.source)) throw new Error(`package.json exports ${entry.name}, but ${file} does not exist`);
  const { surface, problems } = readSurface(entry.source);
  expect(problems).toEqual([]);
  expect(surface, "changed on purpose? npm run api -- --update").toEqual(pins[entry.name]);
  const loaded = (await import(entry.source)) as Record<string, unknown>;
  expect(Object.keys(loaded).toSorted()).toEqual(surface.values);
});

test("a public file is read as values and types, and anything unnamed is a problem", () => {
  const read = (text: string) => readSurface(`${temporaryCopy([], { "index.ts": text })}/index.ts`);
  const list = 'export { b, type C } from "./x.js";\nexport type { D } from "./y.js";\n';
  const own = "export const a = 1, e = 2;\nexport function f() {}\nexport interface G {}\nexport class H {}\n";
  expect(read(list + own)).toEqual({
    surface: { values: ["H", "a", "b", "e", "f"], types: ["C", "D", "G"] },
    problems: [],
  });
  for (const text of ['export * from "./x.js";', 'export * as x from "./x.js";', "export default 1;"]) {
    expect(read(text).problems).toHaveLength(1);
  }
});
