// docs/security-model.md: every point of OWASP AISVS C9.2 has a row, and each row has a test or says that we do not do it.
import { expect, test } from "vitest";
import { page } from "./run-example.js";

const text = page("docs/security-model.md");
const rowsOf = (title: string) =>
  (text.split(`\n## ${title}\n`)[1]?.split("\n## ")[0] ?? "")
    .split("\n")
    .filter((line) => line.startsWith("| "))
    .slice(1)
    .map((line) => line.split("|").map((cell) => cell.trim()));
const TEST = /\]\(\.\.\/test\/\S+\.test\.ts\)/;

test("every point of C9.2 is answered by tests, or by the plain statement that we do not do it", () => {
  const rows = rowsOf("OWASP AISVS 1.0, C9.2");
  expect(rows.map(([, point]) => point)).toEqual(Array.from({ length: 10 }, (_, index) => `9.2.${index + 1}`));
  for (const [, point, , here = "", tests = ""] of rows) {
    expect({ point, kind: /^(yes|partly|we do not do this)/.test(here) }).toEqual({ point, kind: true });
    expect({ point, told: here.startsWith("we do not") || TEST.test(tests) }).toEqual({ point, told: true });
  }
});

test("whoever cannot do something has tests that try it", () => {
  const rows = rowsOf("Who, and what they can do");
  expect(rows.length).toBeGreaterThan(7);
  for (const [, who, , cannot = "", tests = ""] of rows) {
    expect({ who, told: cannot === "" || TEST.test(tests) }).toEqual({ who, told: true });
  }
});
