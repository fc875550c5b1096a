// Answers the questions of views 1 to 6 from what the report carries, as the server answers them: docs/api.md.
// Nothing is counted here; what the engine counted is looked up, filtered and sorted.

import { Refused, type Curve, type Grid, type Neighbour, type OneSubgroup, type Points, type Row, type Side, type Subgroups } from "../api";
import { meets, readConditions, type Item } from "./conditions";
import { SUPPRESSED, effectiveness, number, percent } from "./format";
import { predicateText, type Audit, type Column } from "./payload";
import { noneListed, supportLines, verdict } from "./words";

/** Answers a question by its address. */
export function answer(audit: Audit, path: string): unknown {
  const [address = "", query = ""] = path.split("?");
  const params = new URLSearchParams(query);
  const { session, overview, stories } = audit.header;
  switch (address) {
    case "/api/session": return session;
    case "/api/audits/0": return overview;
    case "/api/audits/0/stories": return stories;
    case "/api/audits/0/subgroups": return subgroups(audit, params);
    case "/api/audits/0/subgroup": return subgroup(audit, params);
    default: throw new Refused("this page does not hold that; `facts serve` answers it");
  }
}

function columnOf(audit: Audit, params: URLSearchParams): Column {
  const id = params.get("definition");
  const column = audit.columns.find((one) => one.id === id);
  if (!column) throw new Refused(`this page holds no ranking by \`${id}\`; \`facts serve\` ranks by any definition`);
  return column;
}

function row(audit: Audit, column: Column, s: number): Row {
  const stands = audit.stands(column, s);
  return {
    subgroup: s,
    predicate: audit.ranked.texts[s] ?? "",
    members: audit.ranked.of(s),
    values: audit.groups.map((_, g) => audit.value(column, s, g)),
    rank: audit.rank(column, s),
    score: audit.score(column, s),
    against: audit.against(column, s),
    fair: audit.fair(column, s),
    passes: stands === null ? null : stands === "family-wise",
    p: stands === null ? null : (column.tests?.texts[column.tests.familyWise[s] ?? 0] ?? null),
  };
}

/** The score with the side it is on, for two groups. */
function signed(audit: Audit, column: Column, s: number): number {
  const score = audit.score(column, s);
  const against = audit.against(column, s);
  const size = score === "∞" ? Infinity : Number(score);
  return audit.groups.length === 2 && against.length === 1 && against[0] === 1 ? -size : size;
}

/** Two numbers, from where to where: `20..300`; either may be `inf` or `-inf`. */
function span(params: URLSearchParams, name: string): (value: number) => boolean {
  const given = params.get(name);
  if (!given) return () => true;
  const [low, high, ...more] = given.split("..").map((end) => (/^[-+]?inf$/i.test(end.trim()) ? Number(end.trim().replace(/inf/i, "Infinity")) : Number(end.trim() || NaN)));
  if (low === undefined || high === undefined || more.length > 0 || Number.isNaN(low + (high === -low ? 0 : high))) {
    throw new Refused(`\`${name}\` is \`${given}\`; write it as 20..300`);
  }
  return (value) => low <= value && value <= high;
}

/** What each sortable column sorts by. */
function sortKey(audit: Audit, column: Column, sort: string): (s: number) => number | string {
  const value = /^value(\d+)$/.exec(sort);
  if (value) return (s) => audit.valueOrder(column, s, Number(value[1]));
  switch (sort) {
    case "predicate": return (s) => audit.ranked.texts[s] ?? "";
    case "members": return (s) => audit.ranked.people[s] ?? 0;
    case "p": return (s) => (audit.stands(column, s) === null ? Infinity : (column.tests?.familyWise[s] ?? Infinity));
    case "rank": return (s) => audit.rank(column, s) ?? Infinity;
    default: return (s) => audit.place(column, s);
  }
}

