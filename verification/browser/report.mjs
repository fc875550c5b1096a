// Opens HTML reports in a real Chromium and does with them what a reader does: reads the report, with and without
// scripts, prints it, and explores it by the views that it shares with `facts serve`.
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

/** The height of a row of the table of all subgroups. */
const ROW = 34;

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
  page.assertQuiet = () => assert.deepEqual(faults, [], `${file} ${hash}`);
  return page;
}

/** The browser's text, with runs of blanks as one. */
const plain = (text) => text.replace(/\s+/g, " ").trim();
const count = (number) => number.toLocaleString("en");
const shape = (value) => JSON.parse(JSON.stringify(value), (_, one) => (typeof one === "string" ? plain(one) : one));

async function readsWithoutScript(browser, file, expected) {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(pathToFileURL(file).href);
  const answer = expected.stories > 0 ? ["answer", "stories"] : [];
  for (const id of [...answer, "overview", "findings", "rankings", "definitions", "method"]) {
    assert.ok((await page.innerText(`#${id}`)).length > 100, `#${id} reads without a script`);
  }
  const [cards, plots] = await page.$$eval("#findings article.csc", (all) => [all.length, all.filter((card) => card.querySelector("svg.plotted path.steps")).length]);
  assert.ok(expected.suppressed ? plots <= cards : plots === cards, `${plots} plots of ${cards} findings`);
  await context.close();
}

/** Goes to a view of the explorer and waits until it stands there. */
async function go(page, view, params = {}) {
  const query = new URLSearchParams(params).toString();
  await page.evaluate((hash) => (location.hash = hash), `#/${view}${query ? `?${query}` : ""}`);
  await page.waitForSelector("#explorer:not([hidden]) main[data-ready=yes]", { timeout: 20_000 });
}

const texts = (page, selector) => page.$$eval(selector, (all) => all.map((one) => one.textContent.replace(/\s+/g, " ").trim()));

/** Views 1 to 3 and 5: what the engine says of the audit as a whole. */
async function tellsTheAnswer(page, { overview, told }) {
  await go(page, "answer");
  await page.waitForSelector("#verdict");
  if (overview.answer) {
    assert.equal(plain(await page.innerText("#verdict")), plain(overview.answer.verdict_words));
    assert.equal(plain(await page.innerText("#explorer .headline")), plain(overview.answer.headline));
    const people = await page.$$eval("#explorer .people table tbody tr", (all) => all.map((row) => [...row.children].map((cell) => cell.textContent.replace(/\s+/g, " ").trim())));
    assert.deepEqual(people, shape(overview.people.rows));
    const drivers = overview.answer.drivers;
    const ends = drivers.length > 16 ? [...drivers.slice(0, 10), ...drivers.slice(-6)] : drivers;
    assert.deepEqual(await texts(page, "#explorer .drivers tbody th"), ends.map(({ item }) => plain(item)));
  }
  await go(page, "stories");
  if (told.stories.length === 0) return;
  await page.waitForSelector("#explorer .story");
  assert.deepEqual(await texts(page, "#explorer .story > p:first-of-type"), told.stories.map(({ sentence }) => plain(sentence)));
  await go(page, "matrix");
  await page.waitForSelector("#explorer table.matrix");
  const cells = await page.$$eval("#explorer table.matrix tbody tr", (all) => all.map((row) => [...row.querySelectorAll("td")].map((cell) => cell.textContent.replace("●", "").trim())));
  assert.deepEqual(cells, told.stories.map(({ matrix }) => matrix.map((cell) => (cell === null ? "–" : cell.against.length > 0 ? cell.score : cell.fair === "equal" ? "=" : "∅"))));
}

const rows = (page) => page.$$eval(".list .row[data-subgroup]", (all) => all.map((row) => Number(row.dataset.subgroup)));

/** Waits until the table shows a definition in an order. */
async function ranked(page, { id, title }, params = {}) {
  await go(page, "subgroups", { definition: id, ...params });
  await page.waitForFunction((title) => document.querySelector(".summary b")?.textContent === `${title}:`, title);
  await page.waitForFunction(() => !document.querySelector("#explorer [aria-busy=true]"));
}

