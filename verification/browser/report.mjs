// Opens HTML reports in a real Chromium and does with them what a reader does.
//
// node report.mjs FOLDER CHROMIUM: FOLDER holds NAME.html, and in NAME.json what must be found in
// it. Pictures are left beside them. Ends with 1, and says why, if anything is wrong.

import assert from "node:assert/strict";
import { readFile, readdir } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [folder, executablePath] = process.argv.slice(2);
const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Opens a page that is watched: it may ask for nothing and complain about nothing. */
async function open(browser, file, options = {}, hash = "") {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  const address = pathToFileURL(file).href;
  const faults = [];
  page.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(address) && !url.startsWith("data:")) faults.push(`request to ${url}`);
  });
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) faults.push(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => faults.push(`error: ${error.stack}`));
  page.on("dialog", (dialog) => faults.push(`dialog: ${dialog.message()}`));
  await page.goto(address + hash);
  await page.waitForSelector("html[data-ready=yes]", { timeout: 20_000 });
  await settle(page);
  page.assertQuiet = () => assert.deepEqual(faults, [], `${file} ${hash}`);
  return page;
}

/** Waits for the plot, which follows the table a moment later. */
async function settle(page) {
  await page.waitForTimeout(250);
}

const rows = (page) =>
  page.$$eval("#ranked-body tr", (all) => all.map((row) => Number(row.dataset.subgroup)));

/** The browser's text, with runs of blanks as one. */
const plain = (text) => text.replace(/\s+/g, " ").trim();

async function choose(page, id) {
  await page.selectOption("#choose-definition", id);
}

async function readsWithoutScript(browser, file, expected) {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(pathToFileURL(file).href);
  const answer = expected.stories > 0 ? ["answer", "stories"] : [];
  for (const id of [...answer, "overview", "findings", "rankings", "definitions", "method"]) {
    assert.ok((await page.innerText(`#${id}`)).length > 100, `#${id} reads without a script`);
  }
  await context.close();
}

async function ranksAsTheEngine(page, expected) {
  assert.match(await page.innerText("#explorer-state"), new RegExp(expected.subgroups.toLocaleString("en")));
  for (const { id, order, byRank } of expected.rankings) {
    await choose(page, id);
    await page.click("#ranked-head [data-key=rank] button");
    assert.deepEqual(await rows(page), byRank.slice(0, 25), `first page by rank of ${id}`);
    await page.click("#ranked-head [data-key=people] button");
    assert.deepEqual(await rows(page), order.slice(0, 25), `first page by ${id}`);
    if (order.length > 25) {
      await page.click("#pager-below .next");
      assert.deepEqual(await rows(page), order.slice(25, 50), `second page by ${id}`);
    }
  }
  await choose(page, expected.rankings[0].id);
}

async function sortsAndFilters(page, expected, times) {
  const note = async (what) =>
    times.push(`${what} ${await page.getAttribute("#explorer", "data-table-milliseconds")} ms`);
  await page.click("#ranked-head [data-key=members] button");
  await note("sort by members");
  assert.equal(await page.getAttribute("#ranked-head [data-key=members]", "aria-sort"), "descending");
  assert.deepEqual(await rows(page), expected.largest);
  await page.click("#ranked-head [data-key=subgroup] button");
  await note("sort by subgroup");
  await page.click("#ranked-head [data-key=value0] button");
  await note("sort by a group's value");
  const place = () => page.innerText("#pager-above .place");
  await page.fill("#choose-text", "no such feature = 1");
  assert.match(await page.innerText("#unreadable"), /^Not filtered: no feature is called “no such feature”/);
  assert.ok((await place()).endsWith(`of ${expected.subgroups.toLocaleString("en")}`), "nothing is filtered");
  await page.fill("#choose-text", expected.conditions);
  await note("filter by conditions");
  assert.equal(await page.innerText("#unreadable"), "");
  const left = expected.meeting.toLocaleString("en");
  assert.ok((await place()).endsWith(`of ${left}`), `${await place()}: ${left} expected`);
  await page.selectOption("#choose-against", "0");
  await note("and against a group");
  const against = expected.meetingAgainstFirst;
  const told = await place();
  assert.ok(against === 0 ? told === "No subgroup passes" : told.endsWith(`of ${against.toLocaleString("en")}`), told);
  await settle(page);
  times.push(`scatter plot of ${against} ${await page.getAttribute("#explorer", "data-scatter-milliseconds")} ms`);
  await page.click("#controls button[type=reset]");
  await note("clear");
  // Those that pass can be asked for where something was tested, and nowhere else.
  assert.equal(await page.isVisible("#choose-passing"), expected.passing !== null);
  if (expected.passing !== null) {
    await page.check("#choose-passing");
    const passing = await place();
    assert.ok(expected.passing === 0 ? passing === "No subgroup passes"
      : passing.endsWith(`of ${expected.passing.toLocaleString("en")}`), passing);
    assert.equal(await page.$("#ranked-body tr.grey"), null);
    await page.click("#controls button[type=reset]");
  }
  await settle(page);
  times.push(`scatter plot of all ${await page.getAttribute("#explorer", "data-scatter-milliseconds")} ms`);
}

