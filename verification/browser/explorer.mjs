// Opens the explorer in a real Chromium and does with it what a person does.
//
// node explorer.mjs FOLDER CHROMIUM SAVED BENCH: SAVED and BENCH are addresses that `facts serve` printed,
// of two saved audits and of a configuration; FOLDER/expected.json says what must be found. Pictures are
// left in FOLDER. Ends with 1, and says why, if anything is wrong.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { chromium } from "playwright-core";

const [folder, executablePath, saved, bench] = process.argv.slice(2);
const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const expected = JSON.parse(await readFile(path.join(folder, "expected.json"), "utf8"));

/** Opens a page that is watched: it may ask nobody but its server, and complain about nothing. */
async function open(browser, address, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, acceptDownloads: true, ...options });
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const page = await context.newPage();
  const { origin } = new URL(address);
  const faults = [];
  page.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(origin) && !url.startsWith("data:") && !url.startsWith(`blob:${origin}`)) faults.push(`request to ${url}`);
  });
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) faults.push(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => faults.push(`error: ${error.stack}`));
  await page.goto(address);
  await ready(page);
  assert.ok(!page.url().includes("token"), "the token has left the address");
  page.assertQuiet = () => assert.deepEqual(faults, []);
  page.go = async (hash) => {
    await page.evaluate((to) => (location.hash = to), hash);
    await ready(page);
  };
  return page;
}

async function ready(page) {
  await page.waitForSelector("main[data-ready=yes]", { timeout: 20_000 });
  await page.waitForFunction(() => !document.querySelector("[aria-busy=true], .asking"));
}

const plain = (text) => text.replace(/\s+/g, " ").trim();

/** Rules of accessibility, and no overflow of the page itself. */
async function isAccessible(page, what) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
  const said = violations.map((one) => `${one.id}: ${one.nodes.map((node) => node.html.slice(0, 160)).slice(0, 3).join(" | ")}`);
  assert.deepEqual(said, [], what);
  const [wide, there] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  assert.ok(wide <= there, `${what} is ${wide} pixels wide in a window of ${there}`);
}

const total = (members) => members.reduce((sum, people) => sum + people, 0).toLocaleString("en");

/** The cells of rows, as a page has them. */
const cellsOf = (rows) => rows.map((row) => [...row.children].map((cell) => cell.textContent));

/** The counts of a distribution, as they stand below its plot. */
const counts = (curve, viewpoint) => curve.costs.map((cost, level) =>
  [String(Number(cost.toFixed(4))), ...curve.groups.map((group) => group[viewpoint][level].toLocaleString("en"))]);

/** What the page is given at an address of the API. */
const api = (page, path) => page.evaluate(async (path) => (await fetch(path)).json(), path);

const clipboard = (page) => page.evaluate(() => navigator.clipboard.readText());

async function answer(page) {
  await page.go("#/answer");
  const headings = await page.$$eval(".people thead th", (all) => all.map((one) => one.textContent));
  assert.ok(headings.every((one) => one !== "" && one !== "by cost"), `${headings}`);
  assert.equal(await page.innerText("#verdict"), expected.verdict);
  assert.equal(await page.innerText(".headline"), expected.headline);
  const drivers = expected.drivers.length > 16 ? [...expected.drivers.slice(0, 10), ...expected.drivers.slice(-6)] : expected.drivers;
  const of = ({ part, whole }) => `${part.toLocaleString("en")} of ${whole.toLocaleString("en")}`;
  const told = await page.$$eval(".drivers tbody tr", (all) => all.map((row) => [...row.children].filter((cell) => !cell.matches(".bar")).map((cell) => cell.textContent)));
  assert.deepEqual(told, drivers.map(({ item, worse, better }) => [item, of(worse), of(better)]));
}

