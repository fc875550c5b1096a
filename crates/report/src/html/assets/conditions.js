// Conditions on predicates, in the words of `facts show --where`: `occupation = Sales and age`.

const OPERATORS = ["!=", "<=", ">=", "==", "="];

/** The names that a text begins with, the longest first, and what follows each. */
function beginnings(text, names) {
  const lower = text.toLowerCase();
  return [...names].filter((name) => lower.startsWith(name.toLowerCase()))
    .sort((a, b) => b.length - a.length || text.startsWith(b) - text.startsWith(a))
    .map((name) => [name, text.slice(name.length)]);
}

/** What follows the `and` or comma after a condition; null if there is neither. */
function afterJoint(text) {
  const rest = text.trimStart();
  return rest === "" ? "" : /^(?:,|and\s)\s*(.*)$/is.exec(rest)?.[1] ?? null;
}

/** All conditions of a text, or why it cannot be read. */
function readConditions(text, features) {
  if (text === "") return { conditions: [] };
  let failure = null;
  const first = (condition, after) => {
    const rest = afterJoint(after);
    const read = rest === null ? { failure: `expected “and” or a comma before “${after.trim()}”` }
      : readConditions(rest, features);
    failure ??= read.failure;
    return read.conditions && { conditions: [condition, ...read.conditions] };
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
    for (const [level, end] of beginnings(given, features.get(feature))) {
      if (afterJoint(end) === null) continue;
      const read = first({ feature, operator, level }, end);
      if (read) return read;
    }
    failure ??= given === "" ? `which ${feature}?` : `no subgroup has ${feature} ${operator} ${given.split(" and ")[0]}`;
  }
  const [given] = text.split(/[=<>!,]/);
  return { failure: failure ?? `no feature is called “${given.trim()}”; there are: ${[...features.keys()].join(", ")}` };
}

/** Whether a predicate meets all conditions. */
function meets(items, conditions) {
  const has = (feature, operator, level) => items.some((item) => item[0] === feature && item[1] === operator && item[2] === level);
  return conditions.every(({ feature, operator, level }) => {
    if (!operator) return items.some((item) => item[0] === feature);
    return operator === "!=" ? !has(feature, "=", level) : has(feature, operator.replace("==", "="), level);
  });
}
