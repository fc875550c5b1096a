// Sentences about one finding, put together from texts and numbers that the report carries, word for word as the
// other forms of report say them. A sentence for each of many thousand findings would not fit into a page.

import { SUPPRESSED, effectiveness, number, percent, several } from "./format";
import type { Audit, Column, Stands } from "./payload";

/** Why nothing is listed for a group, and what comes closest. */
export function noneListed(audit: Audit, column: Column, s: number, g: number): string {
  const members = audit.ranked.of(s)[g] ?? 0;
  const helped = (action: number) => audit.flipped(action, g);
  const actions = audit.actions(s);
  // The cheapest of those that work best.
  const best = actions.reduce<number | null>((best, action) => ((helped(action) ?? 0) > (best === null ? 0 : (helped(best) ?? 0)) ? action : best), null);
  if (best === null) {
    return actions.some((action) => helped(action) === null)
      ? "No action is listed; how often each works is suppressed." : "No valid action helps anybody here.";
  }
  const missed = () => {
    if (column.phi !== null && column.viewpoint === "micro") {
      const together = audit.distribution(s, "micro").reached[g]?.at(-1) ?? null;
      return `All actions together reach${together === null ? "" : ` ${percent(together, members)}`}, not ${number(column.phi * 100)}%.`;
    }
    if (column.phi !== null) return `No action reaches ${number(column.phi * 100)}%.`;
    return column.budget !== null ? `No action lies within cost ${number(column.budget)}.` : "No action is listed.";
  };
  return `${missed()} The best: make ${audit.change(best)}, ${effectiveness(helped(best), members)} (cost ${number(audit.cost(best))}).`;
}

/** Against whom a finding is, and how much. */
export function verdict(audit: Audit, column: Column, s: number): string {
  const against = audit.against(column, s).map((g) => `'${audit.groups[g]}'`);
  if (against.length === 0) {
    return `Fair by ${column.title}. ${audit.fair(column, s) === "out of reach" ? "Nobody gets there: out of reach for everybody." : "The groups fare alike."}`;
  }
  const passes = column.passes ? ` The gap ${column.passes[s] ? "passes" : "does not pass"} the definition’s significance test.` : "";
  return `Bias against ${against.join(" and ")} by ${column.title}. Unfairness score = ${audit.score(column, s)}.${passes}`;
}

const VERDICTS: Record<Stands, string> = {
  "family-wise": "Evidence",
  "false-discovery": "Stands by false discovery rate only",
  chance: "Compatible with chance",
  "cannot-tell": "This definition cannot tell here, though alone so wide a gap is seldom chance",
};

const SMALL = 30;

/** What supports a finding, line by line, and how its groups compare at any cost. */
export function supportLines(audit: Audit, column: Column, s: number): string[] {
  const { intervals } = audit.header;
  const gap = audit.gaps[s] ?? null;
  if (!intervals) return gap === null ? [] : [gap];
  const close = column.close[s];
  const notClose = close?.intervals || !column.tests || !audit.isUnfair(column, s) ? null : intervals.not_close;
  const lines = [...testLines(audit, column, s), column.pairs[s] ?? null, smallLine(audit, s), ...(close?.lines ?? []), notClose, gap];
  return lines.filter((line): line is string => line !== null && line !== "");
}

function testLines(audit: Audit, column: Column, s: number): (string | null)[] {
  const { tests } = column;
  if (!tests) return ["Not tested: no test of this definition was asked for."];
  const stands = audit.stands(column, s);
  const text = (places: Float64Array) => tests.texts[places[s] ?? 0] ?? SUPPRESSED;
  const sign = audit.isBound(column, s) ? "≤" : "=";
  return [
    stands && `${VERDICTS[stands]}: p ${sign} ${text(tests.p)} alone, ${text(tests.familyWise)} among all ${several(tests.family, "subgroup")} (family-wise), ${text(tests.falseDiscovery)} (false discovery rate).`,
    audit.isUnfair(column, s) && stands === "family-wise" ? null : couldShow(tests.least[s] ?? 0, tests.leastTexts, tests.alpha),
  ];
}

function couldShow(least: number, texts: (string | null)[], alpha: string): string {
  if (least === 0) return `No score could pass here at α = ${alpha}: chance alone shows each that is possible too often.`;
  return `Alone, ${texts[least - 1]} would pass here at α = ${alpha}.`;
}

/** The groups with few members. */
function smallLine(audit: Audit, s: number): string | null {
  const members = audit.ranked.of(s);
  const small = audit.groups.map((name, g): [string, number] => [name, members[g] ?? 0]).filter(([, n]) => n < SMALL);
  if (small.length === 0) return null;
  return `Small groups: only ${small.map(([name, n], i) => `${i === 0 ? several(n, "member") : n.toLocaleString("en")} of '${name}'`).join(", ")}.`;
}
