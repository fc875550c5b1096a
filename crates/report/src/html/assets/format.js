// Numbers as the other forms of report print them.

const SUPPRESSED = "suppressed";

/** A number with so many decimals; exact halves go to the even digit, as in the text report. */
function fixed(value, decimals) {
  const exact = value.toFixed(40);
  const cut = exact.indexOf(".") + 1 + decimals;
  const isHalf = /^50*$/.test(exact.slice(cut));
  const lower = exact.slice(0, cut);
  return isHalf && /[02468]$/.test(lower) ? lower : value.toFixed(decimals);
}

/** A share in percent with two decimals. */
function percent(part, whole) {
  return `${fixed(whole === 0 ? 0 : (part / whole) * 100, 2)}%`;
}

/** A cost: at most four decimals. */
function number(value) {
  return fixed(value, 4).replace(/0+$/, "").replace(/\.$/, "");
}

/** A count with commas between thousands. */
function count(value) {
  return String(value).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** `1 subgroup`, `2 subgroups`. */
function several(value, what) {
  return `${count(value)} ${what}${value === 1 ? "" : "s"}`;
}

/** `'a' and 'b'`. */
function quotedList(names) {
  return names.map((name) => `'${name}'`).join(" and ");
}