async function stories(page) {
  await page.click("nav >> text=Stories");
  await page.waitForSelector(".story");
  const told = await page.$$eval(".story", (all) => all.map((story) => story.querySelector("p").textContent));
  assert.deepEqual(told.map(plain), expected.stories.map(plain));
  // Who is in several: the engine's counts, those of two stories beside each other.
  const shared = expected.told.stories.map((story, place) => story.overlaps.map((overlap, other) => {
    if (place === other) return "·";
    if (overlap.is !== "counted") return overlap.is === "nobody" ? "0" : "–";
    return total(overlap.members);
  }));
  if (shared.length > 1) {
    const table = await page.$$eval(".overlaps tbody tr", (all) => all.map((row) => [...row.querySelectorAll("td")].slice(1).map((cell) => cell.textContent.trim())));
    assert.deepEqual(table, shared);
  }
  // What is drawn stands below as numbers.
  await page.locator(".story").first().locator("summary").click();
  const curve = await page.locator(".story").first().locator(".steps table tbody tr").evaluateAll(cellsOf);
  assert.deepEqual(curve, counts(expected.told.stories[0].curve, "micro"));
  // Pinned and annotated, and so after coming back.
  await page.locator(".story").first().getByRole("button", { name: "Pin" }).click();
  await page.fill(".story textarea", "look at this first");
  await page.locator(".story textarea").blur();
  await page.reload();
  await page.waitForSelector(".story");
  assert.equal(await page.inputValue(".story textarea"), "look at this first");
}

async function matrix(page) {
  await page.click("nav >> text=Definitions");
  await page.waitForSelector(".matrix .cell");
  const cells = await page.$$eval(".matrix tbody tr", (rows) => rows.map((row) =>
    [...row.querySelectorAll("td")].map((cell) => cell.textContent.replace("●", "").trim())));
  assert.deepEqual(cells, expected.matrix);
  // Each sign has words: which kind of fair, or that it is not ranked.
  const signs = await page.$$eval(".matrix tbody td :is(a, span)", (all) => all.map((one) => [one.textContent.replace("●", ""), one.getAttribute("aria-label") ?? ""]));
  const words = { "=": "fair: equal", "∅": "fair: out of reach for everybody", "–": "not ranked" };
  for (const [sign, said] of signs.filter(([sign]) => sign in words)) assert.ok(said.includes(words[sign]), said);
  const legend = await page.innerText(".legend");
  for (const sign of Object.keys(words)) assert.ok(legend.includes(`${sign} ${words[sign]}`), legend);
}

async function drill(page) {
  const [predicate] = expected.predicates;
  await page.go("#/drill");
  await page.waitForSelector(".neighbours tbody tr");
  assert.match(await page.innerText("#everybody"), /^This is everybody\./);
  assert.ok((await page.$$(".neighbours tbody tr")).length > 3, "everybody has children");
  await page.click(".neighbours a >> nth=0");
  await page.waitForSelector(".chip");
  await ready(page);
  const one = await page.$$(".chip");
  assert.equal(one.length, 1);
  await page.locator("section", { hasText: "One condition more" }).last().locator(".neighbours a").first().click();
  await page.waitForFunction(() => document.querySelectorAll(".chip").length === 2);
  const link = page.url();
  // A chip taken away, undone, and the link sent to somebody else.
  await page.click(".chip >> nth=0");
  await page.waitForFunction(() => document.querySelectorAll(".chip").length === 1);
  await page.click("text=Undo");
  await page.waitForFunction(() => document.querySelectorAll(".chip").length === 2);
  const other = await page.context().newPage();
  await other.goto(link);
  await other.waitForFunction(() => document.querySelectorAll(".chip").length === 2);
  await other.close();
  await page.go(`#/drill?predicate=${encodeURIComponent(predicate)}`);
  assert.match(await page.innerText(".scored"), /score/);
  for (const more of await page.$$(".ways button.link")) await more.click();
  const texts = (selector) => page.$$eval(selector, (all) => all.map((one) => one.textContent.replace(/\s+/g, " ").trim()));
  const { sides, verdict, support, definitions, actions } = expected.drill;
  assert.deepEqual(await texts(".compared > b"), sides.map((side) => side.value));
  const ways = await page.$$eval(".ways li", (all) => all.map((way) => [".make", "b", ".cost"].map((part) => way.querySelector(part).textContent)));
  assert.deepEqual(ways, sides.flatMap((side) => side.ways.map((way) => [`Make ${way.change}`, way.effectiveness, `cost ${way.cost}`])));
  assert.deepEqual(await texts(".said"), [plain(verdict)]);
  assert.deepEqual(await texts(".support > p"), support.map(plain));
  const table = (name) => page.$$eval(`[aria-label="${name}"] tbody tr`, (all) => all.map((row) => [...row.children].map((cell) => cell.textContent)));
  assert.deepEqual(await table("All definitions"), definitions.rows);
  assert.deepEqual(await table("All actions"), actions.rows);
  for (const viewpoint of ["micro", "macro"]) {
    const [told] = expected.told.stories;
    const drawn = await page.$$eval(`[aria-label="Members with a way out by cost, ${viewpoint}"] tbody tr`, cellsOf);
    assert.deepEqual(drawn, counts(told.curve, viewpoint));
  }
}

