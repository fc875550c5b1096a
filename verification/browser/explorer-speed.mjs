// How quick the explorer is in a real Chromium, in the browser's own measure. Told, not judged.
//
// node explorer-speed.mjs CHROMIUM BENCH LARGE: addresses that `facts serve` printed, of a configuration with
// model and table, and of a saved audit with many subgroups.

import { chromium } from "playwright-core";

const [executablePath, bench, large] = process.argv.slice(2);

async function open(browser, address) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  const started = Date.now();
  await page.goto(address);
  await page.waitForSelector("main[data-ready=yes]", { timeout: 120_000 });
  console.log(`${new URL(address).port}: ready after ${Date.now() - started} ms`);
  await page.waitForFunction(() => !document.querySelector(".working"), undefined, { timeout: 300_000 });
  return page;
}

const median = (sorted) => sorted[Math.floor(sorted.length / 2)];

/** From a step of the slider of φ to the frame after the new ranking is there. */
async function slider(page) {
  await page.evaluate(() => { location.hash = "#/subgroups?definition=equal-cost-of-effectiveness:macro:0.3"; });
  await page.waitForSelector("#phi");
  await page.waitForFunction(() => document.querySelector(".summary b")?.textContent.includes("0.3"));
  const { taken, all } = await page.evaluate(async () => {
    const slider = document.querySelector("#phi");
    const shown = (value) => document.querySelector(".summary b")?.textContent.includes(`φ = ${value}`);
    const taken = [];
    for (let step = 31; step < 71; step += 1) {
      const value = String(step / 100);
      const start = performance.now();
      slider.value = value;
      slider.dispatchEvent(new Event("input", { bubbles: true }));
      await new Promise((done) => {
        const look = () => (shown(value) && !document.querySelector(".summary")?.closest("[aria-busy=true]") ? requestAnimationFrame(done) : requestAnimationFrame(look));
        look();
      });
      taken.push(performance.now() - start);
    }
    return { taken: taken.sort((a, b) => a - b), all: document.querySelector(".summary")?.textContent };
  });
  console.log(`slider: median ${median(taken).toFixed(0)} ms, 90 % within ${taken[Math.floor(taken.length * 0.9)].toFixed(0)} ms, ${taken.length} steps (${all})`);
}

/** From the button to the numbers of the new audit on the page. */
async function whatIf(page) {
  const taken = [];
  for (let round = 1; round <= 5; round += 1) {
    await page.evaluate(() => { location.hash = "#/what-if?audit=0"; });
    await page.waitForSelector(".what-if");
    const feature = await page.$eval("select[aria-label^='What if ']", (select) => select.ariaLabel.slice(8));
    await page.fill(`[aria-label='Weight of ${feature}']`, String(round + 1));
    taken.push(await page.evaluate(async () => {
      const start = performance.now();
      document.querySelector(".what-if button[type=submit]").click();
      await new Promise((done) => {
        const look = () => (location.hash.includes("audit=") && !location.hash.includes("audit=0") && document.querySelector("main[data-ready=yes]")
          ? requestAnimationFrame(done) : requestAnimationFrame(look));
        look();
      });
      return performance.now() - start;
    }));
    await page.waitForFunction(() => !document.querySelector(".working"), undefined, { timeout: 300_000 });
  }
  taken.sort((a, b) => a - b);
  console.log(`what-if: median ${median(taken).toFixed(0)} ms, from ${taken[0].toFixed(0)} to ${taken.at(-1).toFixed(0)} ms, ${taken.length} audits`);
}

/** Frames a second while the table of all subgroups scrolls for five seconds. */
async function scrolling(page) {
  await page.evaluate(() => { location.hash = "#/subgroups"; });
  await page.waitForSelector(".list .row[data-subgroup]", { timeout: 60_000 });
  const rows = await page.innerText("#matching");
  const { frames, seconds, filled } = await page.evaluate(async () => {
    const list = document.querySelector(".list");
    let frames = 0;
    let filled = 0;
    const start = performance.now();
    await new Promise((done) => {
      const step = () => {
        frames += 1;
        list.scrollTop += 60;
        if (document.querySelector(".list .row[data-subgroup]")) filled += 1;
        if (performance.now() - start > 5000) done();
        else requestAnimationFrame(step);
      };
      step();
    });
    return { frames, filled, seconds: (performance.now() - start) / 1000 };
  });
  console.log(`scrolling ${rows}: ${(frames / seconds).toFixed(0)} frames a second, rows in ${filled} of ${frames} frames`);
}

const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
try {
  console.log(`Chromium ${browser.version()}`);
  const page = await open(browser, bench);
  await slider(page);
  await whatIf(page);
  await scrolling(await open(browser, large));
} finally {
  await browser.close();
}
