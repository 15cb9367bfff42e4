// docs/reference/proofs.md and the links to it in docs/guarantees.md: which test files cite a promise. Owns both texts, made
// from the table and the citations; what a citation is, is said in ../check-guarantees.mjs.

/**
 * @typedef {{ id: string, promise: string, part: string, delivered: string }} Row
 * @typedef {{ reference: string, place: string }} Citation
 */

const HEAD = `# The tests behind each promise

Every promise of [the guarantees](../guarantees.md) that is delivered, and the test files whose titles cite it. A script writes this page
from the titles (\`npm run guarantees -- --update\`), and the check fails when it is not what the titles say.
`;

/** @param {Row} row */
const titleOf = ({ id, part }) => (part === "" ? id : `${id} ${part}`);
/** @param {Row} row */
const anchorOf = (row) => titleOf(row).toLowerCase().replaceAll(" ", "-");
/** @param {Row} row */
const nameOf = ({ id, part }) => (part === "" ? id : `${id}/${part}`);

/**
 * The text of docs/reference/proofs.md.
 * @param {Row[]} rows
 * @param {Citation[]} citations
 */
export function proofsPage(rows, citations) {
  const sections = rows
    .filter(({ delivered }) => delivered === "yes")
    .map((row) => {
      const places = citations.filter(({ reference }) => reference === nameOf(row)).map(({ place }) => place);
      const files = [...new Set(places.map((place) => place.replace(/:\d+$/, "")))].toSorted();
      const links = files.map(
        (file) => `- [${file.replace("test/", "").replace(/\.test(-d)?\.ts$/, "")}](../../${file})`,
      );
      return `\n## ${titleOf(row)}\n\n${row.promise}\n\n${links.join("\n")}\n`;
    });
  return HEAD + sections.join("");
}

/**
 * docs/guarantees.md with a link to its proofs in every row that is delivered, and in no other.
 * @param {string} table
 * @param {(text: string) => Row[]} readRows
 */
export function linkProofs(table, readRows) {
  return table
    .split("\n")
    .map((line) => {
      const [row] = readRows(line);
      if (row === undefined) return line;
      const cells = line.split("|").slice(0, 5).join("|");
      return row.delivered === "yes" ? `${cells}| [tests](reference/proofs.md#${anchorOf(row)}) |` : `${cells}|`;
    })
    .join("\n")
    .replaceAll("| delivered |\n|---|---|---|---|---|\n", "| delivered | proof |\n|---|---|---|---|---|---|\n");
}