async function ranksAsTheEngine(page, expected) {
  for (const ranking of expected.rankings) {
    await ranked(page, ranking, { sort: "rank" });
    const byRank = await rows(page);
    assert.ok(byRank.length >= Math.min(10, ranking.ranked), `${byRank.length} rows are seen`);
    assert.deepEqual(byRank, ranking.byRank.slice(0, byRank.length), `by rank of ${ranking.id}`);
    await ranked(page, ranking);
    const order = await rows(page);
    assert.deepEqual(order, ranking.order.slice(0, order.length), `first rows by ${ranking.id}`);
    assert.equal(await page.innerText("#matching b"), count(ranking.ranked));
    if (ranking.order.length > 40) {
      await page.$eval(".list", (list, top) => (list.scrollTop = top), 25 * ROW);
      await page.waitForFunction((first) => Number(document.querySelector(".list .row[data-subgroup]")?.dataset.subgroup) === first, ranking.order[25]);
    }
  }
}

async function sortsAndFilters(page, expected) {
  const [first] = expected.rankings;
  await ranked(page, first);
  const head = (name) => page.getByRole("columnheader", { name }).getByRole("button");
  await head("people").last().click();
  await page.waitForFunction((first) => Number(document.querySelector(".list .row[data-subgroup]")?.dataset.subgroup) === first, expected.largest[0]);
  const largest = await rows(page);
  assert.deepEqual(largest, expected.largest.slice(0, largest.length));
  const matching = () => page.innerText("#matching b").then((text) => Number(text.replaceAll(",", "")));
  const type = async (text) => {
    await page.fill("#where", text);
    await page.press("#where", "Enter");
  };
  await type("no such feature = 1");
  await page.waitForSelector("#explorer .error");
  assert.match(await page.innerText("#explorer .error"), /no feature is called `no such feature`/);
  await type(expected.conditions);
  await page.waitForSelector("#explorer .error", { state: "detached" });
  await page.waitForSelector("#matching");
  assert.equal(await matching(), expected.meeting);
  await page.selectOption("#against", expected.groups[0]);
  await page.waitForFunction((left) => document.querySelector("#matching b")?.textContent === left, count(expected.meetingAgainstFirst));
  await page.click(".filters button");
  await page.waitForFunction((all) => document.querySelector("#matching b")?.textContent === all, count(first.ranked));
  assert.equal(await page.isDisabled("#passing"), expected.passing === null);
  if (expected.passing !== null) {
    await page.check("#passing");
    await page.waitForFunction((left) => document.querySelector("#matching b")?.textContent === left, count(expected.passing));
    await page.waitForFunction(() => !document.querySelector(".list .row.grey"));
    await page.click(".filters button");
  }
}

/** A rectangle over the plot chooses rows. */
async function brushes(page, expected) {
  await ranked(page, expected.rankings[0]);
  await assertDrawn(page, "canvas.scatter", 1);
  await page.$eval("canvas.scatter", (canvas) => canvas.scrollIntoView({ block: "center" }));
  const box = await (await page.$("canvas.scatter")).boundingBox();
  await page.mouse.move(box.x + 60, box.y + 30);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width / 2, box.y + 200, { steps: 4 });
  await page.mouse.up();
  await page.waitForFunction(() => location.hash.includes("people="));
  await page.waitForFunction(() => / of [\d,]+$/.test(document.querySelector("#matching")?.textContent ?? ""));
  await page.goBack();
}

/** What a subgroup's view says, in the shape of what is expected of it. */
function readSubgroup(page) {
  return page.$eval("#explorer main", (main) => {
    const text = (node) => node?.textContent.replace(/\s+/g, " ").trim() ?? null;
    const table = (name) => {
      const rows = main.querySelectorAll(`[aria-label="${name}"] tbody tr`);
      return [...rows].map((row) => [...row.children].map(text));
    };
    return {
      predicate: [...main.querySelectorAll(".chip")].map((chip) => text(chip).replace(/ ×$/, "")).join(", "),
      sides: [...main.querySelectorAll(".sides > li")].map((side) => ({
        name: text(side.querySelector(".group")),
        covered: text(side.querySelector(".covered")),
        value: text(side.querySelector(".compared > b")),
        interval: text(side.querySelector(".compared > .interval")),
        ways: [...side.querySelectorAll(".ways li")].map((way) => [".make", "b", ".cost", ".interval"].map((part) => text(way.querySelector(part)))),
        none: text(side.querySelector(".none")),
      })),
      verdict: text(main.querySelector(".said")),
      support: [...main.querySelectorAll(".support > p")].map(text),
      grey: main.querySelector(".scored .finding")?.classList.contains("grey") ?? false,
      score: text(main.querySelectorAll(".scored b")[1]),
      definitions: table("All definitions"),
      actions: table("All actions"),
    };
  });
}

