// The main path of the explorer in a real Firefox, over WebDriver BiDi: the answer, stories, definitions, a
// subgroup, a slider, one person, hand over; nothing is asked of anybody else and nothing complains.
//
// node firefox.mjs FOLDER FIREFOX SAVED BENCH, as explorer.mjs. Ends with 1, and says why, if anything is wrong.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import path from "node:path";
import puppeteer from "puppeteer-core";

const [folder, executablePath, saved, bench] = process.argv.slice(2);
const expected = JSON.parse(await readFile(path.join(folder, "expected.json"), "utf8"));
const text = (page, selector) => page.$eval(selector, (element) => element.innerText);
const ready = async (page) => {
  await page.waitForSelector("main[data-ready=yes]", { timeout: 20_000 });
  await page.waitForFunction(() => !document.querySelector("[aria-busy=true], .asking"));
};

async function open(browser, address) {
  const page = await browser.newPage();
  const { origin } = new URL(address);
  const faults = [];
  page.on("request", (request) => {
    if (!request.url().startsWith(origin) && !request.url().startsWith("data:")) faults.push(`request to ${request.url()}`);
  });
  page.on("console", (message) => {
    if (["error", "warn"].includes(message.type())) faults.push(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => faults.push(`error: ${error.message}`));
  await page.goto(address);
  await ready(page);
  assert.ok(!page.url().includes("token"), "the token has left the address");
  page.assertQuiet = () => assert.deepEqual(faults, []);
  page.go = async (hash) => {
    await page.evaluate((to) => { location.hash = to; }, hash);
    await ready(page);
  };
  return page;
}

const browser = await puppeteer.launch({ browser: "firefox", executablePath, headless: true });
try {
  const page = await open(browser, saved);
  assert.equal(await text(page, "#verdict"), expected.verdict);
  assert.equal(await text(page, ".headline"), expected.headline);
  await page.go("#/stories");
  await page.waitForSelector(".story");
  assert.equal((await page.$$(".story")).length, expected.stories.length);
  await page.go("#/matrix");
  await page.waitForSelector(".matrix .cell");
  await page.go(`#/drill?predicate=${encodeURIComponent(expected.predicates[0])}`);
  assert.match(await text(page, ".scored"), /score/);
  await page.go("#/subgroups?definition=equal-cost-of-effectiveness:macro:0.3");
  await page.focus("#phi");
  await page.keyboard.press("ArrowRight");
  await page.waitForFunction((title) => document.querySelector(".summary b")?.textContent === `${title}:`, {}, expected.slid.title);
  await ready(page);
  const first = await page.$$eval(".list .row[data-subgroup]", (rows) => rows.slice(0, 5).map((row) => row.children[1].textContent.trim()));
  assert.deepEqual(first, expected.slid.first.map((row) => row.predicate));
  await page.go("#/compare");
  assert.equal(await text(page, "#trend"), expected.trend);
  await page.go("#/hand-over");
  page.assertQuiet();

  const people = await open(browser, bench);
  const { page: told } = expected.person;
  await people.go(`#/person?profile=${told.profile}`);
  await people.waitForSelector("#person");
  assert.equal(await text(people, "#person"), told.headline);
  people.assertQuiet();
  console.log(`as expected in ${await browser.version()}`);
} finally {
  await browser.close();
}