/** What the dialog says, in the shape of what is expected of it. */
function readDialog(page) {
  return page.$eval("#subgroup", (dialog) => {
    const text = (node) => node?.textContent.replace(/\s+/g, " ").trim() ?? null;
    const chosen = dialog.querySelector(".scores tr.chosen");
    const cells = [...chosen.querySelectorAll("td")].map(text);
    const sides = [...dialog.querySelectorAll(".side")].map((side, g) => ({
      name: text(side.querySelector("h3 bdi")),
      covered: text(side.querySelector("small")),
      ways: [...side.querySelectorAll(".ways li")].map((way) =>
        [".make", ".effect b", ".cost", ".interval"].map((part) => text(way.querySelector(part)))),
      none: text(side.querySelector(".none")),
      value: cells[1 + g],
      interval: text(side.querySelector(".compared .interval")),
    }));
    return {
      predicate: text(dialog.querySelector("#subgroup-title")),
      sides,
      verdict: text(dialog.querySelector(".verdict")),
      support: [...dialog.querySelectorAll(".support > p")].map(text),
      grey: dialog.querySelector(".csc").classList.contains("grey"),
      score: text(chosen.querySelector(".is-score")),
      rank: text(chosen.querySelector(".is-rank")),
    };
  });
}

async function opensFindings(page, expected) {
  for (const finding of expected.findings) {
    const { subgroup, definition, title, ...said } = finding;
    await page.evaluate((hash) => (location.hash = hash), `#subgroup=${subgroup}&definition=${definition}`);
    await page.waitForSelector("dialog[open] .scores tr.chosen");
    await page.waitForFunction((title) =>
      document.querySelector(".scores tr.chosen th").textContent === title, title);
    const found = await readDialog(page);
    said.predicate = plain(said.predicate);
    said.support = said.support.map(plain);
    said.sides.forEach((side) => {
      side.ways.forEach((way) => (way[0] = plain(way[0])));
      side.none = side.none && plain(side.none);
    });
    // A trade-off says more: whether its test is passed.
    assert.ok(found.verdict.startsWith(plain(said.verdict)), `${found.verdict} / ${said.verdict}`);
    assert.deepEqual({ ...found, verdict: "" }, { ...said, verdict: "" }, `subgroup ${subgroup} by ${definition}`);
    await assertDrawn(page, "dialog .ecd canvas", 2);
  }
  await page.keyboard.press("Escape");
  await page.waitForSelector("dialog:not([open])", { state: "attached" });
}

