// The site: the Markdown of the repository, as it is. Nothing is loaded from elsewhere.
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitepress";
import { repositoryLinks } from "./links.mjs";
import { mermaidBlocks } from "./mermaid.mjs";
import { proseCells } from "./tables.mjs";
import { excluded, nav, rewrites, ROOT, sidebar } from "./pages.mjs";

// Pages are outside of this folder, where no package is found: what they become imports vue and is to get this folder's.
const vueOfThisFolder = {
  name: "vue-of-this-folder",
  enforce: "pre",
  resolveId(source, importer, options) {
    if (source !== "vue" && source !== "vue/server-renderer") return null;
    // On the server there must be one vue, that of node.
    if (options?.ssr === true) return { id: source, external: true };
    if (importer?.includes("node_modules") === true) return null;
    return this.resolve(source, fileURLToPath(import.meta.url), { ...options, skipSelf: true });
  },
};

/** A tick in a square, so that nothing is asked for that is not there. */
const ICON = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="3" fill="#0e7560"/><path d="M4 8.5l2.5 2.5L12 5.5" fill="none" stroke="#fff" stroke-width="2"/></svg>',
)}`;

export default defineConfig({
  title: "Agent Adapter",
  description: "Tools that matter, run by language models exactly when a human approved exactly that call, once.",
  lang: "en",
  // Where the site is served from, when that is no root of its own: `/agent-adapter/`.
  base: process.env.SITE_BASE ?? "/",
  srcDir: ROOT,
  srcExclude: excluded,
  rewrites,
  cleanUrls: false,
  ignoreDeadLinks: false,
  metaChunk: true,
  head: [["link", { rel: "icon", href: ICON }]],
  markdown: {
    // GitHub's anchors, so that a link that works there works here.
    anchor: {
      slugify: (heading) =>
        heading
          .trim()
          .toLowerCase()
          .replaceAll(/[^\p{L}\p{N}\- _]/gu, "")
          .replaceAll(" ", "-"),
    },
    config(md) {
      repositoryLinks(md);
      mermaidBlocks(md);
      proseCells(md);
    },
  },
  vite: {
    plugins: [vueOfThisFolder],
    // Mermaid is one large chunk that loads on pages with a diagram only.
    build: { chunkSizeWarningLimit: 4000 },
    publicDir: false,
  },
  themeConfig: {
    nav,
    sidebar,
    outline: { level: [2, 3] },
    search: { provider: "local", options: { detailedView: true } },
    docFooter: { prev: "Before", next: "Next" },
    externalLinkIcon: true,
  },
});
