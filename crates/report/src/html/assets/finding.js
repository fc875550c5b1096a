// One subgroup: its comparative subgroup counterfactual, distributions, scores and actions.

function wayItem(audit, s, g, action) {
  const members = audit.members[g][s];
  const flipped = audit.flipped(action, g);
  return element("li", {},
    element("span", { class: "make" }, "Make ", name(audit.changeText(action))), " ",
    element("span", { class: "effect" },
      flipped === null ? null : [bar(flipped / members, g), " "],
      element("b", {}, flipped === null ? SUPPRESSED : percent(flipped, members))), " ",
    element("span", { class: "cost" }, `cost ${number(audit.costOf[action])}`), " ",
    flipped === null || !audit.intervals ? null
      : interval(audit, clopperPearson(flipped, members, audit.intervals.alpha), "interval within"));
}

/** `95% interval 28.8% to 51.5%`. */
function interval(audit, bounds, kind = "interval") {
  return element("span", { class: kind }, `${audit.intervals.confidence} interval ${bounds}`);
}

/** Why nothing is listed for a group, and what comes closest, as csc.rs says it. */
function noneListed(audit, column, s, g) {
  const members = audit.members[g][s];
  const helped = (action) => audit.flipped(action, g);
  const actions = audit.actions(s);
  // The cheapest of those that work best.
  const best = actions.reduce((best, action) => helped(action) > (best === null ? 0 : helped(best)) ? action : best, null);
  if (best === null) {
    return actions.some((action) => helped(action) === null)
      ? "No action is listed; how often each works is suppressed." : "No valid action helps anybody here.";
  }
  const missed = () => {
    if (column.phi !== null && column.viewpoint === "micro") {
      const together = audit.distribution(s, "micro").reached[g].at(-1);
      return `All actions together reach${together === null ? "" : ` ${percent(together, members)}`}, not ${number(column.phi * 100)}%.`;
    }
    if (column.phi !== null) return `No action reaches ${number(column.phi * 100)}%.`;
    return column.budget !== null ? `No action lies within cost ${number(column.budget)}.` : "No action is listed.";
  };
  return `${missed()} The best: make ${audit.changeText(best)}, ${percent(helped(best), members)} (cost ${number(audit.costOf[best])}).`;
}

function side(audit, column, s, g) {
  const group = audit.groups[g];
  const members = audit.members[g][s];
  const listed = audit.isSuppressed(column, s) ? audit.actions(s) : audit.listed(column, s, g);
  const ways = listed.map((action) => wayItem(audit, s, g, action));
  const bounds = column.close[s]?.values[g];
  const covered = `${percent(members, group.affected)} covered (${count(members)} of ${count(group.affected)})`;
  return element("div", { class: "side" },
    element("h3", {}, mark(g), " ", name(group.name), " ", element("small", {}, covered)),
    element("p", { class: "compared" }, "Compared: ", element("b", {}, audit.value(column, s, g)),
      bounds ? [" ", interval(audit, bounds)] : null),
    ways.length === 0
      ? element("p", { class: "none" }, name(noneListed(audit, column, s, g)))
      : element("ul", { class: "ways" }, ways));
}

function verdict(audit, column, s) {
  if (audit.isSuppressed(column, s)) {
    return element("p", { class: "verdict" }, `Not ranked by ${column.title}: a count that it needs is suppressed.`);
  }
  const against = audit.against(column, s).map((g) => audit.groups[g].name);
  if (against.length === 0) return element("p", { class: "verdict fair" }, element("b", {}, "Fair"),
    ` by ${column.title}. ${audit.isOutOfReach(column, s) ? "Nobody gets there: out of reach for everybody." : "The groups fare alike."}`);
  const passes = column.passes
    ? ` The gap ${column.passes[s] ? "passes" : "does not pass"} the definition’s significance test.` : "";
  return element("p", { class: "verdict" },
    element("b", {}, "Bias against ", name(quotedList(against))),
    ` by ${column.title}. Unfairness score = ${audit.score(column, s)}.${passes}`);
}

const VERDICTS = {
  "family-wise": "Evidence",
  "false-discovery": "Stands by false discovery rate only",
  chance: "Compatible with chance",
  "cannot-tell": "This definition cannot tell here, though alone so wide a gap is seldom chance",
};

const SMALL = 30;

/** What the test of a finding says, line by line, as the other forms of report say it. */
function testLines(audit, column, s) {
  if (!column.tests) return [audit.intervals ? "Not tested: no test of this definition was asked for." : null];
  const { tests } = column;
  const stands = audit.stands(column, s);
  const isFair = !audit.isUnfair(column, s);
  const text = (places) => tests.texts[places[s]];
  const sign = tests.stored[s] % 2 === 1 ? "≤" : "=";
  return [
    stands && `${VERDICTS[stands]}: p ${sign} ${text(tests.p)} alone, ${text(tests.familyWise)} among all ${several(tests.family, "subgroup")} (family-wise), ${text(tests.falseDiscovery)} (false discovery rate).`,
    (isFair || stands !== "family-wise") && couldShow(tests, s),
  ];
}