/** Sorts; equals stay in order of rank. */
function sorted(audit: Audit, column: Column, all: number[], params: URLSearchParams): number[] {
  const key = sortKey(audit, column, params.get("sort") ?? "people");
  const rank = sortKey(audit, column, "rank");
  const keys = new Map(all.map((s) => [s, key(s)]));
  const direction = params.get("descending") === "1" ? -1 : 1;
  return [...all].sort((a, b) => {
    const [left = 0, right = 0] = [keys.get(a), keys.get(b)];
    if (left !== right) return left < right ? -direction : direction;
    const [first, second] = [rank(a), rank(b)];
    return first === second ? a - b : first < second ? -1 : 1;
  });
}

/** The ranked subgroups that the filters leave. */
function filtered(audit: Audit, column: Column, params: URLSearchParams): number[] {
  const read = readConditions((params.get("where") ?? "").trim(), audit.features);
  if ("failure" in read) throw new Refused(`cannot read \`${params.get("where")}\`: ${read.failure}`);
  const against = params.get("against");
  const group = against ? audit.groups.indexOf(against) : null;
  const [unfair, passing] = [params.get("unfair") === "1", params.get("passing") === "1"];
  const left: number[] = [];
  for (let s = 0; s < audit.ranked.length; s++) {
    const stays = audit.isRanked(column, s)
      && (!unfair || audit.isUnfair(column, s))
      && (!passing || audit.stands(column, s) === "family-wise")
      && (group === null || audit.against(column, s).includes(group))
      && (read.conditions.length === 0 || meets(audit.ranked.items(s), read.conditions));
    if (stays) left.push(s);
  }
  return left;
}

/** The last question about all subgroups, which a table that scrolls asks again and again. */
let last: { question: string; matching: number[]; brushed: number[] } | null = null;

function found(audit: Audit, column: Column, params: URLSearchParams) {
  const asked = new URLSearchParams(params);
  for (const name of ["from", "count", "points"]) asked.delete(name);
  const question = asked.toString();
  if (last?.question === question) return last;
  const matching = sorted(audit, column, filtered(audit, column, params), params);
  const [people, gap] = [span(params, "people"), span(params, "gap")];
  const brushed = matching.filter((s) => people(audit.ranked.people[s] ?? 0) && gap(signed(audit, column, s)));
  last = { question, matching, brushed };
  return last;
}

function subgroups(audit: Audit, params: URLSearchParams): Subgroups {
  const column = columnOf(audit, params);
  const { matching, brushed } = found(audit, column, params);
  const all = Array.from({ length: audit.ranked.length }, (_, s) => s).filter((s) => audit.isRanked(column, s));
  const unfair = all.filter((s) => audit.isUnfair(column, s));
  const [from, count] = [Number(params.get("from") ?? 0), Number(params.get("count") ?? 100)];
  return {
    definition: column.id,
    title: column.title,
    alpha: audit.header.overview.alpha,
    tested: column.tests !== null,
    evidence: column.evidence_words,
    ranked: all.length,
    unfair: unfair.length,
    against: audit.groups.map((_, g) => unfair.filter((s) => audit.against(column, s).includes(g)).length),
    passing: column.tests && unfair.filter((s) => audit.stands(column, s) === "family-wise").length,
    matching: matching.length,
    brushed: brushed.length,
    from,
    rows: brushed.slice(from, from + count).map((s) => row(audit, column, s)),
    points: params.get("points") === "1" ? points(audit, column, matching) : null,
    command: null,
    command_lacks: null,
  };
}

function points(audit: Audit, column: Column, subgroups: number[]): Points {
  const gaps = subgroups.map((s) => signed(audit, column, s));
  return {
    people: subgroups.map((s) => audit.ranked.people[s] ?? 0),
    gap: gaps.map((gap) => (Number.isFinite(gap) ? gap : null)),
    against: subgroups.map((s) => audit.against(column, s)[0] ?? -1),
    passes: subgroups.map((s) => {
      if (column.tests === null) return -1;
      return audit.stands(column, s) === "family-wise" ? 1 : 0;
    }),
  };
}

