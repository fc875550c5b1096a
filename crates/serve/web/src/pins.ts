// What the reader pins and notes, kept in this browser for each audit.

import { useEffect, useState } from "preact/hooks";
import type { AuditTitle } from "./api";

export interface Pin {
  predicate: string;
  note: string;
}

const changed = "facts-pins";

/** Pins that the browser would not keep. */
const unkept = new Map<string, Pin[]>();

/** What an audit is known by again: not when it was made, which moves when its p-values come. */
export function keyOfPins({ data, model, protected: groups, settings, name }: AuditTitle): string {
  return JSON.stringify([data, model, groups, settings ?? name]);
}

function key(audit: string) {
  return `facts-pins:${audit}`;
}

function load(audit: string): Pin[] {
  try {
    return JSON.parse(localStorage.getItem(key(audit)) ?? "null") ?? unkept.get(audit) ?? [];
  } catch {
    return unkept.get(audit) ?? [];
  }
}

function save(audit: string, pins: Pin[]) {
  try {
    localStorage.setItem(key(audit), JSON.stringify(pins));
  } catch {
    // A browser that keeps nothing for files of this machine: pins last as long as the page.
    unkept.set(audit, pins);
  }
  dispatchEvent(new Event(changed));
}

export function usePins(audit: string) {
  const [pins, set] = useState(() => load(audit));
  useEffect(() => {
    const read = () => set(load(audit));
    read();
    addEventListener(changed, read);
    return () => removeEventListener(changed, read);
  }, [audit]);
  return {
    pins,
    toggle(predicate: string) {
      const has = pins.some((pin) => pin.predicate === predicate);
      save(audit, has ? pins.filter((pin) => pin.predicate !== predicate) : [...pins, { predicate, note: "" }]);
    },
    annotate(predicate: string, note: string) {
      const has = pins.some((pin) => pin.predicate === predicate);
      const all = has ? pins : [...pins, { predicate, note }];
      save(audit, all.map((pin) => (pin.predicate === predicate ? { ...pin, note } : pin)));
    },
    replace(all: Pin[]) {
      save(audit, all);
    },
  };
}
