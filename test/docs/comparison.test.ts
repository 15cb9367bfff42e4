// docs/comparison.md is measured by hand (`npm run compare`): it must be made again whenever the cases of the kit change.
import { expect, test } from "vitest";
import { ATTACK_CASES } from "agent-adapter/testing";
import { page } from "./run-example.js";

const text = page("docs/comparison.md");

test("the comparison has a row for each case of the kit, in its order, and no other", () => {
  const rows = [...text.matchAll(/^\| `([^`]+)` \|/gm)].map(([, id]) => id);
  expect(rows).toEqual(ATTACK_CASES.map(({ id }) => id));
});

test("the comparison says of each case what the kit says of it", () => {
  const lines = [...text.matchAll(/^- `([^`]+)`: (.*) Expected: (.*)\.$/gm)].map(([, id, ...said]) => [id, ...said]);
  const also = (outcome: string | undefined) => (outcome === undefined ? "" : `, or ${outcome}`);
  expect(lines).toEqual(
    ATTACK_CASES.map(({ id, title, expected, alsoRight }) => [id, `${title}.`, `${expected}${also(alsoRight)}`]),
  );
});