function couldShow(tests, s) {
  const least = tests.least[s];
  if (least === 0) return `No score could pass here at α = ${tests.alpha}: chance alone shows each that is possible too often.`;
  return `Alone, ${tests.leastTexts[least - 1]} would pass here at α = ${tests.alpha}.`;
}

/** The groups with few members. */
function smallLine(audit, s) {
  const small = audit.groups.map(({ name: named }, g) => [named, audit.members[g][s]]).filter(([, n]) => n < SMALL);
  if (small.length === 0) return null;
  return `Small groups: only ${small.map(([named, n], i) => `${i === 0 ? several(n, "member") : count(n)} of '${named}'`).join(", ")}.`;
}

function variantsTable(rows) {
  const heads = ["Variant", "Score", "Rank", "Of", "Against", "Holds"];
  const isNumber = (i) => (i >= 1 && i <= 3 ? "number" : null);
  return element("table", { class: "variants" },
    element("thead", {}, element("tr", {}, heads.map((head, i) => element("th", { scope: "col", class: isNumber(i) }, head)))),
    element("tbody", {}, rows.map((cells) => element("tr", {}, cells.map((cell, i) =>
      i === 0 ? element("th", { scope: "row" }, name(cell)) : element("td", { class: isNumber(i) }, name(cell)))))));
}

/** What supports a finding, and how its groups compare at any cost. */
function support(audit, column, s) {
  const gap = audit.gaps[s] === null ? null : element("p", {}, audit.gaps[s]);
  if (!audit.intervals || audit.isSuppressed(column, s)) return gap && element("div", { class: "support" }, gap);
  const close = column.close[s] ?? { lines: [], variants: [] };
  const notClose = close.intervals || !column.tests || !audit.isUnfair(column, s) ? null : audit.intervals.not_close;
  const lines = [...testLines(audit, column, s), column.pairs[s], smallLine(audit, s), ...close.lines, notClose].filter(Boolean);
  return element("div", { class: "support" },
    lines.map((line) => element("p", {}, line)),
    gap,
    close.variants.length > 0 && element("details", {}, element("summary", {}, "Each variant"),
      scrolling("Variants", variantsTable(close.variants))));
}

function csc(audit, column, s) {
  return element("div", { class: `csc open${audit.isGrey(column, s) ? " grey" : ""}` },
    element("div", { class: "sides" }, audit.groups.map((_, g) => side(audit, column, s, g))),
    verdict(audit, column, s),
    support(audit, column, s));
}

const PASSES = { "family-wise": "yes", "false-discovery": "by false discovery rate only", chance: "no", "cannot-tell": "cannot tell" };

/** The p-value among all subgroups, and whether the finding passes. */
function familyWise(audit, column, s) {
  if (audit.isSuppressed(column, s)) return SUPPRESSED;
  if (!column.tests) return "not tested";
  return audit.stands(column, s) === null ? "" : column.tests.texts[column.tests.familyWise[s]];
}

function passesText(audit, column, s) {
  return PASSES[audit.stands(column, s)] ?? "";
}

function rankText(audit, column, s) {
  if (audit.isSuppressed(column, s)) return SUPPRESSED;
  const rank = audit.rank(column, s);
  if (rank !== null) return count(rank);
  return audit.isOutOfReach(column, s) ? "Out of reach" : "Equal";
}

function placeText(audit, column, s) {
  const place = audit.place(column, s);
  return place === null ? "" : count(place);
}

function againstNames(audit, column, s) {
  return audit.against(column, s).flatMap((g, i) => [
    i > 0 ? " " : null,
    element("span", { class: "who" }, mark(g), " ", name(audit.groups[g].name)),
  ]);
}

/** The paper's table of one subgroup under all definitions. */
function scoresTable(audit, chosen, s) {
  const row = (column, i) => element("tr", { class: column === chosen ? "chosen" : null },
    element("td", { class: "index" }, String(i + 1)),
    element("th", { scope: "row" }, column.title),
    audit.groups.map((_, g) => element("td", { class: "number" }, audit.value(column, s, g))),
    element("td", { class: "number is-score" }, audit.score(column, s)),
    element("td", { class: "number is-rank" }, rankText(audit, column, s)),
    element("td", {}, againstNames(audit, column, s)),
    audit.intervals && [
      element("td", { class: "number" }, familyWise(audit, column, s)),
      element("td", {}, passesText(audit, column, s))]);
  return element("table", { class: "scores" },
    element("thead", {}, element("tr", {},
      element("th", { scope: "col", colspan: "2" }, "Definition"),
      audit.groups.map((group, g) => element("th", { scope: "col", class: "number" }, mark(g), " ", name(group.name))),
      element("th", { scope: "col", class: "number" }, "Score"),
      element("th", { scope: "col", class: "number" }, "Rank"),
      element("th", { scope: "col" }, "Against"),
      audit.intervals && [
        element("th", { scope: "col", class: "number" }, "Family-wise p"),
        element("th", { scope: "col" }, "Passes")])),
    element("tbody", {}, audit.columns.map(row)));
}

