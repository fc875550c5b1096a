// The table of all subgroups: filter, sort, page, and the scatter plot of what is left.

const PAGE = 25;

/** What the reader has chosen, kept in the part of the address after `#`. */
class Choices {
  /** What an address says. `#subgroup-7` opens a subgroup and leaves all else as it is `now`. */
  static read(audit, now = null) {
    const alone = /^#subgroup-(\d+)$/.exec(location.hash);
    const said = new URLSearchParams(alone ? `subgroup=${alone[1]}` : location.hash.slice(1));
    const whole = (key, least, most) => {
      const value = Number.parseInt(said.get(key) ?? "", 10);
      return Number.isInteger(value) && value >= least && value <= most ? value : null;
    };
    const subgroup = whole("subgroup", 0, audit.subgroups - 1);
    if (alone && now) return { ...now, subgroup };
    const column = audit.columns.findIndex(({ id }) => id === said.get("definition"));
    const sort = said.get("sort") ?? "people";
    return {
      column: Math.max(column, 0),
      text: said.get("text") ?? "",
      against: whole("against", 0, audit.groups.length - 1),
      unfair: said.get("unfair") === "yes",
      passing: said.get("passing") === "yes",
      members: whole("members", 0, Number.MAX_SAFE_INTEGER) ?? 0,
      sort,
      descending: said.has("order") ? said.get("order") === "descending" : fallsFirst(audit, audit.columns[Math.max(column, 0)], sort),
      page: whole("page", 1, Number.MAX_SAFE_INTEGER) ?? 1,
      subgroup,
    };
  }

  static write(audit, choices) {
    const said = new URLSearchParams();
    const say = (key, value, usual) => {
      if (value !== usual && value !== null) said.set(key, value);
    };
    say("subgroup", choices.subgroup, null);
    said.set("definition", audit.columns[choices.column].id);
    say("text", choices.text, "");
    say("against", choices.against, null);
    say("unfair", choices.unfair ? "yes" : "no", "no");
    say("passing", choices.passing ? "yes" : "no", "no");
    say("members", choices.members, 0);
    say("sort", choices.sort, "people");
    const usual = fallsFirst(audit, audit.columns[choices.column], choices.sort);
    if (choices.descending !== usual) said.set("order", choices.descending ? "descending" : "ascending");
    say("page", choices.page, 1);
    // Colons need no escape after `#`, and an address with them is easier to read.
    return `#${said.toString().replaceAll("%3A", ":")}`;
  }
}

/** Whether the worst of a column of the table is the greatest: it comes first. */
function fallsFirst(audit, column, sort) {
  if (/^value\d+$/.test(sort)) return !audit.lowIsWorse(column);
  return ["members", "coverage", "score"].includes(sort);
}

/** The subgroups that pass the filters, in the audit's order. */
function filtered(audit, choices) {
  const column = audit.columns[choices.column];
  const conditions = readConditions(choices.text.trim(), audit.features).conditions ?? [];
  const passes = (s) =>
    audit.people[s] >= choices.members &&
    (!choices.unfair || audit.isUnfair(column, s)) &&
    (!choices.passing || audit.stands(column, s) === "family-wise") &&
    (choices.against === null || audit.against(column, s).includes(choices.against)) &&
    (conditions.length === 0 || meets(audit.items(s), conditions));
  const left = [];
  for (let s = 0; s < audit.subgroups; s++) if (passes(s)) left.push(s);
  return left;
}

/** What each sortable column sorts by; what cannot be told comes last either way. */
function sortKey(audit, column, sort) {
  const ranked = (key) => (s) => (audit.isSuppressed(column, s) ? null : key(s));
  // Rank 1 first, the fair ones after the last rank.
  const rank = ranked((s) => audit.rank(column, s) ?? column.scores.length + 1);
  // The fair ones after the last place.
  const people = ranked((s) => audit.place(column, s) ?? audit.subgroups + 1);
  const value = /^value(\d+)$/.exec(sort);
  if (value && Number(value[1]) < audit.groups.length) {
    return ranked((s) => audit.valueOrder(column, s, Number(value[1])));
  }
  switch (sort) {
    case "subgroup": return (s) => audit.texts[s];
    case "members":
    case "coverage": return (s) => audit.people[s];
    case "evidence": return (s) => (audit.stands(column, s) === null ? null : column.tests.familyWise[s]);
    case "score": return ranked((s) => -rank(s));
    case "against": return ranked((s) => audit.against(column, s)
      .map((g) => String(g).padStart(3, "0")).join(" ") || "~");
    case "rank": return rank;
    default: return people;
  }
}

