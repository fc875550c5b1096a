// The explorer inside report.html: at addresses that begin with `#/` it takes the place of the report, with its
// own style, and is answered from what the page carries.

import { render } from "preact";
import { answerFrom } from "./api";
import { App, VIEWS } from "./app";
import { href } from "./address";
import { answer } from "./offline/answers";
import { Audit, unpack } from "./offline/payload";
import "./style.css";

const at = (id: string) => document.getElementById(id) as HTMLElement;

/** Unpacked when it is first needed: whoever only reads the report does not wait for it. */
let unpacked: Promise<Audit> | null = null;

function audit(): Promise<Audit> {
  unpacked ??= unpack(at("payload").textContent ?? "").then((bytes) => new Audit(bytes));
  return unpacked;
}

/** Links of the report name a subgroup by its place: `#subgroup-7`, `#subgroup=7&definition=…`. */
async function openSubgroup(place: number, definition: string) {
  const predicate = (await audit()).ranked.texts[place] ?? "";
  location.replace(href("drill", { predicate, definition }));
}

const title = document.title;
let begun = false;
let left = 0;

/** Shows the report or the explorer, as the address says. */
function show() {
  const link = /^#subgroup[-=](\d+)(?:&definition=(.*))?$/.exec(location.hash);
  if (link) {
    void openSubgroup(Number(link[1]), decodeURIComponent(link[2] ?? ""));
    return;
  }
  const explores = location.hash.startsWith("#/");
  const [report, explorer] = [at("report"), at("explorer")];
  if (explores === explorer.hidden) {
    if (explores) left = scrollY;
    report.hidden = explores;
    explorer.hidden = !explores;
    (at("report-style") as HTMLStyleElement).media = explores ? "not all" : "all";
    (at("explorer-style") as HTMLStyleElement).media = explores ? "all" : "not all";
    if (!explores) {
      document.title = title;
      const anchor = location.hash === "#report" ? null : document.getElementById(location.hash.slice(1));
      if (anchor) anchor.scrollIntoView();
      else scrollTo(0, left);
    } else {
      scrollTo(0, 0);
    }
  }
  if (explores && !begun) {
    begun = true;
    if (typeof DecompressionStream === "undefined") {
      explorer.textContent = "This browser is too old to unpack the subgroups; the report reads without them.";
      return;
    }
    answerFrom(async (path) => answer(await audit(), path));
    render(<App all={VIEWS} />, explorer);
  }
}

addEventListener("hashchange", show);
show();
document.documentElement.dataset.ready = "yes";
