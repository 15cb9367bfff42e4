// The API reference: one Markdown page per entry point, from the docstrings, in docs/reference/api/.
// Owns how typedoc is asked and what its pages look like; they are committed, so that they read on GitHub too.
//   npm run api               rewrites the pages
//   npm run api -- --check    fails when a page is stale
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Application, ReflectionKind } from "typedoc";

const root = fileURLToPath(new URL("../..", import.meta.url));
const PAGES = join(root, "docs/reference/api");
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

// `agent-adapter/langchain/agents` is the page langchain-agents.md, the core is core.md.
const entries = Object.entries(manifest.exports)
  .filter(([name]) => name !== "./package.json")
  .map(([name, target]) => ({
    name: name.replace(/^\./, manifest.name),
    page: name.replace(/^\.\/?/, "").replaceAll("/", "-") || "core",
    source: join(root, target["agent-adapter-source"]),
  }));

const NOTES = {
  spi: "The seam that framework adapters and stores are written against. **Experimental:** outside of semantic versioning.",
};

/** Titles and what to import, in place of what typedoc writes above its lists. */
function finished(text, { name, page }) {
  const body = text.replace(/^[^]*?(?=^## )/m, "");
  const note = NOTES[page] ?? "Examples use the names of this page as they stand; import what you need:";
  return `# ${name}\n\n${note}\n\n\`\`\`ts\nimport { … } from "${name}";\n\`\`\`\n\n${body.trimEnd()}\n`;
}

/** What a class has from its parent on the same page is there; properties behind a symbol only carry types. */
function removeNoise(project, symbol) {
  for (const member of [...(symbol.children ?? [])]) {
    const isMark = member.kindOf(ReflectionKind.Property) && member.name.startsWith("[");
    const parent = member.inheritedFrom?.reflection?.parent;
    if (isMark || (parent?.kindOf(ReflectionKind.Class) && parent.parent === symbol.parent))
      project.removeReflection(member);
  }
  // The pages are written from the groups, which were made before.
  for (const group of symbol.groups ?? []) group.children = group.children.filter((it) => symbol.children?.includes(it));
  symbol.groups = symbol.groups?.filter((group) => group.children.length > 0);
}

/** typedoc numbers anchors by its own count (`#ledgertotals-1`): a link to none leads to the heading of that name. */
function withTrueAnchors(page, text, texts) {
  return text.replaceAll(/\]\(([\w-]*(?:\.md)?)#([\w-]+)-\d+\)/g, (link, to, name) => {
    const headings = (texts.get(to === "" ? page : to) ?? "").match(/^#+ .+$/gm) ?? [];
    const same = headings.filter((heading) => slugOf(heading) === name);
    return same.length === 1 ? `](${to}#${name})` : link;
  });
}

function slugOf(heading) {
  return heading
    .replace(/^#+ /, "")
    .toLowerCase()
    .replaceAll(/[^\w\- ]/g, "")
    .replaceAll(" ", "-");
}

/** @returns {Promise<Map<string, string>>} page name and text */
async function pages() {
  const app = await Application.bootstrapWithPlugins({
    plugin: ["typedoc-plugin-markdown"],
    entryPoints: entries.map(({ source }) => source),
    tsconfig: join(root, "tsconfig.json"),
    basePath: root,
    sortEntryPoints: false,
    // Line numbers would make every change of a file a change here.
    sort: ["kind", "instance-first", "alphabetical"],
    disableSources: true,
    // `npm run typecheck` of the package does it.
    skipErrorChecking: true,
    excludeInternal: true,
    excludePrivate: true,
    excludeExternals: true,
    readme: "none",
    logLevel: "Error",
    outputFileStrategy: "modules",
    hidePageHeader: true,
    hideBreadcrumbs: true,
    hidePageTitle: true,
    useHTMLEncodedBrackets: true,
    sanitizeComments: true,
    parametersFormat: "table",
    interfacePropertiesFormat: "table",
    typeAliasPropertiesFormat: "table",
    classPropertiesFormat: "table",
    propertyMembersFormat: "table",
    tableColumnSettings: { hideModifiers: true, hideInherited: true, hideOverrides: true, hideDefaults: true },
  });
  const project = await app.convert();
  if (project === undefined || app.logger.hasErrors()) throw new Error("typedoc could not read the entry points");
  project.children?.forEach((module, index) => {
    module.name = entries[index].page;
    for (const symbol of module.children ?? []) removeNoise(project, symbol);
  });
  const folder = mkdtempSync(join(tmpdir(), "agent-adapter-api-"));
  try {
    app.options.setValue("outputs", [{ name: "markdown", path: folder }]);
    await app.generateOutputs(project);
    const texts = new Map(
      entries.map((entry) => [
        `${entry.page}.md`,
        finished(readFileSync(join(folder, `${entry.page}.md`), "utf8"), entry),
      ]),
    );
    return new Map([...texts].map(([page, text]) => [page, withTrueAnchors(page, text, texts)]));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @param {Map<string, string>} fresh */
function stale(fresh) {
  const kept = existsSync(PAGES) ? readdirSync(PAGES).filter((name) => name.endsWith(".md")) : [];
  const changed = [...fresh].filter(
    ([name, text]) => !kept.includes(name) || readFileSync(join(PAGES, name), "utf8") !== text,
  );
  return [...changed.map(([name]) => name), ...kept.filter((name) => !fresh.has(name))];
}

const fresh = await pages();
const old = stale(fresh);
if (!process.argv.includes("--check")) {
  mkdirSync(PAGES, { recursive: true });
  for (const name of old) rmSync(join(PAGES, name), { force: true });
  for (const [name, text] of fresh) if (old.includes(name)) writeFileSync(join(PAGES, name), text);
  console.log(`docs/reference/api: ${fresh.size} pages, ${old.length} written`);
} else if (old.length > 0) {
  for (const name of old) console.error(`docs/reference/api/${name}: stale, run npm run api in site/`);
  process.exitCode = 1;
} else console.log(`docs/reference/api: ${fresh.size} pages in step with the docstrings`);
