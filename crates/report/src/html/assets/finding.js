// One subgroup: its comparative subgroup counterfactual, distributions, scores and actions.

function wayItem(audit, s, g, action) {
  const members = audit.members[g][s];
  const flipped = audit.flipped(action, g);
  return element("li", {},
    element("span", { class: "make" }, "Make ", name(audit.changeText(action))), " ",
    element("span", { class: "effect" },
      flipped === null ? null : [bar(flipped / members, g), " "],
      element("b", {}, flipped === null ? SUPPRESSED : percent(flipped, members))), " ",
    element("span", { class: "cost" }, `cost ${number(audit.costOf[action])}`));
}

function side(audit, column, s, g) {
  const group = audit.groups[g];
  const members = audit.members[g][s];
  const listed = audit.isSuppressed(column, s) ? audit.actions(s) : audit.listed(column, s, g);
  const ways = listed.map((action) => wayItem(audit, s, g, action));
  const covered = `${percent(members, group.affected)} covered (${count(members)} of ${count(group.affected)})`;
  return element("div", { class: "side" },
    element("h3", {}, mark(g), " ", name(group.name), " ", element("small", {}, covered)),
    element("p", { class: "compared" }, "Compared: ", element("b", {}, audit.value(column, s, g))),
    ways.length === 0
      ? element("p", { class: "none" }, "No recourse for this subgroup.")
      : element("ul", { class: "ways" }, ways));
}

function verdict(audit, column, s) {
  if (audit.isSuppressed(column, s)) {
    return element("p", { class: "verdict" }, `Not ranked by ${column.title}: a count that it needs is suppressed.`);
  }
  const against = audit.against(column, s).map((g) => audit.groups[g].name);
  if (against.length === 0) return element("p", { class: "verdict fair" }, element("b", {}, "Fair"), ` by ${column.title}.`);
  const passes = column.passes
    ? ` The gap ${column.passes[s] ? "passes" : "does not pass"} the definition’s significance test.` : "";
  return element("p", { class: "verdict" },
    element("b", {}, "Bias against ", name(quotedList(against))),
    ` by ${column.title}. Unfairness score = ${audit.score(column, s)}.${passes}`);
}

function csc(audit, column, s) {
  return element("div", { class: "csc open" },
    element("div", { class: "sides" }, audit.groups.map((_, g) => side(audit, column, s, g))),
    verdict(audit, column, s));
}

function rankText(audit, column, s) {
  if (audit.isSuppressed(column, s)) return SUPPRESSED;
  const rank = audit.rank(column, s);
  return rank === null ? "Fair" : count(rank);
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
    element("td", { class: "number" }, audit.score(column, s)),
    element("td", { class: "number" }, rankText(audit, column, s)),
    element("td", {}, againstNames(audit, column, s)));
  return element("table", { class: "scores" },
    element("thead", {}, element("tr", {},
      element("th", { scope: "col", colspan: "2" }, "Definition"),
      audit.groups.map((group, g) => element("th", { scope: "col", class: "number" }, mark(g), " ", name(group.name))),
      element("th", { scope: "col", class: "number" }, "Score"),
      element("th", { scope: "col", class: "number" }, "Rank"),
      element("th", { scope: "col" }, "Against"))),
    element("tbody", {}, audit.columns.map(row)));
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

/** Fills the dialog with a subgroup; `choose` is told of another definition, `close` to close. */
function showSubgroup(dialog, audit, s, column, choose, close) {
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
      csc(audit, column, s),
      element("h3", {}, "Effectiveness–cost distributions"),
      element("div", { class: "pair" }, plots.map(({ figure }) => figure)),
      element("h3", {}, "Under all definitions"),
      scrolling("Scores under all definitions", scoresTable(audit, column, s)),
      element("h3", {}, actions === 1 ? "Its one action" : `Its ${count(actions)} actions`),
      scrolling("All actions", actionsTable(audit, s))));
  // Charts need to know how wide they are, so the dialog must be open first.
  return () => plots.forEach(({ show }) => show());
}

