// The generated parts of docs/performance.md: everything between two marks. The text around them is written by hand.

import { readFileSync, writeFileSync } from "node:fs";

const page = new URL("../../docs/performance.md", import.meta.url);

/** Replace what stands between `<!-- bench: name -->` and `<!-- /bench -->`. @throws Error when there is no such part */
export function replacePart(text: string, name: string, content: string): string {
  const open = `<!-- bench: ${name} -->`;
  const start = text.indexOf(open);
  const end = text.indexOf("<!-- /bench -->", start);
  if (start === -1 || end === -1) throw new Error(`the page has no part ${name}`);
  return `${text.slice(0, start + open.length)}\n${content}\n${text.slice(end)}`;
}

export function writePage(parts: Readonly<Record<string, string>>): void {
  let text = readFileSync(page, "utf8");
  for (const [name, content] of Object.entries(parts)) text = replacePart(text, name, content);
  writeFileSync(page, text);
}