function subgroup(audit: Audit, params: URLSearchParams): OneSubgroup {
  const column = columnOf(audit, params);
  const predicate = params.get("predicate") ?? "";
  const items = predicate.trim() === "" ? [] : audit.items(predicate);
  if ("failure" in items) throw new Refused(items.failure);
  const text = predicateText(items);
  const place = audit.placeOf.get(text);
  const ranked = place !== undefined && audit.isRanked(column, place);
  return {
    conditions: items.map((item) => ({ text: item.join(" "), words: audit.inWords(item) })),
    found: ranked ? inFull(audit, column, place) : null,
    not_ranked: ranked || items.length === 0 ? null : notRanked(audit, column, text),
    parents: items.map((item) => parent(audit, column, items, item)).filter((one) => one !== null),
    children: children(audit, column, items),
    definition: column.id,
    title: column.title,
    alpha: audit.header.overview.alpha,
    tested: column.tests !== null,
    command: null,
    command_lacks: null,
  };
}

function notRanked(audit: Audit, column: Column, text: string): string {
  if (audit.placeOf.has(text)) return `Not ranked by ${column.title}: a count that it needs is suppressed.`;
  const without = audit.without.texts.indexOf(text);
  if (without < 0) {
    return `no subgroup of this audit has exactly this predicate: it is not common to all groups at support ${audit.header.support}; subgroups can be searched by a condition`;
  }
  const members = audit.without.of(without).map((people, g) => `${people.toLocaleString("en")} ${audit.groups[g]}`);
  return `this subgroup is common (${members.join(", ")}), but no valid action was mined for it, so it is not ranked`;
}

/** With one condition less. Everybody is the parent of a single condition. */
function parent(audit: Audit, column: Column, items: Item[], less: Item): Neighbour | null {
  const others = items.filter((item) => item !== less);
  const item = less.join(" ");
  if (others.length === 0) return { item, predicate: "", row: null, members: audit.affected };
  const text = predicateText(others);
  const place = audit.placeOf.get(text);
  if (place !== undefined) return neighbour(audit, column, place, item);
  const without = audit.without.texts.indexOf(text);
  return without < 0 ? null : { item, predicate: text, row: null, members: audit.without.of(without) };
}

function neighbour(audit: Audit, column: Column, s: number, item: string): Neighbour {
  const ranked = audit.isRanked(column, s) ? row(audit, column, s) : null;
  return { item, predicate: audit.ranked.texts[s] ?? "", row: ranked, members: audit.ranked.of(s) };
}

/** With one condition more: the ranked in the order for people, then those without actions. */
function children(audit: Audit, column: Column, items: Item[]): Neighbour[] {
  const texts = items.map((item) => item.join(" "));
  const extra = (all: Audit["ranked"], s: number): string | null => {
    if (all.count(s) !== items.length + 1) return null;
    const child = all.items(s).map((item) => item.join(" "));
    return texts.every((text) => child.includes(text)) ? (child.find((text) => !texts.includes(text)) ?? null) : null;
  };
  const more = (all: Audit["ranked"]) => Array.from({ length: all.length }, (_, s) => ({ s, item: extra(all, s) }))
    .flatMap(({ s, item }) => (item === null ? [] : [{ s, item }]));
  const ranked = more(audit.ranked).filter(({ s }) => audit.isRanked(column, s));
  ranked.sort((a, b) => audit.place(column, a.s) - audit.place(column, b.s));
  return [
    ...ranked.map(({ s, item }) => neighbour(audit, column, s, item)),
    ...more(audit.without).map(({ s, item }) => ({ item, predicate: audit.without.texts[s] ?? "", row: null, members: audit.without.of(s) })),
  ];
}

function inFull(audit: Audit, column: Column, s: number): NonNullable<OneSubgroup["found"]> {
  return {
    row: row(audit, column, s),
    predicate: audit.ranked.texts[s] ?? "",
    sides: audit.groups.map((_, g) => side(audit, column, s, g)),
    verdict: verdict(audit, column, s),
    support: supportLines(audit, column, s),
    variants: variants(column.close[s]?.variants ?? []),
    definitions: definitions(audit, s),
    actions: actions(audit, s),
    curve: curve(audit, s),
    told_by: audit.toldBy?.[s] || null,
    same_people: audit.samePeople(s),
  };
}