const RELATIVES = 12;

/** The ranked subgroups with one condition less or more, each with its gap and size. */
function relatives(audit, column, s, address) {
  const order = ([, each]) => audit.place(column, each) ?? Infinity;
  const byOrder = (list) => list.toSorted((a, b) => order(a) - order(b) || a[1] - b[1]);
  const [parents, children] = [byOrder(audit.parents(s)), byOrder(audit.children(s))];
  const row = (sign) => ([item, each]) => element("tr", {},
    element("th", { scope: "row" }, element("a", { href: address(each) }, `${sign} `, conditions([item]))),
    audit.groups.map((_, g) => element("td", { class: "number" }, audit.value(column, each, g))),
    element("td", { class: "number" }, audit.score(column, each)),
    element("td", {}, againstNames(audit, column, each)),
    element("td", { class: "number" }, count(audit.people[each])));
  const rows = [...parents.map(row("without")), ...children.slice(0, RELATIVES).map(row("and"))];
  if (rows.length === 0) return element("p", { class: "note" }, "No ranked subgroup has one condition less or more.");
  return [scrolling("Broader and narrower subgroups", element("table", { class: "relatives" },
    element("thead", {}, element("tr", {},
      element("th", { scope: "col" }, "The same"),
      audit.groups.map((group, g) => element("th", { scope: "col", class: "number" }, mark(g), " ", name(group.name))),
      ["Score", "Against", "Members"].map((head) =>
        element("th", { scope: "col", class: head === "Against" ? null : "number" }, head)))),
    element("tbody", {}, rows))),
  children.length > RELATIVES && element("p", { class: "more" }, `and ${count(children.length - RELATIVES)} more narrower ones`)];
}

function actionsTable(audit, s) {
  const cell = (action, g) => {
    const flipped = audit.flipped(action, g);
    const members = audit.members[g][s];
    return element("td", { class: "effect" }, flipped === null ? SUPPRESSED
      : [bar(flipped / members, g), " ", element("b", {}, percent(flipped, members))]);
  };
  const row = (action) => element("tr", {},
    element("th", { scope: "row" }, name(audit.changeText(action))),
    element("td", { class: "number" }, number(audit.costOf[action])),
    audit.groups.map((_, g) => cell(action, g)));
  return element("table", { class: "actions" },
    element("thead", {}, element("tr", {},
      element("th", { scope: "col" }, "Make"),
      element("th", { scope: "col", class: "number" }, "Cost"),
      audit.groups.map((group, g) => element("th", { scope: "col" }, mark(g), " ", name(group.name))))),
    element("tbody", {}, audit.actions(s).map(row)));
}

/** Fills the dialog with a subgroup; `address` names another, `choose` is told of another definition. */
function showSubgroup(dialog, audit, s, column, { address, choose, close }) {
  const definitions = element("select", { id: "subgroup-definition", on: { change: (event) => choose(event.target.value) } },
    audit.columns.map((each, i) =>
      element("option", { value: each.id, selected: each === column }, `${i + 1}  ${each.title}`)));
  const plots = ["micro", "macro"].map((viewpoint) =>
    ecdFigure(audit, s, viewpoint, viewpoint === column.viewpoint ? column : null, 230));
  const actions = audit.actions(s).length;
  fill(dialog,
    element("header", {},
      element("h2", { id: "subgroup-title", tabindex: "-1", class: "predicate" }, "If ", conditions(audit.items(s))),
      element("button", { type: "button", class: "close", "aria-label": "Close", on: { click: close } }, "✕")),
    element("div", { class: "body" },
      element("p", { class: "note" }, `${several(audit.people[s], "member")}, ${percent(audit.people[s], audit.affected)} of all affected.`),
      element("label", { class: "under" }, "Under ", definitions),
      element("p", { class: "note" }, column.terms),
      csc(audit, column, s),
      element("h3", {}, "Effectiveness–cost distributions"),
      element("div", { class: "pair" }, plots.map(({ figure }) => figure)),
      element("h3", {}, "Broader and narrower"),
      relatives(audit, column, s, address),
      element("h3", {}, "Under all definitions"),
      scrolling("Scores under all definitions", scoresTable(audit, column, s)),
      element("h3", {}, actions === 1 ? "Its one action" : `Its ${count(actions)} actions`),
      scrolling("All actions", actionsTable(audit, s))));
  // Charts need to know how wide they are, so the dialog must be open first.
  return () => plots.forEach(({ show }) => show());
}

