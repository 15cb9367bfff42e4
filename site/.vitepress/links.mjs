// Links between pages, as they are written for GitHub: relative to the file. Owns turning them into links of the site.
// What is no page (a test, an example, the licence) is not on the site: its name stays, without a link. What does not exist stops
// the build.
import { existsSync } from "node:fs";
import { dirname, join, normalize, relative } from "node:path";
import { files, placeOf, ROOT } from "./pages.mjs";

/** @param {import("markdown-it")} md */
export function repositoryLinks(md) {
  md.core.ruler.push("repository-links", (state) => {
    for (const { children } of state.tokens) if (children !== null) readLinks(children, state.env);
  });
}

function readLinks(tokens, env) {
  const open = [];
  for (const token of tokens) {
    if (token.type === "link_open") {
      const link = resolved(token.attrGet("href") ?? "", env);
      open.push(link);
      if (link.href !== undefined) token.attrSet("href", link.href);
      else drop(token, link.file);
    } else if (token.type === "link_close" && open.pop()?.href === undefined) drop(token);
  }
}

/** A link that leads nowhere on the site becomes a name, with the path to look at. */
function drop(token, file) {
  token.tag = "span";
  token.attrs =
    file === undefined
      ? null
      : [
          ["class", "file"],
          ["title", `${file}, in the repository`],
        ];
  token.type = file === undefined ? "file_close" : "file_open";
}

function resolved(href, env) {
  if (/^(#|[a-z]+:|\/)/i.test(href)) return { href };
  const [path = "", hash] = href.split("#");
  // The file that is read, before VitePress gives it another place.
  const from = env.realPath ?? env.path;
  const file = relative(ROOT, normalize(join(dirname(from), decodeURI(path)))).replace(/\/$/, "");
  const page = file.replace(/\.md$/, "");
  const to = [page, `${page}/index`].find((name) => files.includes(name));
  if (to !== undefined) return { href: `/${placeOf(to)}.md${hash === undefined ? "" : `#${hash}`}` };
  if (existsSync(join(ROOT, file))) return { file };
  throw new Error(`${relative(ROOT, from)}: a link to ${href}, and there is no such file`);
}