function side(audit: Audit, column: Column, s: number, g: number): Side {
  const [members, affected] = [audit.ranked.of(s)[g] ?? 0, audit.affected[g] ?? 0];
  const confidence = audit.header.intervals?.confidence;
  const interval = (bounds: string | null | undefined) => (bounds && confidence ? `${confidence} interval ${bounds}` : null);
  const listed = audit.listed(column, s, g);
  return {
    name: audit.groups[g] ?? "",
    members,
    covered: percent(members, affected),
    value: audit.value(column, s, g),
    interval: interval(column.close[s]?.values[g]),
    ways: listed.map((action) => {
      const flips = audit.flipped(action, g);
      return {
        change: audit.change(action),
        effectiveness: effectiveness(flips, members),
        cost: number(audit.cost(action)),
        interval: interval(audit.interval(flips, members)),
      };
    }),
    none: listed.length === 0 ? noneListed(audit, column, s, g) : null,
  };
}

function variants(rows: string[][]): Grid | null {
  if (rows.length === 0) return null;
  return { columns: [["variant", "left"], ["score", "right"], ["rank", "right"], ["of", "right"], ["bias against", "left"], ["holds", "left"]], rows };
}

const PASSES = { "family-wise": "yes", "false-discovery": "by false discovery rate only", chance: "no", "cannot-tell": "cannot tell" };

/** One subgroup under all definitions. */
function definitions(audit: Audit, s: number): Grid {
  const right = (name: string): [string, "right"] => [name, "right"];
  const tested: Grid["columns"] = audit.header.intervals ? [right("p"), right("family-wise"), ["passes", "left"]] : [];
  const cells = (column: Column): string[] => {
    if (!audit.isRanked(column, s)) return [column.title, SUPPRESSED];
    const rank = audit.rank(column, s);
    const against = audit.against(column, s).map((g) => audit.groups[g]);
    const values = audit.groups.map((_, g) => audit.value(column, s, g));
    const stands = audit.stands(column, s);
    const text = (places?: Float64Array) => column.tests?.texts[places?.[s] ?? 0] ?? "";
    const untested = audit.isUnfair(column, s) || !column.tests;
    // Every score is at least 0: chance always shows as much as a fair subgroup does.
    const said = stands ? [text(column.tests?.p), text(column.tests?.familyWise), PASSES[stands]] : untested ? ["", "", "not tested"] : ["1", "1", ""];
    return [column.title, ...values, audit.score(column, s), rank === null ? "Fair" : String(rank), against.join(", "), ...(audit.header.intervals ? said : [])];
  };
  return {
    columns: [["definition", "left"], ...audit.groups.map(right), right("score"), right("rank"), ["bias against", "left"], ...tested],
    rows: audit.columns.map(cells),
  };
}

/** The valid actions of a subgroup: cost, and how often each works for each group. */
function actions(audit: Audit, s: number): Grid {
  const members = audit.ranked.of(s);
  const works = (action: number, g: number) => effectiveness(audit.flipped(action, g), members[g] ?? 0);
  return {
    columns: [["cost", "right"], ...audit.groups.map((name): [string, "right"] => [name, "right"]), ["change", "left"]],
    rows: audit.actions(s).map((action) => [number(audit.cost(action)), ...audit.groups.map((_, g) => works(action, g)), audit.change(action)]),
  };
}

function curve(audit: Audit, s: number): Curve {
  const [micro, macro] = [audit.distribution(s, "micro"), audit.distribution(s, "macro")];
  const members = audit.ranked.of(s);
  return {
    costs: micro.costs,
    groups: audit.groups.map((name, g) => {
      const open = micro.reached[g]?.at(-1) ?? null;
      return {
        name,
        members: members[g] ?? 0,
        micro: micro.reached[g] ?? [],
        macro: macro.reached[g] ?? [],
        open: open === null ? null : percent(open, members[g] ?? 0),
      };
    }),
  };
}
