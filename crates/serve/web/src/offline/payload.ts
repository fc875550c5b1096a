// Reads back what payload.rs wrote, in the same order.

import type { Overview, Session, Stories } from "../api";
import { exactly, readConditions, type Features, type Item } from "./conditions";
import { SUPPRESSED, percent } from "./format";

/** Whole numbers of seven bits a byte, one after another. */
class Numbers {
  private at = 0;

  constructor(private readonly bytes: Uint8Array) {}

  next(): number {
    let byte = this.bytes[this.at++] ?? 0;
    let value = byte & 0x7f;
    // Multiplied, not shifted: counts may pass 32 bits.
    for (let scale = 128; byte >= 0x80; scale *= 128) {
      byte = this.bytes[this.at++] ?? 0;
      value += (byte & 0x7f) * scale;
    }
    return value;
  }

  list(length: number): Float64Array {
    const values = new Float64Array(length);
    for (let i = 0; i < length; i++) values[i] = this.next();
    return values;
  }
}

export type Stands = "family-wise" | "false-discovery" | "chance" | "cannot-tell";
const STANDS: Stands[] = ["family-wise", "false-discovery", "chance", "cannot-tell"];
const UNTESTED = 2 * STANDS.length;

/** What ranks start from: 0 is suppressed, 1 as open to all, 2 out of reach for all, then rank 1. */
const FAIR = 2;

/** What was found by looking closely at one subgroup. */
interface Close {
  intervals: boolean;
  lines: string[];
  values: (string | null)[];
  variants: string[][];
}

interface HeaderColumn {
  id: string;
  title: string;
  viewpoint: "micro" | "macro" | null;
  phi: number | null;
  budget: number | null;
  /** The score of each rank, from rank 1, as it is shown. */
  scores: string[];
  /** The texts that values refer to, in rising order; null if values are parts of the members. */
  values: string[] | null;
  /** Whether the definition has a significance test of its own. */
  tested: boolean;
  lists_all: boolean;
  evidence: { family: number; alpha: string; p: string[]; least: number; least_texts: string[][] } | null;
  /** What is said of all findings together. */
  evidence_words: string | null;
  close: Record<string, Close>;
  pairs: Record<string, string>;
}

interface Header {
  session: Session;
  overview: Overview;
  stories: Stories;
  groups: { name: string; affected: number }[];
  subgroups: number;
  without_actions: number;
  /** The support, as predicates that are not common are told of. */
  support: string;
  items: Item[];
  /** Each item in words. */
  item_words: string[];
  features: [string, string[]][];
  changes: [string, string][][];
  costs: number[];
  against: number[][];
  intervals: { confidence: string; not_close: string | null } | null;
  gaps: string[][];
  /** Whether it is known which story tells each subgroup, and which others have the same members. */
  told: boolean;
  columns: HeaderColumn[];
}

interface Tests {
  family: number;
  alpha: string;
  stored: Float64Array;
  p: Float64Array;
  familyWise: Float64Array;
  falseDiscovery: Float64Array;
  least: Float64Array;
  texts: string[];
  leastTexts: (string | null)[];
}

export interface Column extends Omit<HeaderColumn, "values" | "evidence"> {
  ranks: Float64Array;
  against: Float64Array;
  values: Float64Array[];
  valueTexts: string[] | null;
  passes: Float64Array | null;
  lists: Float64Array[][] | null;
  tests: Tests | null;
  places: Float64Array;
}

/** Where each of some lists starts in the list of them all. */
function starts(lengths: ArrayLike<number>): Uint32Array {
  const places = new Uint32Array(lengths.length + 1);
  for (let i = 0; i < lengths.length; i++) places[i + 1] = at(places, i) + at(lengths, i);
  return places;
}

const at = (list: ArrayLike<number>, place: number): number => list[place] ?? 0;