/** Sorts; equals stay in the audit's order, which is that of the rankings. */
function sorted(audit, choices, subgroups) {
  const key = sortKey(audit, audit.columns[choices.column], choices.sort);
  const keys = new Map(subgroups.map((s) => [s, key(s)]));
  const direction = choices.descending ? -1 : 1;
  return subgroups.toSorted((a, b) => {
    const [left, right] = [keys.get(a), keys.get(b)];
    if (left === right) return a - b;
    if (left === null || right === null) return left === null ? 1 : -1;
    return left < right ? -direction : direction;
  });
}

class Explorer {
  constructor(audit, choices, changed) {
    this.audit = audit;
    this.choices = choices;
    this.changed = changed;
    this.at = (id) => document.getElementById(id);
    this.fillControls();
    this.listen();
  }

  get column() {
    return this.audit.columns[this.choices.column];
  }

  /** The columns of the table: key to sort by, heading, and what a cell holds. */
  headings() {
    const { audit, column } = this;
    return [
      { key: "people", heading: ["Order"], plain: "Order", number: true, cell: (s) => placeText(audit, column, s) },
      { key: "rank", heading: ["Rank"], plain: "Rank", number: true, cell: (s) => rankText(audit, column, s) },
      { key: "subgroup", heading: ["Subgroup"], plain: "Subgroup", row: true, cell: (s) => this.opener(s) },
      { key: "members", heading: ["Members"], plain: "Members", number: true, cell: (s) => count(audit.people[s]) },
      { key: "coverage", heading: ["Coverage"], plain: "Coverage", number: true, cell: (s) => percent(audit.people[s], audit.affected) },
      ...audit.groups.map((group, g) => ({
        key: `value${g}`,
        heading: [mark(g), " ", name(group.name)],
        plain: group.name,
        number: true,
        cell: (s) => audit.value(column, s, g),
      })),
      { key: "score", heading: ["Score"], plain: "Score", number: true, cell: (s) => audit.score(column, s) },
      { key: "against", heading: ["Against"], plain: "Against", cell: (s) => againstNames(audit, column, s) },
      ...(audit.intervals ? [{
        key: "evidence",
        heading: ["Family-wise p"],
        plain: "Family-wise p",
        number: true,
        cell: (s) => familyWise(audit, column, s),
      }] : []),
    ];
  }

  opener(s) {
    const href = Choices.write(this.audit, { ...this.choices, subgroup: s });
    return element("a", { href }, conditions(this.audit.items(s)));
  }

  fillControls() {
    const { audit, at } = this;
    append(at("choose-definition"), [audit.columns.map((column, i) =>
      element("option", { value: column.id }, `${i + 1}  ${column.title}`))]);
    append(at("choose-against"), [element("option", { value: "" }, "anyone"),
      audit.groups.map((group, g) => element("option", { value: g }, group.name))]);
    const orders = this.headings().flatMap(({ key, plain }) => [
      element("option", { value: `${key} ascending` }, `${plain}, rising`),
      element("option", { value: `${key} descending` }, `${plain}, falling`),
    ]);
    append(at("choose-sort"), [orders]);
    at("choose-passing").closest("label").hidden = !audit.intervals;
    for (const pager of document.querySelectorAll(".pager")) {
      append(pager, [
        element("button", { type: "button", class: "previous", on: { click: () => this.turn(-1) } }, "Previous"),
        element("span", { class: "place" }),
        element("button", { type: "button", class: "next", on: { click: () => this.turn(1) } }, "Next"),
      ]);
    }
  }

  listen() {
    const { at } = this;
    const choose = (change) => this.choose({ page: 1, ...change });
    at("choose-definition").addEventListener("change", ({ target }) => choose({ column: target.selectedIndex }));
    at("choose-text").addEventListener("input", ({ target }) => choose({ text: target.value }));
    at("choose-against").addEventListener("change", ({ target }) =>
      choose({ against: target.value === "" ? null : Number(target.value) }));
    at("choose-members").addEventListener("input", ({ target }) =>
      choose({ members: Math.max(0, Math.floor(Number(target.value)) || 0) }));
    at("choose-unfair").addEventListener("change", ({ target }) => choose({ unfair: target.checked }));
    at("choose-passing").addEventListener("change", ({ target }) => choose({ passing: target.checked }));
    at("choose-sort").addEventListener("change", ({ target }) => {
      const [sort, order] = target.value.split(" ");
      choose({ sort, descending: order === "descending" });
    });
    at("controls").addEventListener("submit", (event) => event.preventDefault());
    at("controls").addEventListener("reset", (event) => {
      event.preventDefault();
      choose({ text: "", against: null, unfair: false, passing: false, members: 0, sort: "people", descending: false });
    });
  }

  choose(change) {
    Object.assign(this.choices, change);
    this.changed();
    this.draw();
  }

  /** Takes over what an address says; the table stays as it is if only the subgroup is new. */
  follow(said) {
    const withoutSubgroup = (choices) => JSON.stringify({ ...choices, subgroup: null });
    const isNew = withoutSubgroup(said) !== withoutSubgroup(this.choices);
    Object.assign(this.choices, said);
    if (isNew) this.draw();
  }