/** The first rows of the table, in the shape of what is expected. */
function rows(page, count) {
  return page.$$eval(".list .row[data-subgroup]", (all, count) => all.slice(0, count).map((row) => {
    const cells = [...row.children].map((cell) => cell.textContent.trim());
    return { predicate: cells[1], people: cells[2], values: cells.slice(3, -3), score: cells.at(-3) };
  }), count);
}

async function shows(page, ranking) {
  await page.waitForFunction((title) => document.querySelector(".summary b")?.textContent === `${title}:`, ranking.title);
  await ready(page);
  assert.deepEqual(await rows(page, 5), ranking.first);
  assert.ok(plain(await page.innerText(".summary")).includes(`${ranking.unfair} of ${ranking.ranked} subgroups are unfair`));
}

async function subgroups(page) {
  await page.go("#/subgroups");
  for (const ranking of expected.rankings) {
    await page.selectOption(".definition select", ranking.id);
    await shows(page, ranking);
  }
  // One step of the slider by keyboard: ranked again, and not tested at this value.
  await page.focus("#phi");
  await page.keyboard.press("ArrowRight");
  await shows(page, expected.slid);
  assert.match(await page.innerText("#tested"), /^Not tested at this value/);
  // Whatever it slides to has a name and a question.
  const named = () => page.$eval(".definition select", (select) => select.selectedOptions[0].textContent);
  assert.equal(await named(), expected.slid.title);
  assert.ok((await page.innerText(".definition .soft")).length > 10);
  // The budget, and α, by a step.
  const budget = "equal-effectiveness-within-budget:micro:2";
  await page.go(`#/subgroups?definition=${budget}`);
  await page.focus("#budget");
  await page.keyboard.press("ArrowRight");
  await page.waitForFunction((before) => new URLSearchParams(location.hash.split("?")[1]).get("definition") !== before, budget);
  const moved = await page.evaluate(() => new URLSearchParams(location.hash.split("?")[1]).get("definition"));
  const found = await api(page, `/api/audits/0/subgroups?count=5&definition=${moved}`);
  await shows(page, {
    title: found.title,
    ranked: found.ranked.toLocaleString("en"),
    unfair: found.unfair.toLocaleString("en"),
    first: found.rows.map((row) => ({ predicate: row.predicate, people: total(row.members), values: row.values, score: row.score })),
  });
  assert.notEqual(found.title, (await api(page, `/api/audits/0/subgroups?count=1&definition=${budget}`)).title);
  await page.go("#/subgroups?definition=equal-effectiveness:micro&alpha=0.11");
  await page.focus("#alpha");
  await page.keyboard.press("ArrowLeft");
  await page.waitForFunction((passing) => document.querySelector("#tested")?.textContent === passing, expected.atLevel);
  await page.go("#/subgroups");
  await page.selectOption(".definition select", "equal-effectiveness:micro");
  await shows(page, expected.rankings[0]);
  // Filters, and a rectangle drawn over the points.
  const matching = () => page.innerText("#matching");
  const all = await matching();
  await page.fill("#where", "job = nobody");
  await page.keyboard.press("Enter");
  await page.waitForSelector(".error");
  await page.fill("#where", "job");
  await page.keyboard.press("Enter");
  await page.waitForFunction((all) => document.querySelector("#matching")?.innerText !== all && !document.querySelector(".error"), all);
  await page.click("text=Clear");
  await page.waitForFunction((all) => document.querySelector("#matching")?.innerText === all, all);
  const box = await page.locator(".scatter").boundingBox();
  await page.mouse.move(box.x + box.width * 0.4, box.y + 20);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.9, box.y + box.height * 0.5, { steps: 5 });
  await page.mouse.up();
  await page.waitForFunction((all) => document.querySelector("#matching")?.innerText !== all, all);
  assert.match(await matching(), / of /);
  // What is left is what is saved: all rows, as CSV and as JSON.
  const left = Number((await matching()).split(" ")[0].replace(",", ""));
  const save = async (name) => {
    const [download] = await Promise.all([page.waitForEvent("download"), page.click(name)]);
    return readFile(await download.path(), "utf8");
  };
  const seen = await rows(page, 5);
  const csv = (await save("text=These rows as CSV")).trim().split("\n");
  const json = JSON.parse(await save("text=as JSON"));
  assert.deepEqual([csv.length - 1, json.rows.length], [left, left]);
  assert.deepEqual(json.rows.slice(0, 5).map((row) => row.predicate), seen.map((row) => row.predicate));
  assert.ok(csv[1].includes(seen[0].predicate), csv[1]);
  assert.match(await page.innerText(".lacks"), /choose by people or choose by score/);
  assert.ok(page.url().includes("people="), "the brush stands in the address");
  // The end of the table is there, too.
  await page.click("text=Clear");
  await page.waitForFunction((all) => document.querySelector("#matching")?.innerText === all, all);
  await page.waitForFunction((all) => {
    // Again and again: the list may not have grown to its length yet.
    const list = document.querySelector(".list");
    list.scrollTo(0, list.scrollHeight);
    const last = list.querySelector(".row[data-subgroup]:last-child");
    return last?.ariaRowIndex === String(Number(all.replace(/[^\d]/g, "")) + 1);
  }, all);
  await page.click("[role=columnheader] >> text=people >> nth=1");
  await page.waitForSelector("[aria-sort=descending]");
  await ready(page);
  const people = (await rows(page, 5)).map((row) => Number(row.people.replace(",", "")));
  assert.deepEqual(people, [...people].sort((a, b) => b - a));
}

