// Reads back what payload.rs wrote, in the same order.

/** Whole numbers of seven bits a byte, one after another. */
class Numbers {
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
  }

  next() {
    let byte = this.bytes[this.at++];
    let value = byte & 0x7f;
    // Multiplied, not shifted: counts may pass 32 bits.
    for (let scale = 128; byte >= 0x80; scale *= 128) {
      byte = this.bytes[this.at++];
      value += (byte & 0x7f) * scale;
    }
    return value;
  }

  list(length) {
    const values = new Float64Array(length);
    for (let i = 0; i < length; i++) values[i] = this.next();
    return values;
  }
}

const STANDS = ["family-wise", "false-discovery", "chance", "cannot-tell"];
const UNTESTED = 2 * STANDS.length;

/** A predicate as one reads it. */
function predicateText(items) {
  return items.map((item) => item.join(" ")).join(", ");
}

/** What ranks start from: 0 is suppressed, 1 as open to all, 2 out of reach for all, then rank 1. */
const FAIR = 2;

/** Where each of some lists starts in the list of them all. */
function starts(lengths) {
  const places = new Uint32Array(lengths.length + 1);
  for (let i = 0; i < lengths.length; i++) places[i + 1] = places[i] + lengths[i];
  return places;
}

async function unpack(base64) {
  const compressed = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  const stream = new Blob([compressed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** All subgroups of the audit; one array a property, by place of the subgroup in the audit. */
class Audit {
  constructor(bytes) {
    const length = new DataView(bytes.buffer).getUint32(0, true);
    const header = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
    const numbers = new Numbers(bytes.subarray(4 + length));
    this.groups = header.groups;
    this.subgroups = header.subgroups;
    this.changes = header.changes;
    this.costs = header.costs;
    this.againstSets = header.against;
    this.intervals = header.intervals;
    this.affected = header.groups.reduce((sum, group) => sum + group.affected, 0);
    this.readPredicates(numbers, header.items);
    this.readActions(numbers);
    this.readDistributions(numbers);
    this.gaps = this.readSentences(numbers, header.gaps);
    this.columns = header.columns.map((column) => this.readColumn(numbers, column));
  }

  perGroup(read) {
    return this.groups.map((_, g) => read(g));
  }

  readPredicates(numbers, items) {
    this.lengths = numbers.list(this.subgroups);
    const places = starts(this.lengths);
    const all = numbers.list(places[this.subgroups]);
    this.items = (s) => Array.from(all.subarray(places[s], places[s + 1]), (item) => items[item]);
    this.texts = Array.from({ length: this.subgroups }, (_, s) =>
      predicateText(this.items(s)));
    this.placeOf = new Map(this.texts.map((text, s) => [text, s]));
    this.features = new Map();
    for (const [feature, , level] of items) {
      if (!this.features.has(feature)) this.features.set(feature, new Set());
      this.features.get(feature).add(level);
    }
    this.members = this.perGroup(() => numbers.list(this.subgroups));
    this.people = new Float64Array(this.subgroups);
    for (const members of this.members) members.forEach((n, s) => (this.people[s] += n));
  }

  readActions(numbers) {
    this.actionStarts = starts(numbers.list(this.subgroups));
    const all = this.actionStarts[this.subgroups];
    this.changeOf = numbers.list(all);
    this.costOf = new Float64Array(all);
    this.startsLevel = new Uint8Array(all);
    for (let action = 0; action < all; action++) {
      const cost = numbers.next();
      this.costOf[action] = this.costs[Math.floor(cost / 2)];
      this.startsLevel[action] = cost % 2;
    }
    // One higher than the count; 0 is suppressed.
    this.flips = this.perGroup(() => numbers.list(all));
  }

  readDistributions(numbers) {
    const levels = new Uint32Array(this.subgroups);
    for (let s = 0; s < this.subgroups; s++) {
      for (let a = this.actionStarts[s]; a < this.actionStarts[s + 1]; a++) {
        levels[s] += this.startsLevel[a];
      }
    }
    this.levelStarts = starts(levels);
    const all = this.levelStarts[this.subgroups];
    this.ecds = {
      micro: this.perGroup(() => numbers.list(all)),
      macro: this.perGroup(() => numbers.list(all)),
    };
  }

  /** Sentences, one a subgroup or none: texts with their numbers between them. */
  readSentences(numbers, texts) {
    const places = numbers.list(this.subgroups);
    const sentences = Array.from(places, (place) => (place === 0 ? null : texts[place - 1][0]));
    const most = Math.max(1, ...texts.map((text) => text.length));
    for (let slot = 1; slot < most; slot++) {
      const having = Array.from(sentences.keys()).filter((s) => places[s] > 0 && texts[places[s] - 1].length > slot);
      const decimals = numbers.list(having.length);
      having.forEach((s, i) => {
        const digits = String(numbers.next()).padStart(decimals[i] + 1, "0");
        const whole = digits.slice(0, digits.length - decimals[i]);
        const number = decimals[i] === 0 ? whole : `${whole}.${digits.slice(-decimals[i])}`;
        sentences[s] += number + texts[places[s] - 1][slot];
      });
    }
    return sentences;
  }

  readColumn(numbers, column) {
    const ranks = numbers.list(this.subgroups);
    // Only what could be ranked has the rest.
    const whereRanked = () => ranks.map((rank) => (rank > 0 ? numbers.next() : 0));
    const against = whereRanked();
    const values = this.perGroup(whereRanked);
    const passes = column.tested ? whereRanked() : null;
    const lists = column.lists_all ? null : this.perGroup(() => this.readLists(numbers));
    const tests = column.evidence ? this.readTests(numbers, column.evidence, ranks) : null;
    // Places in the order for people.
    const places = ranks.map((rank) => (rank > FAIR ? numbers.next() : 0));
    return { ...column, ranks, against, values, places, valueTexts: column.values, passes, lists, tests };
  }

  /** What the tests say: of unfair subgroups their p-values, of all ranked ones what could pass. */
  readTests(numbers, header, ranks) {
    const stored = ranks.map((rank) => (rank > FAIR ? numbers.next() : UNTESTED));
    const whereTested = () => stored.map((stands) => (stands < UNTESTED ? numbers.next() : 0));
    const [p, familyWise, falseDiscovery] = [whereTested(), whereTested(), whereTested()];
    const least = ranks.map((rank) => (rank > 0 ? numbers.next() : 0));
    return { ...header, stored, p, familyWise, falseDiscovery, least, texts: header.p, leastTexts: header.least };
  }

  readLists(numbers) {
    return Array.from({ length: this.subgroups }, () => numbers.list(numbers.next()));
  }

  /** A known count, or null. */
  static known(stored) {
    return stored === 0 ? null : stored - 1;
  }

  isSuppressed(column, s) {
    return column.ranks[s] === 0;
  }

  isUnfair(column, s) {
    return column.ranks[s] > FAIR;
  }

  /** The rank from 1; none if fair or suppressed. */
  rank(column, s) {
    return this.isUnfair(column, s) ? column.ranks[s] - FAIR : null;
  }

  /** Whether a fair subgroup is fair because nobody gets there. */
  isOutOfReach(column, s) {
    return column.ranks[s] === FAIR;
  }

  /** The place from 1 in the order for people; none if fair or suppressed. */
  place(column, s) {
    return this.isUnfair(column, s) ? column.places[s] + 1 : null;
  }

  /** Whether the group with the lower value is worse off, as the first finding shows. */
  lowIsWorse(column) {
    const s = column.ranks.indexOf(FAIR + 1);
    if (s < 0) return true;
    const [worse] = this.against(column, s);
    const values = this.groups.map((_, g) => this.valueOrder(column, s, g));
    return values[worse] === Math.min(...values);
  }

  /** The unfairness score as it is shown. */
  score(column, s) {
    if (this.isSuppressed(column, s)) return SUPPRESSED;
    return this.isUnfair(column, s) ? column.scores[column.ranks[s] - FAIR - 1] : "0";
  }

  /** What a finding stands against: "family-wise", "false-discovery", "chance" or "cannot-tell"; null if not tested. */
  stands(column, s) {
    const stored = column.tests?.stored[s] ?? UNTESTED;
    return stored < UNTESTED ? STANDS[Math.floor(stored / 2)] : null;
  }

  /** Whether a finding was tested and does not pass. */
  isGrey(column, s) {
    return !["family-wise", null].includes(this.stands(column, s));
  }

  /** The worse-off groups, by place. */
  against(column, s) {
    return this.isUnfair(column, s) ? this.againstSets[column.against[s]] : [];
  }

  /** How a group fares under a definition, as it is shown. */
  value(column, s, g) {
    if (this.isSuppressed(column, s)) return SUPPRESSED;
    const value = column.values[g][s];
    return column.valueTexts ? column.valueTexts[value] : percent(value, this.members[g][s]);
  }

  /** What to sort a group's values by. */
  valueOrder(column, s, g) {
    const value = column.values[g][s];
    return column.valueTexts ? value : value / this.members[g][s];
  }

  /** The share of all affected that a subgroup covers. */
  coverage(s) {
    return this.people[s] / this.affected;
  }

  /** The actions of a subgroup, cheapest first, by place among all. */
  actions(s) {
    const first = this.actionStarts[s];
    return Array.from({ length: this.actionStarts[s + 1] - first }, (_, i) => first + i);
  }

  /** The actions that a definition lists for a group. */
  listed(column, s, g) {
    const actions = this.actions(s);
    if (!column.lists) return actions;
    const listed = [];
    let at = 0;
    column.lists[g][s].forEach((length, run) => {
      if (run % 2 === 1) listed.push(...actions.slice(at, at + length));
      at += length;
    });
    return listed;
  }

  /** What an action changes, as one reads it. */
  changeText(action) {
    return this.changes[this.changeOf[action]].map((pair) => pair.join(" = ")).join(", ");
  }

  /** Members of a group that an action flips; null if suppressed. */
  flipped(action, g) {
    return Audit.known(this.flips[g][action]);
  }

  /** The ranked subgroups with one condition less: the condition, and the subgroup. */
  parents(s) {
    const items = this.items(s);
    const without = items.map((item) => [item, this.placeOf.get(predicateText(items.filter((other) => other !== item)))]);
    return without.filter(([, parent]) => parent !== undefined);
  }

  /** The ranked subgroups with one condition more. */
  children(s) {
    const items = this.items(s);
    const children = [];
    for (let child = 0; child < this.subgroups; child++) {
      if (this.lengths[child] !== items.length + 1) continue;
      const all = this.items(child);
      if (items.every((item) => all.includes(item))) children.push([all.find((item) => !items.includes(item)), child]);
    }
    return children;
  }

  /** The distinct costs of a subgroup's actions, and the members reached at each by group. */
  distribution(s, viewpoint) {
    const first = this.levelStarts[s];
    const costs = this.actions(s)
      .filter((action) => this.startsLevel[action] === 1)
      .map((action) => this.costOf[action]);
    const reached = this.ecds[viewpoint].map((ecd) =>
      costs.map((_, level) => Audit.known(ecd[first + level])));
    return { costs, reached };
  }
}

