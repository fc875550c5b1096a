// Conditions on predicates, in the words of `facts show --where`: `occupation = Sales and age`.

/** Feature, operator, level. */
export type Item = [string, string, string];

/** The features of an audit, and the levels of each. */
export type Features = Map<string, string[]>;

/** An item, what an item must not be (`!=`), or a feature alone. */
interface Condition {
  feature: string;
  operator?: string;
  level?: string;
}

type Read = { conditions: Condition[] } | { failure: string };

const OPERATORS = ["!=", "<=", ">=", "==", "="];

/** The names that a text begins with, the longest first, and what follows each. */
function beginnings(text: string, names: Iterable<string>): [string, string][] {
  const lower = text.toLowerCase();
  return [...names]
    .filter((name) => lower.startsWith(name.toLowerCase()))
    .sort((a, b) => b.length - a.length || Number(text.startsWith(b)) - Number(text.startsWith(a)))
    .map((name) => [name, text.slice(name.length)]);
}

/** What follows the `and` or comma after a condition; null if there is neither. */
function afterJoint(text: string): string | null {
  const rest = text.trimStart();
  return rest === "" ? "" : (/^(?:,|and\s)\s*(.*)$/is.exec(rest)?.[1] ?? null);
}

/** All conditions of a text, or why it cannot be read. */
export function readConditions(text: string, features: Features): Read {
  if (text === "") return { conditions: [] };
  let failure: string | null = null;
  const first = (condition: Condition, after: string): Read | null => {
    const rest = afterJoint(after);
    const read: Read = rest === null
      ? { failure: `expected \`and\` or a comma before \`${after.trim()}\`` }
      : readConditions(rest, features);
    if ("conditions" in read) return { conditions: [condition, ...read.conditions] };
    failure ??= read.failure;
    return null;
  };
  for (const [feature, after] of beginnings(text, features.keys())) {
    if (/^[\p{L}\p{N}_-]/u.test(after)) continue;
    const rest = after.trimStart();
    const operator = OPERATORS.find((symbol) => rest.startsWith(symbol));
    if (!operator) {
      const read = first({ feature }, after);
      if (read) return read;
      continue;
    }
    const given = rest.slice(operator.length).trimStart();
    for (const [level, end] of beginnings(given, features.get(feature) ?? [])) {
      if (afterJoint(end) === null) continue;
      const read = first({ feature, operator: operator.replace("==", "="), level }, end);
      if (read) return read;
    }
    failure ??= given === "" ? `which ${feature}?` : `feature \`${feature}\` has no level \`${given.split(" and ")[0]}\``;
  }
  const [given = ""] = text.split(/[=<>!,]/);
  return { failure: failure ?? `no feature is called \`${given.trim()}\`; there are: ${[...features.keys()].join(", ")}` };
}

/** Whether a predicate meets all conditions. */
export function meets(items: Item[], conditions: Condition[]): boolean {
  const has = (feature: string, operator: string, level?: string) =>
    items.some((item) => item[0] === feature && item[1] === operator && item[2] === level);
  return conditions.every(({ feature, operator, level }) => {
    if (!operator) return items.some((item) => item[0] === feature);
    return operator === "!=" ? !has(feature, "=", level) : has(feature, operator, level);
  });
}

/** The items that a text names exactly; null if it names none. */
export function exactly(conditions: Condition[]): Item[] | null {
  const items = conditions.map(({ feature, operator, level }): Item | null =>
    operator && operator !== "!=" && level !== undefined ? [feature, operator, level] : null);
  return items.some((item) => item === null) ? null : (items as Item[]);
}
