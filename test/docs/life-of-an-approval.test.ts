// docs/guide/life-of-an-approval.md is the table of src/approvals/transitions.ts in words: neither says more than the other.
import { describe, expect, test } from "vitest";
import { TRANSITIONS } from "../../src/approvals/transitions.js";
import { page } from "./run-example.js";

const text = page("docs/guide/life-of-an-approval.md");
const sectionOf = (title: string) => text.split(`\n## ${title}\n`)[1]?.split("\n## ")[0] ?? "";
/** Rows of a table as the code words that their cells begin with. */
const wordsOf = (table: string) =>
  table
    .split("\n")
    .filter((line) => line.startsWith("| `"))
    .map((line) => line.split("|").map((cell) => /^ `([a-z-]+)`/.exec(cell)?.[1] ?? ""));
const ANYWHERE = new Set(["task-finished", "foreign-interrupt", "seal-broken", "other-task-run"]);

const rules = Object.entries(TRANSITIONS).flatMap(([state, row]) =>
  Object.entries(row).map(([event, { to, action }]) => ({ state, event, action, to })),
);

describe("the page and the table of transitions", () => {
  test("have the same states", () => {
    const rows = wordsOf(sectionOf("The states")).map(([, state = ""]) => state);
    expect(rows.toSorted()).toEqual(Object.keys(TRANSITIONS).toSorted());
  });

  test("have the same events, actions and next states", () => {
    const rows = wordsOf(sectionOf("What can happen")).filter((cells) => cells.length > 5);
    expect(rows.map(([, state, event, action, to]) => ({ state, event, action, to }))).toEqual(
      rules.filter(({ event }) => !ANYWHERE.has(event)),
    );
  });

  test("agree about what is the same in every state", () => {
    const rows = wordsOf(sectionOf("What can happen")).filter((cells) => cells.length < 6);
    expect(rows.map(([, event = ""]) => event).toSorted()).toEqual([...ANYWHERE].toSorted());
    for (const [, event, action] of rows) {
      const found = rules.filter((rule) => rule.event === event);
      expect(found.map((rule) => rule.action)).toEqual(Object.keys(TRANSITIONS).map(() => action));
    }
  });

  test("draw every change of state, and no other", () => {
    const drawn = [...text.matchAll(/^ {2}(\w+) --> (\w+): ([a-z-]+)$/gm)].map(
      ([, from, to, event]) => `${from} ${event} ${to}`,
    );
    const changes = rules
      .filter(({ state, event, to }) => state !== to && !ANYWHERE.has(event))
      .map(({ state, event, to }) => `${state} ${event} ${to}`);
    expect(drawn.toSorted()).toEqual(changes.toSorted());
  });
});
