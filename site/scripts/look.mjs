// A look at the built site in a real browser, at the width of a phone and of a desk. Owns what must hold on each page that is looked
// at: the body does not scroll sideways, diagrams are drawn, nothing is written to the console; and that the search finds things.
// The pictures are for whoever looks: .shots/.
//   npm run look        needs `npm run build` and a Chromium: $CHROMIUM, or one in the usual places
import { createReadStream, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const DIST = fileURLToPath(new URL("../.vitepress/dist", import.meta.url));
const SHOTS = fileURLToPath(new URL("../.shots", import.meta.url));
const TYPES = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".css": "text/css",
  ".json": "application/json",
  ".woff2": "font/woff2",
};
const SIZES = { phone: { width: 390, height: 844 }, desk: { width: 1280, height: 800 } };
/** Pages worth a picture: the first page, diagrams, a wide table, a long API page. */
const PICTURES = ["", "architecture", "guide/life-of-an-approval", "guarantees", "reference/api/langgraph"];
const FLAGS =
  "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync";

const program = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(
  (file) => file !== undefined && existsSync(file),
);
if (program === undefined || !existsSync(DIST)) {
  console.error(
    program === undefined
      ? "no Chromium here: set CHROMIUM, or install Debian's chromium"
      : "no site here: npm run build",
  );
  process.exit(1);
}

const server = createServer((request, response) => {
  const path = normalize(decodeURIComponent(new URL(request.url ?? "/", "http://site").pathname));
  const file = join(DIST, path.endsWith("/") ? `${path}index.html` : path);
  const isThere = existsSync(file) && statSync(file).isFile();
  response.writeHead(isThere ? 200 : 404, { "content-type": TYPES[extname(file)] ?? "application/octet-stream" });
  if (isThere) createReadStream(file).pipe(response);
  else response.end();
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const origin = `http://127.0.0.1:${server.address().port}`;
const profile = mkdtempSync(join(tmpdir(), "agent-adapter-look-"));
const browser = await chromium.launchPersistentContext(profile, {
  executablePath: program,
  headless: true,
  args: FLAGS.split(" "),
});
const faults = [];
/** By page: its anchors, and its links to anchors. */
const anchors = new Map();
const links = [];

/** Every page that was built. */
const pages = readdirSync(DIST, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".html") && name !== "404.html")
  .map((name) => name.replace(/(^|\/)index\.html$/, "$1"));

try {
  rmSync(SHOTS, { recursive: true, force: true });
  mkdirSync(SHOTS);
  for (const [size, viewport] of Object.entries(SIZES)) {
    const page = await browser.newPage();
    await page.setViewportSize(viewport);
    let place = "";
    page.on(
      "console",
      (message) => message.type() === "error" && faults.push(`${size} ${place}: console: ${message.text()}`),
    );
    page.on("pageerror", (error) => faults.push(`${size} ${place}: ${error.message}`));
    for (place of pages) await lookAt(page, size, place);
    place = "search";
    await search(page, size);
    await page.close();
  }
  await dark();
  for (const { place, to } of links) {
    const id = decodeURIComponent(to.hash.slice(1));
    if (id !== "" && anchors.get(to.pathname)?.includes(id) !== true)
      faults.push(`${place}: a link to ${to.pathname}#${id}, which is not there`);
  }
} finally {
  await browser.close();
  server.close();
  rmSync(profile, { recursive: true, force: true });
}

async function lookAt(page, size, place) {
  await page.goto(`${origin}/${place}`, { waitUntil: "load" });
  const diagrams = page.locator("figure.mermaid");
  for (let index = 0; index < (await diagrams.count()); index += 1) {
    const drawn = diagrams.nth(index).locator("svg").first();
    await drawn
      .waitFor({ timeout: 30_000 })
      .catch(() => faults.push(`${size} ${place}: diagram ${index + 1} is not drawn`));
  }
  const [wide, room] = await page.evaluate(() => [
    document.documentElement.scrollWidth,
    document.documentElement.clientWidth,
  ]);
  if (wide > room) faults.push(`${size} ${place}: ${wide} px wide in ${room} px`);
  if (size === "desk") await readAnchors(page, place);
  const name = place.replace(/\.html$/, "");
  if (PICTURES.includes(name))
    await page.screenshot({ path: join(SHOTS, `${size}-${name.replaceAll("/", "-") || "home"}.png`) });
  const diagram = diagrams.first();
  if (PICTURES.includes(name) && (await diagrams.count()) > 0) {
    await diagram.scrollIntoViewIfNeeded();
    await page.screenshot({ path: join(SHOTS, `${size}-${name.replaceAll("/", "-")}-diagram.png`) });
  }
  const table = page.locator(".vp-doc table").first();
  if (name === "guarantees") {
    await table.scrollIntoViewIfNeeded();
    await page.screenshot({ path: join(SHOTS, `${size}-table.png`) });
  }
}

async function readAnchors(page, place) {
  anchors.set(
    new URL(page.url()).pathname,
    await page.evaluate(() => [...document.querySelectorAll("[id]")].map(({ id }) => id)),
  );
  const found = await page.evaluate(() =>
    [...document.querySelectorAll(".vp-doc a[href*='#']")]
      .filter(({ origin }) => origin === location.origin)
      .map(({ href }) => href),
  );
  links.push(...found.map((href) => ({ place, to: new URL(href) })));
}

async function search(page, size) {
  await page.goto(`${origin}/`, { waitUntil: "load" });
  await page.locator("#local-search button, .VPNavBarSearch button").first().click();
  await page.locator("#localsearch-input").fill("oneUse");
  const first = page.locator("#localsearch-list .result").first();
  await first.waitFor({ timeout: 30_000 }).catch(() => faults.push(`${size}: the search finds nothing for oneUse`));
  const text = await page.locator("#localsearch-list").innerText();
  if (!text.includes("oneUse")) faults.push(`${size}: the search for oneUse finds ${text.slice(0, 80)}`);
  await page.screenshot({ path: join(SHOTS, `${size}-search.png`) });
}

async function dark() {
  const page = await browser.newPage();
  await page.emulateMedia({ colorScheme: "dark" });
  await page.setViewportSize(SIZES.desk);
  await page.goto(`${origin}/architecture.html`, { waitUntil: "load" });
  await page.locator("figure.mermaid svg").first().waitFor();
  await page.screenshot({ path: join(SHOTS, "dark.png") });
}

for (const fault of faults) console.error(fault);
console.log(
  `${pages.length} pages at ${Object.keys(SIZES).join(" and ")}: ${faults.length} faults; pictures in site/.shots`,
);
process.exitCode = faults.length === 0 ? 0 : 1;
