// What is not tested at a value is tested in the background, where the people are at hand.

import { useEffect } from "preact/hooks";
import { FORGOTTEN } from "./api";
import type { Work } from "./work";

/** What was asked to be tested: if that failed, it is not asked again and again. */
const tried = new Set<string>();
addEventListener(FORGOTTEN, () => tried.clear());

/** Has a definition tested at a level that somebody rests on; what a slider only passes is not. */
export function useTests({ audit, found, rows, work }: {
  audit: string;
  found: { definition: string; alpha: number; tested: boolean } | null;
  /** Whether the people are at hand. */
  rows: boolean;
  work: Work;
}) {
  const busy = work.stage?.is === "working";
  const { definition, alpha, tested } = found ?? { definition: "", alpha: 0, tested: true };
  useEffect(() => {
    const what = `${audit} ${definition} ${alpha}`;
    if (tested || !rows || busy || tried.has(what)) return;
    const rests = setTimeout(() => {
      tried.add(what);
      void work.begin(`/api/audits/${audit}/tests`, { definition, alpha });
    }, 1200);
    return () => clearTimeout(rests);
  }, [audit, definition, alpha, tested, rows, busy]);
}

/** Says that a value is not tested, and whether it will be. */
export const untested = (rows: boolean) =>
  `Not tested at this value${rows ? ": it will be, in the background." : ": a saved audit has no people to test with."}`;