export async function unpack(base64: string): Promise<Uint8Array> {
  const compressed = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  const stream = new Blob([compressed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** A predicate as one reads it. */
export function predicateText(items: Item[]): string {
  return items.map((item) => item.join(" ")).join(", ");
}

/** Predicates with their members by group. */
class Predicates {
  readonly texts: string[];
  readonly members: Float64Array[];
  readonly people: Float64Array;
  private readonly places: Uint32Array;
  private readonly all: Float64Array;

  constructor(numbers: Numbers, length: number, groups: number, private readonly known: Item[]) {
    this.places = starts(numbers.list(length));
    this.all = numbers.list(at(this.places, length));
    this.members = Array.from({ length: groups }, () => numbers.list(length));
    this.texts = Array.from({ length }, (_, s) => predicateText(this.items(s)));
    this.people = new Float64Array(length);
    for (const members of this.members) members.forEach((n, s) => (this.people[s] = at(this.people, s) + n));
  }

  get length(): number {
    return this.texts.length;
  }

  count(s: number): number {
    return at(this.places, s + 1) - at(this.places, s);
  }

  items(s: number): Item[] {
    const places = this.all.subarray(at(this.places, s), at(this.places, s + 1));
    return Array.from(places, (item) => this.known[item] as Item);
  }

  of(s: number): number[] {
    return this.members.map((members) => at(members, s));
  }
}

/** All subgroups of the audit; one array a property, by place of the subgroup in the audit. */
export class Audit {
  readonly header: Header;
  readonly groups: string[];
  readonly affected: number[];
  readonly features: Features;
  readonly ranked: Predicates;
  readonly without: Predicates;
  readonly placeOf: Map<string, number>;
  readonly columns: Column[];
  readonly gaps: (string | null)[];
  /** The number of the story that tells each subgroup; 0 if none does. */
  readonly toldBy: Float64Array | null;
  private readonly same: Float64Array | null;
  private readonly words: Map<string, string>;
  private readonly actionStarts: Uint32Array;
  private readonly changeOf: Float64Array;
  private readonly costOf: Float64Array;
  private readonly startsLevel: Uint8Array;
  /** One higher than the count; 0 is suppressed. */
  private readonly flips: Float64Array[];
  private readonly levelStarts: Uint32Array;
  private readonly ecds: Record<"micro" | "macro", Float64Array[]>;
  private readonly shares: Map<number, Map<number, string>> | null;

  constructor(bytes: Uint8Array) {
    const length = new DataView(bytes.buffer).getUint32(0, true);
    const header = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length))) as Header;
    const numbers = new Numbers(bytes.subarray(4 + length));
    this.header = header;
    this.groups = header.groups.map(({ name }) => name);
    this.affected = header.groups.map(({ affected }) => affected);
    this.features = new Map(header.features);
    this.words = new Map(header.items.map((item, place) => [item.join(" "), header.item_words[place] ?? ""]));
    this.ranked = new Predicates(numbers, header.subgroups, this.groups.length, header.items);
    this.without = new Predicates(numbers, header.without_actions, this.groups.length, header.items);
    this.placeOf = new Map(this.ranked.texts.map((text, s) => [text, s]));
    this.actionStarts = starts(numbers.list(header.subgroups));
    const actions = at(this.actionStarts, header.subgroups);
    this.changeOf = numbers.list(actions);
    this.costOf = new Float64Array(actions);
    this.startsLevel = new Uint8Array(actions);
    for (let action = 0; action < actions; action++) {
      const cost = numbers.next();
      this.costOf[action] = header.costs[Math.floor(cost / 2)] ?? 0;
      this.startsLevel[action] = cost % 2;
    }
    this.flips = this.groups.map(() => numbers.list(actions));
    this.levelStarts = this.readLevels();
    const levels = at(this.levelStarts, header.subgroups);
    const micro = this.groups.map(() => numbers.list(levels));
    // 0 is the same as micro, otherwise one higher.
    const macro = micro.map((own) => own.map((stored) => (numbers.next() || stored + 1) - 1));
    this.ecds = { micro, macro };
    this.shares = header.intervals ? this.readShares(numbers) : null;
    this.gaps = this.readSentences(numbers, header.gaps, header.subgroups);
    this.toldBy = header.told ? numbers.list(header.subgroups) : null;
    this.same = header.told ? numbers.list(header.subgroups) : null;
    this.columns = header.columns.map((column) => this.readColumn(numbers, column));
  }

  private readLevels(): Uint32Array {
    const levels = new Uint32Array(this.ranked.length);
    for (let s = 0; s < levels.length; s++) {
      for (const action of this.actions(s)) levels[s] = at(levels, s) + at(this.startsLevel, action);
    }
    return starts(levels);
  }

  /** The interval of each share that occurs among the effectiveness of actions, by members and then by part. */
  private readShares(numbers: Numbers): Map<number, Map<number, string>> {
    const parts = new Map<number, Set<number>>();
    for (let s = 0; s < this.ranked.length; s++) {
      this.ranked.of(s).forEach((members, g) => {
        const known = parts.get(members) ?? new Set<number>();
        parts.set(members, known);
        for (const action of this.actions(s)) {
          const flips = this.flipped(action, g);
          if (flips !== null) known.add(flips);
        }
      });
    }
    const rising = (numbers: Iterable<number>) => [...numbers].sort((a, b) => a - b);
    const all = rising(parts.keys()).map((members) => ({ members, flips: rising(parts.get(members) ?? []) }));
    const read = () => all.map(({ flips }) => {
      let end = 0;
      return flips.map(() => (end += numbers.next()));
    });
    const [low, high] = [read(), read()];
    const text = (end: number | undefined) => `${((end ?? 0) / 10).toFixed(1)}%`;
    return new Map(all.map(({ members, flips }, m) =>
      [members, new Map(flips.map((part, i) => [part, `${text(low[m]?.[i])} to ${text(high[m]?.[i])}`]))]));
  }

  /** Sentences, some of which are missing: texts with their numbers between them. */
  private readSentences(numbers: Numbers, texts: string[][], length: number): (string | null)[] {
    const places = numbers.list(length);
    const sentences = Array.from(places, (place) => (place === 0 ? null : (texts[place - 1]?.[0] ?? "")));
    const most = Math.max(1, ...texts.map((text) => text.length));
    for (let slot = 1; slot < most; slot++) {
      const having = Array.from(sentences.keys()).filter((s) => at(places, s) > 0 && (texts[at(places, s) - 1]?.length ?? 0) > slot);
      const decimals = numbers.list(having.length);
      having.forEach((s, i) => {
        const after = at(decimals, i);
        const digits = String(numbers.next()).padStart(after + 1, "0");
        const whole = digits.slice(0, digits.length - after);
        const number = after === 0 ? whole : `${whole}.${digits.slice(-after)}`;
        sentences[s] += number + (texts[at(places, s) - 1]?.[slot] ?? "");
      });
    }
    return sentences;
  }

  private readColumn(numbers: Numbers, column: HeaderColumn): Column {
    const ranks = numbers.list(this.ranked.length);
    // Only what could be ranked has the rest.
    const whereRanked = () => ranks.map((rank) => (rank > 0 ? numbers.next() : 0));
    const against = whereRanked();
    const values = this.groups.map(whereRanked);
    const passes = column.tested ? whereRanked() : null;
    const lists = column.lists_all ? null
      : this.groups.map(() => Array.from({ length: this.ranked.length }, () => numbers.list(numbers.next())));
    const tests = column.evidence ? this.readTests(numbers, column.evidence, ranks) : null;
    // Places in the order for people.
    const places = ranks.map((rank) => (rank > FAIR ? numbers.next() : 0));
    return { ...column, ranks, against, values, valueTexts: column.values, passes, lists, tests, places };
  }

  /** What the tests say: of unfair subgroups their p-values, of all ranked ones what could pass. */
  private readTests(numbers: Numbers, header: NonNullable<HeaderColumn["evidence"]>, ranks: Float64Array): Tests {
    const stored = ranks.map((rank) => (rank > FAIR ? numbers.next() : UNTESTED));
    const whereTested = () => stored.map((stands) => (stands < UNTESTED ? numbers.next() : 0));
    const [p, familyWise, falseDiscovery] = [whereTested(), whereTested(), whereTested()];
    const least = ranks.map((rank) => (rank > 0 ? numbers.next() : 0));
    const leastTexts = this.readSentences(numbers, header.least_texts, header.least);
    const { family, alpha } = header;
    return { family, alpha, stored, p, familyWise, falseDiscovery, least, texts: header.p, leastTexts };
  }

  /** A predicate that a text names, item by item: as reports write it, or as conditions. */
  items(text: string): Item[] | { failure: string } {
    const place = this.placeOf.get(text);
    if (place !== undefined) return this.ranked.items(place);
    const without = this.without.texts.indexOf(text);
    if (without >= 0) return this.without.items(without);
    const read = readConditions(text.trim(), this.features);
    if ("failure" in read) return read;
    const items = exactly(read.conditions);
    if (items === null) return { failure: `\`${text}\` is no whole predicate; write one such as "age = 30, job = clerk"` };
    // In the order of features, as predicates are written.
    const order = [...this.features.keys()];
    return items.sort((a, b) => order.indexOf(a[0]) - order.indexOf(b[0]));
  }

  /** The shortest predicate with the same members; null if it is the shortest itself. */
  samePeople(s: number): string | null {
    return this.ranked.texts[at(this.same ?? [], s) - 1] ?? null;
  }

  /** An item in words. */
  inWords(item: Item): string {
    return this.words.get(item.join(" ")) || item.join(" ");
  }

  isRanked(column: Column, s: number): boolean {
    return at(column.ranks, s) > 0;
  }

  isUnfair(column: Column, s: number): boolean {
    return at(column.ranks, s) > FAIR;
  }

  /** The rank from 1; null if fair or suppressed. */
  rank(column: Column, s: number): number | null {
    return this.isUnfair(column, s) ? at(column.ranks, s) - FAIR : null;
  }

  /** Which kind of fair it is; null if it is not. */
  fair(column: Column, s: number): string | null {
    const rank = at(column.ranks, s);
    return rank === 1 ? "equal" : rank === FAIR ? "out of reach" : null;
  }

  /** The place in the order for people: the unfair ones first, the fair ones in the audit's order. */
  place(column: Column, s: number): number {
    return this.isUnfair(column, s) ? at(column.places, s) : this.ranked.length + s;
  }

  /** The unfairness score as it is shown. */
  score(column: Column, s: number): string {
    const rank = this.rank(column, s);
    return rank === null ? "0" : (column.scores[rank - 1] ?? "");
  }

  /** What a finding stands against; null if not tested. */
  stands(column: Column, s: number): Stands | null {
    const stored = column.tests?.stored[s] ?? UNTESTED;
    return STANDS[Math.floor(stored / 2)] ?? null;
  }

  /** Whether a p-value is only a bound. */
  isBound(column: Column, s: number): boolean {
    return at(column.tests?.stored ?? [], s) % 2 === 1;
  }

  /** The worse-off groups, by place. */
  against(column: Column, s: number): number[] {
    return this.isUnfair(column, s) ? (this.header.against[at(column.against, s)] ?? []) : [];
  }

  /** How a group fares under a definition, as it is shown. */
  value(column: Column, s: number, g: number): string {
    if (!this.isRanked(column, s)) return SUPPRESSED;
    const value = at(column.values[g] ?? [], s);
    return column.valueTexts ? (column.valueTexts[value] ?? "") : percent(value, at(this.ranked.members[g] ?? [], s));
  }

  /** What to sort a group's values by. */
  valueOrder(column: Column, s: number, g: number): number {
    const value = at(column.values[g] ?? [], s);
    return column.valueTexts ? value : value / at(this.ranked.members[g] ?? [], s);
  }

  /** The actions of a subgroup, cheapest first, by place among all. */
  actions(s: number): number[] {
    const first = at(this.actionStarts, s);
    return Array.from({ length: at(this.actionStarts, s + 1) - first }, (_, i) => first + i);
  }

  /** The actions that a definition lists for a group. */
  listed(column: Column, s: number, g: number): number[] {
    const actions = this.actions(s);
    if (!column.lists) return actions;
    const listed: number[] = [];
    let from = 0;
    column.lists[g]?.[s]?.forEach((length, run) => {
      if (run % 2 === 1) listed.push(...actions.slice(from, from + length));
      from += length;
    });
    return listed;
  }

  /** What an action changes, as one reads it. */
  change(action: number): string {
    const change = this.header.changes[at(this.changeOf, action)] ?? [];
    return change.map((pair) => pair.join(" = ")).join(", ");
  }

  cost(action: number): number {
    return at(this.costOf, action);
  }

  /** Members of a group that an action flips; null if suppressed. */
  flipped(action: number, g: number): number | null {
    return known(at(this.flips[g] ?? [], action));
  }

  /** How far an effectiveness may be off: `28.8% to 51.5%`; null if that was not asked for, or is suppressed. */
  interval(flips: number | null, members: number): string | null {
    return flips === null ? null : (this.shares?.get(members)?.get(flips) ?? null);
  }

  /** The distinct costs of a subgroup's actions, and the members reached at each by group. */
  distribution(s: number, viewpoint: "micro" | "macro"): { costs: number[]; reached: (number | null)[][] } {
    const first = at(this.levelStarts, s);
    const costs = this.actions(s).filter((action) => this.startsLevel[action] === 1).map((action) => this.cost(action));
    return { costs, reached: this.ecds[viewpoint].map((ecd) => costs.map((_, level) => known(at(ecd, first + level)))) };
  }
}

/** A known count, or null. */
function known(stored: number): number | null {
  return stored === 0 ? null : stored - 1;
}
