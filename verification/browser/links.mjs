// Comes to the explorer as people do: by the file that the command opens, and by links from other sites, in a
// real Chromium; and looks what such a site can see of it.
//
// node links.mjs CHROMIUM ADDRESS ADDRESS-FOR-ONE: both of one `facts serve`. Ends with 1, and says why, if
// anything is wrong.

import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [executablePath, address, once] = process.argv.slice(2);
const { origin } = new URL(address);
const folder = await mkdtemp(path.join(os.tmpdir(), "facts-"));
const file = path.join(folder, "facts.html");
await writeFile(file, `<!doctype html><meta http-equiv="refresh" content="0; url=${once}">`);
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });

/** A browser of its own, in which there is a site with links to the explorer, and with the explorer in a frame. */
async function someone() {
  const context = await browser.newContext();
  await context.route("https://wiki.example/**", (route) => route.fulfill({
    contentType: "text/html",
    body: `<a href="${origin}/#/stories">a story</a> <button onclick="window.opened = window.open('${origin}/')">open</button>
      <iframe src="${origin}/"></iframe><img src="${origin}/icon.svg"><script src="${origin}/continue.js"></script>`,
  }));
  return context;
}

const ready = (page) => page.waitForSelector("main[data-ready=yes]", { timeout: 20_000 });

async function followed(context) {
  const page = await context.newPage();
  await page.goto("https://wiki.example/page");
  await page.click("a");
  return page;
}

try {
  // Somebody who was never let in is not, whatever leads them here.
  const stranger = await followed(await someone());
  await stranger.waitForURL(`${origin}/continue#/stories`);
  assert.match(await stranger.innerText("main"), /Open the address that facts serve printed/);

  // The file lets one browser in, and no second.
  const known = await someone();
  const first = await known.newPage();
  await first.goto(pathToFileURL(file).href);
  await ready(first);
  assert.ok(!first.url().includes("token"), first.url());
  const second = await (await someone()).newPage();
  await second.goto(pathToFileURL(file).href);
  await second.waitForSelector("main.stranger");
  assert.match(await second.innerText("main"), /not \(or no longer\) the right one/);

  // A link leads whoever was let in to what it names, and going back leads to the site.
  const page = await followed(known);
  await ready(page);
  assert.equal(page.url(), `${origin}/#/stories`);
  await page.waitForSelector(".story");
  await page.goBack();
  assert.equal(page.url(), "https://wiki.example/page");

  // The site sees nothing of it: not in the frame, not in a window that it opened.
  const frames = await Promise.all(page.frames().slice(1).map((frame) => frame.$$("main").catch(() => [])));
  assert.deepEqual(frames.flat(), []);
  const [popup] = await Promise.all([known.waitForEvent("page"), page.click("button")]);
  await ready(popup);
  assert.equal(await popup.evaluate(() => globalThis.opener), null);
  assert.equal(await page.evaluate(() => globalThis.opened.closed), true, "the window is cut off from who opened it");
} finally {
  await browser.close();
  await rm(folder, { recursive: true });
}
console.log("every way in is as it should be");
