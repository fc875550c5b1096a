// Small builders for the page. Texts from the data enter as text nodes only, never as markup.

const MARKS = 6;
const SVG = "http://www.w3.org/2000/svg";

function append(parent, children) {
  for (const child of children.flat()) {
    if (child !== null && child !== undefined && child !== false) parent.append(child);
  }
  return parent;
}

/** An element with attributes and children. */
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "on") for (const [event, act] of Object.entries(value)) made.addEventListener(event, act);
    else if (value !== null && value !== false) made.setAttribute(key, value === true ? "" : value);
  }
  return append(made, children);
}

function drawing(name, attributes = {}, ...children) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return append(made, children);
}

/** A name from the data, kept apart from the direction of the text around it. */
function name(text) {
  return element("bdi", {}, text);
}

/** The shape and colour of a group. */
function mark(g) {
  const attributes = { class: `mark g${g % MARKS}`, "aria-hidden": "true", focusable: "false" };
  return drawing("svg", attributes, drawing("use", { href: `#mark-${g % MARKS}` }));
}

/** A bar of a share in a group's colour. */
function bar(share, g) {
  const attributes = { class: `bar g${g % MARKS}`, "aria-hidden": "true", focusable: "false" };
  return drawing("svg", attributes,
    drawing("rect", { class: "track", width: "100%", height: "100%" }),
    drawing("rect", { class: "fill", width: `${(share * 100).toFixed(2)}%`, height: "100%" }));
}

/** Conditions with a comma between them. */
function conditions(items) {
  return items.flatMap(([feature, operator, level], i) => [
    i > 0 ? ", " : null,
    element("span", { class: "item" },
      element("bdi", { class: "feature" }, feature), ` ${operator} `, name(level)),
  ]);
}

/** A table that scrolls inside its own box where it is too wide. */
function scrolling(label, table) {
  return element("div", { class: "scroll", role: "region", "aria-label": label, tabindex: "0" }, table);
}

function fill(parent, ...children) {
  parent.replaceChildren();
  append(parent, children);
}

