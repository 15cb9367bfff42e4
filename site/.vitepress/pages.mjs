// Which Markdown files of the repository are pages, where, and in what order. Owns navigation: a new page below docs/ appears by
// itself, after those that are named here, under its own title.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The root of the repository: pages are read from where they are. */
export const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** Each group: its heading, its folder, and the pages that come first in it. */
const GROUPS = [
  { text: "Start", folder: "docs", first: ["index", "quick-start", "tutorial", "security-model", "guarantees"] },
  {
    text: "Guide",
    folder: "docs/guide",
    first: [
      "tools-and-executor",
      "life-of-an-approval",
      "approvals",
      "langgraph",
      "own-nodes",
      "flows",
      "compiled-flows",
      "langchain-agents",
      "deployment",
    ],
  },
  { text: "Coming from", folder: "docs/migration", first: [] },
  { text: "Reference", folder: "docs/reference", first: ["options", "errors", "stores", "savers", "flow-rules"] },
  { text: "API", folder: "docs/reference/api", first: ["core", "langgraph", "langchain", "langchain-agents", "flow"] },
  { text: "Decisions", folder: "docs/decisions", first: [], collapsed: true },
];
const PROJECT = { text: "Project", files: ["ARCHITECTURE", "CHANGELOG", "CONTRIBUTING", "SECURITY"] };

/** @param {string} file from the root, without .md */
function titleOf(file) {
  const heading = /^# (.+)$/m.exec(readFileSync(join(ROOT, `${file}.md`), "utf8"))?.[1] ?? file;
  return heading.replaceAll(/[`*]/g, "").replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1");
}

/** @param {string} folder */
function filesIn(folder) {
  if (!existsSync(join(ROOT, folder))) return [];
  const names = readdirSync(join(ROOT, folder)).filter((name) => name.endsWith(".md"));
  return names.map((name) => name.slice(0, -".md".length));
}

/** Named ones first, then by name. */
function ordered(names, first) {
  const rank = (name) => (first.includes(name) ? first.indexOf(name) : first.length);
  return names.toSorted((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
}

/** Where the page of a file is: docs/ is the root of the site, and so are the pages beside it. */
export function placeOf(file) {
  return file.startsWith("docs/") ? file.slice("docs/".length) : file.toLowerCase();
}

/** @param {string} file */
function linkTo(file) {
  return `/${placeOf(file)}`.replace(/\/index$/, "/");
}

const found = GROUPS.map(({ text, folder, first, collapsed }) => ({
  text,
  files: ordered(filesIn(folder), first).map((name) => `${folder}/${name}`),
  ...(collapsed === undefined ? {} : { collapsed }),
}));
const groups = [...found, PROJECT].filter(({ files }) => files.length > 0);

/** Every page, by its path from the root without .md. */
export const files = groups.flatMap((group) => group.files);

export const rewrites = Object.fromEntries(files.map((file) => [`${file}.md`, `${placeOf(file)}.md`]));

export const sidebar = groups.map(({ text, files: pages, ...rest }) => ({
  text,
  ...rest,
  items: pages.map((file) => ({ text: titleOf(file), link: linkTo(file) })),
}));

/** The first page of the main groups. */
export const nav = groups
  .filter(({ text }) => ["Guide", "Reference", "API"].includes(text))
  .map(({ text, files: [first] }) => ({
    text,
    link: linkTo(first),
    activeMatch: `^${linkTo(first).replace(/[^/]*$/, "")}[^/]*$`,
  }));

/** What VitePress must not read: every folder but docs/, and Markdown that is no page. */
export const excluded = readdirSync(ROOT, { withFileTypes: true }).flatMap((entry) => {
  if (entry.isDirectory()) return entry.name === "docs" ? [] : [`${entry.name}/**`];
  return entry.name.endsWith(".md") && !files.includes(entry.name.slice(0, -3)) ? [entry.name] : [];
});