/** Waits until a subgroup is shown by a definition. */
async function opened(page, { title, predicate }) {
  await page.waitForFunction(([title, predicate]) => {
    const chips = [...document.querySelectorAll(".chip")].map((chip) => chip.textContent.replace(/\s+/g, " ").trim().replace(/ ×$/, ""));
    return document.querySelector(".scored b")?.textContent === `${title}:` && chips.join(", ") === predicate;
  }, [title, plain(predicate)]);
}

/** Opens findings by the links that the report has, and reads them. */
async function opensFindings(page, expected) {
  for (const { subgroup, definition, title, ...said } of expected.findings) {
    await page.evaluate((hash) => (location.hash = hash), `#subgroup=${subgroup}&definition=${definition}`);
    await opened(page, { title, predicate: said.predicate });
    for (const more of await page.$$(".ways button.link")) await more.click();
    const found = await readSubgroup(page);
    assert.deepEqual(found, shape({
      ...said,
      sides: said.sides.map(({ members, covered, ways, ...side }) => ({
        ...side,
        covered: `${count(members)} people, ${covered} of the refused`,
        ways: ways.map(({ change, effectiveness, cost, interval }) => [`Make ${change}`, effectiveness, `cost ${cost}`, interval]),
      })),
      definitions: said.definitions.rows.map((row) => said.definitions.columns.map((_, place) => row[place] ?? "")),
      actions: said.actions.rows,
    }), `subgroup ${subgroup} by ${definition}`);
    assert.equal(await page.$$eval(".ecd svg path.line", (all) => all.length), 2 * expected.groups.length);
  }
}

/** Walks from a subgroup to broader and narrower ones, by links that can be shared. */
async function drillsDown(page, expected) {
  const [first] = expected.findings;
  const chips = () => page.$$eval(".chip", (all) => all.map((chip) => chip.textContent.replace(/ ×$/, "").trim()));
  await go(page, "drill", { predicate: first.predicate, definition: first.definition });
  await page.waitForSelector("#explorer .neighbours a");
  const links = await page.$$eval("#explorer .neighbours a", (all) => all.map((a) => [a.textContent, a.hash]));
  for (const [text, hash] of links.slice(0, 4)) {
    await go(page, "drill", { predicate: first.predicate, definition: first.definition });
    await opened(page, first);
    const before = await chips();
    await page.evaluate((hash) => (location.hash = hash), hash);
    const step = text.startsWith("+") ? 1 : -1;
    await page.waitForFunction((length) => document.querySelectorAll(".chip").length === length, before.length + step);
    const item = text.slice(1).trim();
    assert.equal((await chips()).includes(item), step === 1, `${text}: ${before} → ${await chips()}`);
  }
  await go(page, "drill");
  await page.waitForFunction(() => document.querySelectorAll(".chip").length === 0);
  await page.click(".crumbs a");
  return links.length;
}

/** Page one prints as one page, and a phone reaches the last story within 12 screens. */
async function answersFirst(browser, file) {
  const page = await open(browser, file, { viewport: { width: 390, height: 844 }, isMobile: true });
  const end = await page.$$eval("#report .story", (all) => all.at(-1).getBoundingClientRect().bottom + scrollY);
  assert.ok(end <= 12 * 844, `the last story ends after ${end / 844} screens`);
  await page.$$eval("#report main > section:not(#answer), footer", (all) => all.forEach((part) => part.remove()));
  const pdf = (await page.pdf({ preferCSSPageSize: true })).toString("latin1");
  assert.equal(pdf.match(/\/Type\s*\/Page\b/g).length, 1, "pages of the answer");
  await page.context().close();
}