/** How long the page takes to rank again while a slider moves, in its own measure; told, not judged. */
async function times(page) {
  await page.go("#/subgroups?definition=equal-cost-of-effectiveness:macro:0.3");
  const taken = await page.evaluate(async () => {
    const taken = [];
    for (let step = 40; step < 60; step += 1) {
      const start = performance.now();
      location.hash = `#/subgroups?definition=equal-cost-of-effectiveness:macro:0.${step}`;
      await new Promise((done) => {
        const look = () => document.querySelector(".summary b")?.textContent.includes(`0.${step === 50 ? 5 : step}`.replace(/0$/, ""))
          ? done() : requestAnimationFrame(look);
        look();
      });
      taken.push(performance.now() - start);
    }
    return taken.sort((a, b) => a - b);
  });
  console.log(`ranked again in ${taken[10].toFixed(0)} ms at the median of ${taken.length}`);
}

async function compare(page) {
  await page.go("#/compare");
  assert.equal(await page.innerText("#trend"), expected.trend);
  assert.equal(plain(await page.innerText(".headline")), plain(expected.sentence));
  const open = page.locator("details[open] button.link").first();
  if (await open.count() === 0) await page.locator("details summary").first().click();
  await page.locator("details[open] button.link").first().click();
  // Both distributions: a line for each group before, and one now.
  const of = async (audit) => (await api(page, `/api/audits/${audit}/subgroups?definition=equal-effectiveness:micro&count=500`)).rows.map((row) => row.predicate);
  const before = new Set(await of(0));
  const both = (await of(1)).find((predicate) => before.has(predicate));
  await page.go(`#/compare?predicate=${encodeURIComponent(both)}`);
  await page.waitForFunction(() => document.querySelectorAll(".steps path.line").length === 4);
  assert.equal(await page.locator(".steps path.line.dashed").count(), 2);
}