/** Walks from a subgroup to a broader and a narrower one, by links that can be shared. */
async function drillsDown(page) {
  const title = () => page.innerText("#subgroup-title");
  await page.evaluate(() => (location.hash = "#subgroup-0"));
  await page.waitForSelector("dialog[open] .relatives, dialog[open] .body .note");
  const links = await page.$$eval(".relatives a", (all) => all.map((a) => [a.textContent, a.hash]));
  for (const [text, hash] of links.slice(0, 3)) {
    const before = await title();
    await page.evaluate((hash) => (location.hash = hash), hash);
    await page.waitForFunction((before) => document.getElementById("subgroup-title").innerText !== before, before);
    const item = text.replace(/^(without|and) /, "");
    const [with_, without] = text.startsWith("and ") ? [await title(), before] : [before, await title()];
    assert.ok(with_.includes(item) && !without.includes(item), `${text}: ${before} → ${await title()}`);
    await page.evaluate(() => (location.hash = "#subgroup-0"));
    await page.waitForFunction((before) => document.getElementById("subgroup-title").innerText === before, before);
  }
  await page.keyboard.press("Escape");
  return links.length;
}

/** Page one prints as one page, and a phone reaches the last story within 12 screens. */
async function answersFirst(browser, file) {
  const page = await open(browser, file, { viewport: { width: 390, height: 844 }, isMobile: true });
  const end = await page.$$eval(".story", (all) => all.at(-1).getBoundingClientRect().bottom + scrollY);
  assert.ok(end <= 12 * 844, `the last story ends after ${end / 844} screens`);
  await page.$$eval("main > section:not(#answer), footer", (all) => all.forEach((part) => part.remove()));
  const pdf = (await page.pdf({ preferCSSPageSize: true })).toString("latin1");
  assert.equal(pdf.match(/\/Type\s*\/Page\b/g).length, 1, "pages of the answer");
  await page.context().close();
}

/** Each canvas must hold ink. */
async function assertDrawn(page, selector, least) {
  const inked = await page.$$eval(selector, (all) => all.map((canvas) => {
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    let ink = 0;
    for (let i = 3; i < data.length; i += 4) if (data[i] > 0) ink++;
    return ink;
  }));
  assert.ok(inked.length >= least, `${inked.length} of ${least} plots ${selector}`);
  for (const ink of inked) assert.ok(ink > 500, `a plot is empty: ${inked}`);
}

/** Sorts, opens and closes with nothing but the keyboard. */
async function worksByKeyboard(page) {
  const tabTo = async (selector) => {
    for (let i = 0; i < 600; i++) {
      await page.keyboard.press("Tab");
      if (await page.evaluate((s) => document.activeElement.matches(s), selector)) return;
    }
    assert.fail(`the Tab key does not reach ${selector}`);
  };
  await page.evaluate(() => scrollTo(0, 0));
  await tabTo("#choose-text");
  await tabTo("#ranked-head [data-key=coverage] button");
  await page.keyboard.press("Enter");
  assert.equal(await page.getAttribute("#ranked-head [data-key=coverage]", "aria-sort"), "descending");
  assert.ok(await page.evaluate(() => document.activeElement.closest("[data-key=coverage]") !== null));
  await page.keyboard.press("Enter");
  assert.equal(await page.getAttribute("#ranked-head [data-key=coverage]", "aria-sort"), "ascending");
  await tabTo("#ranked-body a");
  const [first] = await rows(page);
  await page.keyboard.press("Enter");
  await page.waitForSelector("dialog[open]");
  assert.match(await page.evaluate(() => location.hash), new RegExp(`subgroup=${first}&`));
  assert.ok(await page.evaluate(() => document.activeElement.closest("dialog") !== null));
  await page.keyboard.press("Escape");
  await page.waitForSelector("dialog:not([open])", { state: "attached" });
  const back = await page.evaluate(() => document.activeElement.closest("tr")?.dataset.subgroup);
  assert.equal(Number(back), first, "the focus returns to what was opened");
}

async function assertAccessible(page, what) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => globalThis.axe.run(document));
  const bad = violations.filter(({ impact }) => ["serious", "critical"].includes(impact));
  const told = bad.map(({ id, help, nodes }) => `${id}: ${help}\n  ${nodes.slice(0, 4).map((n) => `${n.target} ${n.any[0]?.message ?? ""}`).join("\n  ")}`);
  assert.deepEqual(told, [], `${what}: accessibility`);
  return violations.map(({ id }) => id);
}

