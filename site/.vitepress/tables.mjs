// Tables: a column of prose must stay readable where the table is wider than the screen. CSS cannot tell a sentence from a word.

/** Characters from which a cell is prose. */
const PROSE = 60;

/** @param {import("markdown-it")} md */
export function proseCells(md) {
  md.core.ruler.push("prose-cells", ({ tokens }) => {
    tokens.forEach((token, index) => {
      if (token.type !== "td_open") return;
      if ((tokens[index + 1]?.content.length ?? 0) >= PROSE) token.attrJoin("class", "prose");
    });
  });
}