async function handOver(page) {
  await page.go("#/hand-over");
  assert.equal(await page.inputValue("textarea"), "look at this first");
  for (const form of ["Markdown", "One page"]) {
    const [download] = await Promise.all([page.waitForEvent("download"), page.click(`text=${form}`)]);
    const text = await readFile(await download.path(), "utf8");
    for (const told of ["look at this first", "facts show before"]) assert.ok(text.includes(told), `${form}: ${told}`);
    if (form === "Markdown") continue;
    const handed = await page.context().newPage();
    await handed.setContent(text);
    assert.equal(await handed.innerText("h1"), expected.verdict);
    const said = plain(await handed.innerText("body"));
    for (const told of [expected.headline, expected.stories[0], "Audited on", "Bias against"]) assert.ok(said.includes(plain(told)), told);
    assert.equal(await handed.locator("svg.plotted").count(), 1);
    assert.equal(await handed.locator("svg.plotted path.steps").count(), 2);
    await handed.screenshot({ path: path.join(folder, "handed-over.png"), fullPage: true });
    await handed.close();
  }
  await page.click("text=Copy a link");
  const link = await clipboard(page);
  // Whoever may open the server sees the pins of the link, and none of their own.
  const cookies = await page.context().cookies();
  const other = await page.context().browser().newContext({ storageState: { cookies, origins: [] } });
  const theirs = await other.newPage();
  await theirs.goto(link);
  await theirs.waitForSelector(".changed textarea");
  assert.equal(await theirs.inputValue("textarea"), "look at this first");
  assert.equal(await theirs.locator(".changed li").count(), 1);
  await other.close();
  // Removed, and put back.
  await page.click("text=Remove");
  await page.waitForFunction(() => !document.querySelector("textarea"));
  await page.click("text=Put back");
  await page.waitForSelector("textarea");
  assert.equal(await page.inputValue("textarea"), "look at this first");
  // Pins are known by what was audited, not by when.
  const { audits: [{ made }] } = await api(page, "/api/session");
  const keys = await page.evaluate(() => Object.keys(localStorage));
  assert.ok(keys.length > 0 && keys.every((one) => !one.includes(made)), `${keys}`);
  await page.go("#/answer");
  await page.click("text=Copy the command");
  assert.match(await clipboard(page), /^facts show /);
}

/** Waits until no work goes on. */
async function rests(page) {
  await page.waitForFunction(() => !document.querySelector(".working"), undefined, { timeout: 60_000 });
}

/** Presses the button of the form, and waits for the numbers and what follows. */
async function tries(page, audit) {
  await page.click("text=Try it");
  await page.waitForFunction((audit) => location.hash.includes(`audit=${audit}`), audit, { timeout: 60_000 });
  await rests(page);
  await ready(page);
}

async function whatIf(page) {
  await page.go("#/what-if");
  await rests(page);
  await page.selectOption("[aria-label='What if job']", "immutable");
  await page.fill("#scenario", "jobs stay");
  await tries(page, 1);
  await page.go("#/answer?audit=1");
  assert.equal(await page.innerText(".headline"), expected.whatIf);
  await page.go("#/compare?old=0&new=1");
  assert.ok((await page.innerText("#trend")).length > 3);
  // What is not tested at a value is tested in the background, and filled in.
  await page.go("#/subgroups?audit=1&definition=equal-choice:0.55");
  await page.waitForFunction(() => / pass at /.test(document.querySelector("#tested")?.textContent ?? ""), undefined, { timeout: 60_000 });
  // Likewise where one looks at one subgroup; one level stands there.
  const { rows: [{ predicate }] } = await api(page, "/api/audits/1/subgroups?count=1&unfair=1&definition=equal-choice:0.65");
  await page.go(`#/drill?audit=1&definition=equal-choice:0.65&predicate=${encodeURIComponent(predicate)}`);
  assert.match(await page.innerText(".support"), /Not tested/);
  await page.waitForFunction(() => !/Not tested/.test(document.querySelector(".found")?.textContent ?? "Not tested"), undefined, { timeout: 60_000 });
  const filled = await api(page, `/api/audits/1/subgroup?definition=equal-choice:0.65&predicate=${encodeURIComponent(predicate)}`);
  assert.deepEqual(await page.$$eval(".support > p", (all) => all.map((one) => one.textContent)), filled.found.support);
  assert.ok(filled.found.support[0].includes(`${filled.found.row.p} among all`), filled.found.support[0]);
}

const features = (page) => page.$$eval(".features tbody tr", (all) => Object.fromEntries(all.map((row) => [row.children[0].textContent, row.children[1].textContent])));