async function assertNoSidewaysScroll(page, what) {
  const { scrollWidth, clientWidth } = await page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    return { scrollWidth, clientWidth };
  });
  assert.ok(scrollWidth <= clientWidth, `${what}: ${scrollWidth} wide on a screen of ${clientWidth}`);
}

/** Looks at the page and at a linked subgroup in several lights and sizes, and prints it. */
async function looks(browser, file, name, expected, wanted) {
  const finding = expected.findings[0];
  const hash = `#subgroup=${finding.subgroup}&definition=${finding.definition}`;
  const shapes = {
    light: { colorScheme: "light" },
    dark: { colorScheme: "dark" },
    phone: { colorScheme: "light", viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true },
    "phone-dark": { colorScheme: "dark", viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true },
  };
  const lesser = new Set();
  for (const shape of wanted) {
    const options = shapes[shape];
    const picture = (part) => path.join(folder, `${name}-${shape}${part}.png`);
    const page = await open(browser, file, options);
    await assertNoSidewaysScroll(page, `${name} ${shape}`);
    await assertDrawn(page, "#scatter canvas", 1);
    for (const id of await assertAccessible(page, `${name} ${shape}`)) lesser.add(id);
    await page.screenshot({ path: picture(""), fullPage: true });
    await page.$eval("#subgroups", (section) => section.scrollIntoView());
    await page.screenshot({ path: picture("-explorer") });
    page.assertQuiet();
    await page.context().close();
    const linked = await open(browser, file, options, hash);
    await linked.waitForSelector("dialog[open]");
    await assertNoSidewaysScroll(linked, `${name} ${shape} subgroup`);
    await assertDrawn(linked, "dialog .ecd canvas", 2);
    for (const id of await assertAccessible(linked, `${name} ${shape} subgroup`)) lesser.add(id);
    await linked.screenshot({ path: picture("-subgroup") });
    linked.assertQuiet();
    if (shape === "dark") {
      await linked.emulateMedia({ colorScheme: "light" });
      await settle(linked);
      await assertDrawn(linked, "dialog .ecd canvas", 2);
    }
    await linked.context().close();
  }
  const page = await open(browser, file, { colorScheme: "dark" });
  await page.pdf({ path: path.join(folder, `${name}.pdf`), preferCSSPageSize: true });
  page.assertQuiet();
  await page.context().close();
  return [...lesser];
}

async function check(browser, name) {
  const file = path.join(folder, `${name}.html`);
  const expected = JSON.parse(await readFile(path.join(folder, `${name}.json`), "utf8"));
  const isLarge = expected.subgroups > 1_000;
  const times = [];
  await readsWithoutScript(browser, file, expected);
  const page = await open(browser, file);
  await ranksAsTheEngine(page, expected);
  await sortsAndFilters(page, expected, times);
  await opensFindings(page, expected);
  times.push(`${await drillsDown(page)} subgroups beside the first`);
  assert.equal(await page.evaluate(() => globalThis.broken), undefined, "a name from the data ran");
  page.assertQuiet();
  await page.context().close();
  if (expected.stories > 0) await answersFirst(browser, file);
  const fresh = await open(browser, file);
  await worksByKeyboard(fresh);
  fresh.assertQuiet();
  await fresh.context().close();
  const lesser = await looks(browser, file, name, expected, isLarge ? ["light", "dark", "phone", "phone-dark"] : ["dark", "phone"]);
  console.log(`${name}: ${expected.findings.length} findings read; ${times.join(", ")}; axe: nothing serious or critical, lesser: ${lesser.join(" ") || "nothing"}`);
}

const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
try {
  const files = await readdir(folder);
  for (const file of files.filter((file) => file.endsWith(".json"))) {
    await check(browser, path.basename(file, ".json"));
  }
} finally {
  await browser.close();
}