/** Each canvas must hold ink. */
async function assertDrawn(page, selector, least) {
  await page.waitForSelector(selector);
  const inked = await page.$$eval(selector, (all) => all.map((canvas) => {
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    let ink = 0;
    for (let i = 3; i < data.length; i += 4) if (data[i] > 0) ink++;
    return ink;
  }));
  assert.ok(inked.length >= least, `${inked.length} of ${least} plots ${selector}`);
  for (const ink of inked) assert.ok(ink > 500, `a plot is empty: ${inked}`);
}

/** From the report to all subgroups, to one of them and back, with nothing but the keyboard. */
async function worksByKeyboard(page) {
  const tabTo = async (selector) => {
    for (let i = 0; i < 700; i++) {
      await page.keyboard.press("Tab");
      if (await page.evaluate((s) => document.activeElement.matches(s), selector)) return;
    }
    assert.fail(`the Tab key does not reach ${selector}`);
  };
  await tabTo("#subgroups a[href='#/subgroups']");
  await page.keyboard.press("Enter");
  await page.waitForSelector(".list .row[data-subgroup]", { timeout: 20_000 });
  await tabTo("#where");
  await tabTo("[role=columnheader] button");
  await tabTo("[role=columnheader] button");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.querySelectorAll("#explorer [role=columnheader]")[1].ariaSort === "ascending");
  await tabTo(".list .row a");
  await page.keyboard.press("Enter");
  await page.waitForSelector(".scored");
  await page.evaluate(() => document.querySelector("#explorer .skip").focus());
  await tabTo("nav a[href='#report']");
  await page.keyboard.press("Enter");
  await page.waitForSelector("#report:not([hidden])");
  assert.ok(await page.isHidden("#explorer"), "the report is back");
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

/** Looks at the report and at each view in several lights and sizes, and prints the report. */
async function looks(browser, file, name, expected, wanted) {
  const [finding] = expected.findings;
  const views = { answer: {}, stories: {}, matrix: {}, drill: { predicate: finding.predicate, definition: finding.definition }, subgroups: {} };
  const shapes = {
    light: { colorScheme: "light" },
    dark: { colorScheme: "dark" },
    phone: { colorScheme: "light", viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true },
    "phone-dark": { colorScheme: "dark", viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true },
  };
  const lesser = new Set();
  for (const shape of wanted) {
    const picture = (part) => path.join(folder, `${name}-${shape}${part}.png`);
    const page = await open(browser, file, shapes[shape]);
    await assertNoSidewaysScroll(page, `${name} ${shape}`);
    for (const id of await assertAccessible(page, `${name} ${shape}`)) lesser.add(id);
    await page.screenshot({ path: picture(""), fullPage: true });
    for (const [view, params] of Object.entries(views)) {
      await go(page, view, params);
      await page.waitForFunction(() => !document.querySelector("#explorer .asking, #explorer [aria-busy=true]"));
      await page.waitForTimeout(100);
      await assertNoSidewaysScroll(page, `${name} ${shape} ${view}`);
      for (const id of await assertAccessible(page, `${name} ${shape} ${view}`)) lesser.add(id);
      await page.screenshot({ path: picture(`-${view}`), fullPage: true });
    }
    page.assertQuiet();
    await page.context().close();
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
  await readsWithoutScript(browser, file, expected);
  const page = await open(browser, file);
  const started = Date.now();
  await tellsTheAnswer(page, expected);
  const told = Date.now() - started;
  await ranksAsTheEngine(page, expected);
  await sortsAndFilters(page, expected);
  if (isLarge) await brushes(page, expected);
  await opensFindings(page, expected);
  const beside = await drillsDown(page, expected);
  assert.equal(await page.evaluate(() => globalThis.broken), undefined, "a name from the data ran");
  page.assertQuiet();
  await page.context().close();
  if (expected.stories > 0) await answersFirst(browser, file);
  const fresh = await open(browser, file);
  await worksByKeyboard(fresh);
  fresh.assertQuiet();
  await fresh.context().close();
  const lesser = await looks(browser, file, name, expected, isLarge ? ["light", "dark", "phone", "phone-dark"] : ["dark", "phone"]);
  console.log(`${name}: answer, stories and matrix read in ${told} ms; ${expected.findings.length} findings read; ${beside} subgroups beside the first; axe: nothing serious or critical, lesser: ${lesser.join(" ") || "nothing"}`);
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