/** A what-if out of a what-if keeps what the first one said; the form stands in the address. */
async function whatIfAgain(page) {
  await page.go("#/what-if?audit=1");
  await rests(page);
  const before = await features(page);
  assert.equal(before.job, "may not change");
  assert.equal(before.degree, "may change, only upwards, weight 3");
  assert.match(await page.innerText("#base"), /^Put over jobs stay: features.job.immutable=true/);
  // A feature that may only go one way may go both.
  await page.selectOption("[aria-label='What if degree']", "free");
  await page.fill("[aria-label='Weight of degree']", "2");
  await page.fill("[aria-label='Steps of degree at most']", "1");
  await page.fill("[aria-label='Bins of years']", "3");
  await page.fill("#support", "0.06");
  const form = () => page.$$eval(".what-if :is(input, select, textarea)", (all) => all.map((one) => one.value));
  const filled = await form();
  await page.reload();
  await ready(page);
  assert.deepEqual(await form(), filled);
  const command = await page.innerText(".what-if .command code");
  await tries(page, 2);
  const settings = ["features.job.immutable=true", "features.degree.immutable=false", "features.degree.only=any",
    "features.degree.weight=2", "features.degree.max-step=1", "features.years.quantiles=3", "audit.support=0.06"];
  await page.waitForFunction(() => /weight=2/.test(document.querySelector("#base")?.textContent));
  await ready(page);
  const { audits } = await api(page, "/api/session");
  assert.deepEqual(audits[2].settings, settings);
  assert.equal(audits[2].command, command);
  const after = await features(page);
  assert.equal(after.job, "may not change");
  assert.equal(after.degree, "may change, by 1 level at most, weight 2");
  assert.equal((await api(page, "/api/audits/2")).answer.headline, expected.again);
  assert.ok((await form()).every((value) => value === ""), "what is made is in the form no more");
  // Undone: the form as it was, over the audit as it was.
  await page.click("text=Undo");
  await page.waitForFunction(() => location.hash.includes("audit=1"));
  await ready(page);
  assert.deepEqual(await form(), filled);
  await page.click("text=Start again from the first");
  await page.waitForFunction(() => /^Put over as configured/.test(document.querySelector("#base")?.textContent));
  await ready(page);
  assert.equal((await features(page)).job, "may change, weight 2");
  // Groups crossed, and the configuration saved.
  await page.selectOption("#cross", "region");
  await tries(page, 3);
  assert.match((await api(page, "/api/audits/3")).groups.map((group) => group.name).join(), /Female.*south|south.*Female/);
  await page.go("#/what-if?audit=2");
  const save = page.getByRole("row", { name: /features\.degree/ }).getByText("save as facts.toml").first();
  const [download] = await Promise.all([page.waitForEvent("download"), save.click()]);
  const saved = await readFile(await download.path(), "utf8");
  for (const line of ['only = "any"', "max-step = 1", "quantiles = 3", "support = 0.06"]) assert.ok(saved.includes(line), saved);
  // What cannot be is said at the form, can be closed, and is gone elsewhere.
  const refuse = async () => {
    await page.fill("#settings", "features.nothing.weight=2");
    await page.click("text=Try it");
    await page.waitForSelector(".what-if .error");
    assert.match(await page.innerText(".what-if .error"), /nothing/);
    assert.equal(await page.locator(".error").count(), 1);
  };
  await refuse();
  await page.click(".what-if .error >> text=Close");
  assert.equal(await page.locator(".error").count(), 0);
  await refuse();
  await page.click("nav >> text=Answer");
  await page.waitForFunction(() => !document.querySelector(".error"));
  // What takes long can be stopped.
  await page.go("#/what-if?audit=0&more=evidence.shuffles%3D200000&name=long");
  const held = (await api(page, "/api/session")).audits.length;
  await page.click("text=Try it");
  await page.click(".working >> text=Cancel");
  await page.waitForFunction(() => /^Cancelled/.test(document.querySelector("main .closes")?.textContent ?? ""), undefined, { timeout: 60_000 });
  assert.ok((await api(page, "/api/session")).audits.length <= held + 1);
  await page.go("#/answer?audit=0");
}

