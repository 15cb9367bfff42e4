// The site: the Markdown of the repository, as it is. Nothing is loaded from elsewhere.
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitepress";
import { repositoryLinks } from "./links.mjs";
import { mermaidBlocks } from "./mermaid.mjs";
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
  markdown: {
    config(md) {
      repositoryLinks(md);
      mermaidBlocks(md);
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
