// The two tables of docs/reference/attacks.md, made of the attacks as data: what the page says is what the test expects.
import { ATTACKS, type Attack, type Outcome } from "./attacks.js";

export const CONFIGURATIONS = [
  { name: "without claims", withClaims: false, expected: ({ without }: Attack): Outcome => without },
  {
    name: "with claims",
    withClaims: true,
    expected: ({ without, withClaims = without }: Attack): Outcome => withClaims,
  },
] as const;

/** What the page has between its markers. */
export function publishedTable(page: string, name: string): string | undefined {
  return page.split(`<!-- table: ${name} -->\n`)[1]?.split("<!-- /table -->")[0]?.trim();
}

const WORDS: Readonly<Record<string, string>> = {
  refused: "refused: LangGraph's invalid resume; the request still stands",
  asked: "a human is asked",
  "not signed": "nothing is signed: `resumeValue` and `toReviewRequest` refuse it",
  finished: "the run is at its end",
};

export function tableOf(expected: (attack: Attack) => Outcome): string {
  const lines = ["| the attacker | what happens | the tool runs |", "|---|---|---|"];
  for (const [group, attacks] of Object.entries(ATTACKS)) {
    lines.push(`| **${group}** | | |`);
    for (const attack of attacks) {
      const { happens, runs } = expected(attack);
      const again = runs > attack.approved;
      const ended = again ? "**the answer is used again**" : (WORDS[happens] ?? `\`${happens}\``);
      lines.push(`| ${attack.what} | ${ended} | ${runsIn(attack.approved, runs)} |`);
    }
  }
  return lines.join("\n");
}

function runsIn(approved: number, runs: number): string {
  if (runs > approved) return "**once more than it was approved**";
  return approved === 0 ? "never" : "once, as it was approved";
}
