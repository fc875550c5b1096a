// Text from data as a person may see it, as `visible` of report/src/text.rs gives it: what turns the direction of
// writing, and so what other text seems to say, is shown as a sign. Only what is shown changes: conditions, addresses
// and what is copied hold the text as it is.

import { Fragment, options } from "preact";

const HARMFUL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

export const visible = (text: string) => text.replace(HARMFUL, "\ufffd");

/** What of an element is read. The `value` of a field is given back, and stays. */
const READ = ["children", "title", "aria-label", "data-label", "placeholder"];

function shown(part: unknown): unknown {
  if (typeof part === "string") return visible(part);
  return Array.isArray(part) ? part.map(shown) : part;
}

const before = options.vnode;

// Every element of the page passes here.
options.vnode = (node) => {
  if (typeof node.type === "string" || node.type === Fragment) {
    const props = node.props as Record<string, unknown>;
    for (const name of READ) if (name in props) props[name] = shown(props[name]);
  }
  before?.(node);
};
