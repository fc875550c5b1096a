// Counts as the reports print them: the page holds counts, and a share is written from its two.

export const SUPPRESSED = "suppressed";

/** A number with so many decimals; exact halves go to the even digit, as in the text report. */
function fixed(value: number, decimals: number): string {
  const exact = value.toFixed(40);
  const cut = exact.indexOf(".") + 1 + decimals;
  const isHalf = /^50*$/.test(exact.slice(cut));
  const lower = exact.slice(0, cut);
  return isHalf && /[02468]$/.test(lower) ? lower : value.toFixed(decimals);
}

/** A share in percent with two decimals. */
export function percent(part: number, whole: number): string {
  return `${fixed(whole === 0 ? 0 : (part / whole) * 100, 2)}%`;
}

/** How often an action works; nothing is told of a count that is suppressed. */
export function effectiveness(flips: number | null, members: number): string {
  return flips === null ? SUPPRESSED : percent(flips, members);
}

/** A cost: at most four decimals. */
export function number(value: number): string {
  return fixed(value, 4).replace(/0+$/, "").replace(/\.$/, "");
}

/** `1 subgroup`, `2 subgroups`. */
export function several(value: number, what: string): string {
  return `${value.toLocaleString("en")} ${what}${value === 1 ? "" : "s"}`;
}
