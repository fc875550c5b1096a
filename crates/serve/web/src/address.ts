// What is seen stands in the address bar: it can be sent, and going back undoes it.

import { useEffect, useState } from "preact/hooks";

export type Params = Record<string, string>;

export interface Address {
  view: string;
  params: Params;
}

export function read(hash: string): Address {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?");
  return { view: path || "answer", params: Object.fromEntries(new URLSearchParams(query)) };
}

export function href(view: string, params: Params): string {
  const kept = Object.entries(params).filter(([, value]) => value !== "");
  const query = new URLSearchParams(kept).toString();
  return `#/${view}${query ? `?${query}` : ""}`;
}

/** Parameters that stay when the view changes: which audit, and how it is looked at. */
const KEPT = ["audit", "definition", "alpha"];

export function kept(params: Params): Params {
  return Object.fromEntries(Object.entries(params).filter(([name]) => KEPT.includes(name)));
}

export function useAddress(): Address {
  const [address, set] = useState(() => read(location.hash));
  useEffect(() => {
    // An anchor of the report that the explorer stands in is no view.
    const changed = () => (/^#(\/|$)/.test(location.hash) ? set(read(location.hash)) : undefined);
    addEventListener("hashchange", changed);
    addEventListener("facts-address", changed);
    return () => {
      removeEventListener("hashchange", changed);
      removeEventListener("facts-address", changed);
    };
  }, []);
  return address;
}

/** Whether a slider is being moved: its way is one step to go back. */
let sliding = false;

/** Changes some parameters of the view that is open. */
export function change(changes: Params, passing = false) {
  const { view, params } = read(location.hash);
  const next = href(view, { ...params, ...changes });
  if (next !== location.hash) {
    if (sliding) {
      history.replaceState(null, "", next);
      dispatchEvent(new Event("facts-address"));
    } else {
      location.hash = next;
    }
  }
  sliding = passing;
}
