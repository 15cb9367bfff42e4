// The table of sizes: what grew by more than a tenth, is missing or is gone is out of step.
import { expect, test } from "vitest";
import { outgrown } from "../../scripts/sizes.mjs";

const PAGE = `# Sizes

| packed file | unpacked | files |
| ---: | ---: | ---: |
| 1,000 | 4,000 | 10 |

| entry point | bundled | minified | minified, gzip |
| --- | ---: | ---: | ---: |
| \`agent-adapter\` | 2,000 | 1,000 | 500 |
`;
const SIZES = { "packed file": [1000], unpacked: [4000], files: [10], "agent-adapter": [2000, 1000, 500] };

test("as large as the page says, smaller, or a tenth larger is in step", () => {
  expect(outgrown(PAGE, SIZES)).toEqual([]);
  expect(outgrown(PAGE, { ...SIZES, "packed file": [1], "agent-adapter": [2200, 1100, 550] })).toEqual([]);
});

test("more than that, an entry point that the page lacks, and one that is gone are not", () => {
  expect(outgrown(PAGE, { ...SIZES, "packed file": [1101] })).toEqual([
    expect.stringContaining("packed file: 1101 bytes"),
  ]);
  expect(outgrown(PAGE, { ...SIZES, "agent-adapter": [2000, 1000, 551] })).toHaveLength(1);
  expect(outgrown(PAGE, { ...SIZES, "agent-adapter/flow": [1, 1, 1] })).toEqual([
    expect.stringContaining("agent-adapter/flow"),
  ]);
  const { "agent-adapter": _gone, ...rest } = SIZES;
  expect(outgrown(PAGE, rest)).toEqual([expect.stringContaining("no such entry point")]);
  expect(outgrown("", SIZES)).toHaveLength(4);
});