  turn(by) {
    this.choose({ page: this.choices.page + by });
  }

  sortBy(key) {
    const isSame = this.choices.sort === key;
    const descending = isSame ? !this.choices.descending : fallsFirst(this.audit, this.column, key);
    this.choose({ page: 1, sort: key, descending });
    this.at("ranked-head").querySelector(`[data-key="${key}"] button`).focus();
  }

  draw() {
    const begun = performance.now();
    this.left = filtered(this.audit, this.choices);
    this.rows = sorted(this.audit, this.choices, this.left);
    const pages = Math.max(1, Math.ceil(this.rows.length / PAGE));
    this.choices.page = Math.min(this.choices.page, pages);
    this.drawControls(pages);
    this.drawHead();
    this.drawBody();
    this.at("explorer").dataset.tableMilliseconds = (performance.now() - begun).toFixed(1);
    this.drawScatterSoon();
  }

  drawControls(pages) {
    const { at, choices } = this;
    at("choose-definition").selectedIndex = choices.column;
    if (at("choose-text").value !== choices.text) at("choose-text").value = choices.text;
    at("choose-against").value = choices.against ?? "";
    if (Number(at("choose-members").value) !== choices.members) at("choose-members").value = choices.members;
    at("choose-unfair").checked = choices.unfair;
    at("choose-passing").checked = choices.passing;
    at("choose-sort").value = `${choices.sort} ${choices.descending ? "descending" : "ascending"}`;
    const { failure } = readConditions(choices.text.trim(), this.audit.features);
    at("unreadable").textContent = failure ? `Not filtered: ${failure}.` : "";
    at("choose-text").setAttribute("aria-invalid", String(Boolean(failure)));
    at("terms").textContent = this.column.terms;
    const [all, left] = [this.audit.subgroups, this.rows.length];
    at("explorer-state").textContent = left === all ? `${several(all, "subgroup")}.`
      : `${count(left)} of ${several(all, "subgroup")}.`;
    at("ranked-caption").textContent = `Subgroups by ${this.column.title}`;
    const first = (choices.page - 1) * PAGE;
    for (const pager of document.querySelectorAll(".pager")) {
      pager.querySelector(".place").textContent = left === 0 ? "No subgroup passes"
        : `${count(first + 1)}–${count(Math.min(first + PAGE, left))} of ${count(left)}`;
      pager.querySelector(".previous").disabled = choices.page === 1;
      pager.querySelector(".next").disabled = choices.page === pages;
    }
  }

  drawHead() {
    const { choices } = this;
    const head = ({ key, heading, number: isNumber }) => {
      const isSorted = choices.sort === key;
      const order = choices.descending ? "descending" : "ascending";
      const arrow = isSorted ? (choices.descending ? "▼" : "▲") : "↕";
      return element("th", {
        scope: "col",
        role: "columnheader",
        class: isNumber ? "number" : null,
        "data-key": key,
        "aria-sort": isSorted ? order : null,
      }, element("button", { type: "button", on: { click: () => this.sortBy(key) } },
        heading, element("span", { class: "arrow", "aria-hidden": "true" }, arrow)));
    };
    fill(this.at("ranked-head"), this.headings().map(head));
  }

  drawBody() {
    const first = (this.choices.page - 1) * PAGE;
    const headings = this.headings();
    const cell = (s) => ({ key, plain, row, number: isNumber, cell: content }) =>
      element(row ? "th" : "td", {
        role: row ? "rowheader" : "cell",
        scope: row ? "row" : null,
        class: [isNumber ? "number" : "", `is-${key.replace(/\d+/, "")}`].join(" ").trim(),
        "data-label": plain,
      }, content(s));
    fill(this.at("ranked-body"), this.rows.slice(first, first + PAGE).map((s) =>
      element("tr", { role: "row", "data-subgroup": s, class: this.audit.isGrey(this.column, s) ? "grey" : null }, headings.map(cell(s)))));
  }

  /** The plot follows a moment later: typing must not wait for thousands of marks. */
  drawScatterSoon() {
    clearTimeout(this.waiting);
    const key = `${this.choices.column} ${this.left.length} ${this.left[0]} ${this.left.at(-1)}`;
    if (key === this.drawn) return;
    this.waiting = setTimeout(() => {
      this.drawn = key;
      const begun = performance.now();
      this.at("scatter-caption").textContent = `Coverage against unfairness by ${this.column.title}`;
      scatter(this.at("scatter"), this.audit, this.column, this.left, (s) => {
        location.hash = Choices.write(this.audit, { ...this.choices, subgroup: s });
      });
      // uPlot draws in a microtask of its own, queued before this one.
      queueMicrotask(() => {
        this.at("explorer").dataset.scatterMilliseconds = (performance.now() - begun).toFixed(1);
      });
    }, 60);
  }
}