/** Somebody found by typing, chosen and opened by keyboard; what is told is the engine's. */
async function person(page) {
  const { where, profiles, page: told } = expected.person;
  await page.go("#/person");
  await page.selectOption("#group", "Female");
  await page.fill("#who", where);
  await page.keyboard.press("Enter");
  const listed = () => page.$$eval(".people-list tbody th", (all) => all.map((one) => Number(one.textContent)));
  await page.waitForFunction((count) => document.querySelectorAll(".people-list tbody tr").length === count, Math.min(50, profiles.length));
  assert.deepEqual(await listed(), profiles.slice(0, 50));
  await page.getByRole("button", { name: `Profile ${told.profile}`, exact: true }).focus();
  await page.keyboard.press("Enter");
  await page.waitForSelector("#person");
  await ready(page);
  assert.equal(await page.innerText("#person"), told.headline);
  const ways = await page.$$eval(".turning tbody tr", (rows) => rows.map((row) => [...row.children].map((cell) => cell.textContent)));
  assert.deepEqual(ways, told.turning.slice(0, 20).map((one) => [one.cost_text, one.change]));
  const fare = (name) => page.$$eval(`[aria-label='${name}'] tbody tr`, (rows) => rows.map((row) => [...row.children].map((cell) => cell.textContent)));
  assert.deepEqual(await fare("People like them, by group"), told.alike.table.rows);
  assert.deepEqual(await fare("The closest subgroup, by group"), told.closest.table.rows);
  await page.locator(".person").getByRole("button", { name: "Copy the command" }).click();
  assert.match(await page.evaluate(() => navigator.clipboard.readText()), new RegExp(`^facts audit .* --person ${told.profile}$`));
  // The link shows the same to whoever opens it, and going back goes back to the list.
  const other = await page.context().newPage();
  await other.goto(page.url());
  await other.waitForSelector("#person");
  assert.equal(await other.innerText("#person"), told.headline);
  await other.close();
  await page.click("text=Undo");
  await page.waitForFunction(() => !document.querySelector("#person"));
  // Numbers in bins are compared with the person's own.
  await page.fill("#who", "years >= 7");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => location.hash.includes("years"));
  await ready(page);
  assert.equal(await page.locator(".error").count(), 0);
  const at = await page.$$eval(".people-list thead th", (all) => all.findIndex((one) => one.textContent === "years"));
  const years = await page.$$eval(".people-list tbody tr", (all, at) => all.map((row) => Number(row.children[at].textContent)), at);
  assert.ok(years.length > 3 && years.every((one) => one >= 7), `${years}`);
}

async function byKeyboard(page) {
  await page.go("#/answer");
  await page.keyboard.press("Tab");
  for (let presses = 0; presses < 30; presses += 1) {
    const at = await page.evaluate(() => document.activeElement?.textContent);
    if (at === "All subgroups") break;
    await page.keyboard.press("Tab");
  }
  await page.keyboard.press("Enter");
  await page.waitForSelector(".list");
}

const LOOKS = [
  ["wide", {}],
  ["narrow", { viewport: { width: 390, height: 800 } }],
  ["dark", { colorScheme: "dark" }],
  ["narrow-dark", { viewport: { width: 390, height: 800 }, colorScheme: "dark" }],
];

/** A view as a picture, and by the rules of accessibility. */
async function look(page, view, hash, name) {
  await page.go(hash);
  await page.waitForTimeout(150);
  await page.screenshot({ path: path.join(folder, `${view}-${name}.png`), fullPage: true });
  await isAccessible(page, `${view}, ${name}`);
}

const VIEWS = ["answer", "stories", "matrix", "drill", "subgroups", "compare", "hand-over"];

const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
try {
  const page = await open(browser, saved);
  for (const step of [answer, stories, matrix, drill, subgroups, compare, handOver, byKeyboard]) {
    await step(page);
    console.log(`${step.name}: as expected`);
  }
  // A condition that cannot be read is refused by the server, which browsers log as an error.
  await page.context().close();

  for (const [name, options] of LOOKS) {
    const page = await open(browser, saved, options);
    // People are never shown of a saved audit.
    assert.equal(await page.locator("nav >> text=One person").count(), 0);
    const [predicate] = expected.predicates;
    for (const view of VIEWS) {
      await look(page, view, view === "drill" ? `#/drill?predicate=${encodeURIComponent(predicate)}` : `#/${view}`, name);
    }
    page.assertQuiet();
    await page.context().close();
  }

  const working = await open(browser, bench);
  assert.equal(await working.locator("nav >> text=One person").count(), 1);
  await whatIf(working);
  console.log("whatIf: as expected");
  await whatIfAgain(working);
  console.log("whatIfAgain: as expected");
  await person(working);
  console.log("person: as expected");
  await times(working);
  working.assertQuiet();
  await working.context().close();
  for (const [name, options] of LOOKS) {
    const page = await open(browser, bench, options);
    for (const [view, hash] of [["what-if", "#/what-if"], ["person", `#/person?profile=${expected.person.page.profile}`], ["scenarios", "#/compare?old=0&new=1"]]) {
      await look(page, view, hash, name);
    }
    // What can be typed in is seen without scrolling sideways.
    await page.go("#/what-if");
    const [wide, there] = await page.$eval(".what-if .scrolls", (box) => [box.scrollWidth, box.clientWidth]);
    assert.ok(wide <= there, `what-if, ${name}: features take ${wide} of ${there} pixels`);
    page.assertQuiet();
    await page.context().close();
  }
} finally {
  await browser.close();
}
