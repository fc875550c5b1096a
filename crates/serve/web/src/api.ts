// What the server answers, or the page itself where there is none; docs/api.md has the whole of it.

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

export interface Grid {
  columns: [string, "left" | "right"][];
  rows: string[][];
}

export interface AuditTitle {
  key: number;
  name: string;
  made: string;
  data: string;
  model: string;
  protected: string[];
  /** Whether the people behind it are at hand. */
  rows: boolean;
  /** Whether they may be asked about one by one. */
  people: boolean;
  /** What it was made with, if it was made here. */
  settings: string[] | null;
  /** The command that gives it; a page without a server knows none. */
  command?: string;
}

export interface Session {
  tool: string;
  /** Whether there can be what-ifs. */
  bench: boolean;
  /** The work that is going on. */
  job: number | null;
  audits: AuditTitle[];
}

export interface Definition {
  id: string;
  title: string;
  kind: string;
  question: string;
  compares: string;
  beware: string;
  viewpoint: string | null;
  phi: string | null;
  budget: number | null;
  unfair: number;
  tested: boolean;
}

export interface Share {
  part: number;
  whole: number;
}

export interface Driver {
  item: string;
  value: number;
  worse: Share;
  better: Share;
}

export interface Feature {
  name: string;
  levels: string[];
  ordered: boolean;
  immutable: boolean;
  /** The one way that it may go, if there is one. */
  only: "increase" | "decrease" | null;
  /** How far one change may go, in words. */
  max_step: string | null;
  /** Whether it is a number in bins. */
  binned: boolean;
  weight: number;
}

export interface Overview {
  about: string;
  facts: [string, string][];
  notes: string[];
  groups: { name: string; people: number; affected: number }[];
  answer: {
    verdict: Record<string, unknown> | null;
    verdict_words: string;
    headline: string;
    reason: string;
    drivers: Driver[];
    compared: { worst: number; best: number } | null;
  } | null;
  people: Grid | null;
  ratio: string | null;
  not_said: string;
  cost_unit: string;
  ways: ([number, number][] | null)[];
  definitions: Definition[];
  features: Feature[];
  subgroups: number;
  without_actions: number;
  greatest_cost: number;
  alpha: number;
  tested: boolean;
  command: string | null;
}

export interface Curve {
  costs: number[];
  groups: {
    name: string;
    members: number;
    micro: (number | null)[];
    macro: (number | null)[];
    open: string | null;
  }[];
}

export interface Cell {
  values: string[];
  score: string;
  weight: number;
  against: number[];
  fair: string | null;
  passes: boolean | null;
  rank: number | null;
}

export type Overlap = { is: "counted"; members: number[] } | { is: "nobody" } | { is: "not-common" };

export interface Story {
  number: number;
  subgroup: number;
  predicate: string;
  sentence: string;
  against: string;
  better_off: string;
  groups: { group: string; people: number; with_a_way: number }[];
  cost: number;
  loss: { people: number; at_least: number };
  why_sentence: string | null;
  sharper: [string, number][];
  stands_for: number;
  members: number[];
  curve: Curve;
  matrix: (Cell | null)[];
  overlaps: Overlap[];
  command: string | null;
}

export interface Stories {
  stories: Story[];
  command: string | null;
}

export interface Row {
  subgroup: number;
  predicate: string;
  members: number[];
  values: string[];
  rank: number | null;
  score: string;
  against: number[];
  fair: string | null;
  passes: boolean | null;
  p: string | null;
}

export interface Points {
  people: number[];
  gap: (number | null)[];
  against: number[];
  passes: number[];
}

export interface Subgroups {
  definition: string;
  title: string;
  alpha: number;
  tested: boolean;
  evidence: string | null;
  ranked: number;
  unfair: number;
  against: number[];
  passing: number | null;
  matching: number;
  brushed: number;
  from: number;
  rows: Row[];
  points: Points | null;
  command: string | null;
  /** What the command does not do, in a sentence. */
  command_lacks: string | null;
}

export interface Neighbour {
  item: string;
  predicate: string;
  row: Row | null;
  members: number[];
}

/** One group of a subgroup: what is compared, and what its members can do. */
export interface Side {
  name: string;
  members: number;
  covered: string;
  value: string;
  interval: string | null;
  ways: { change: string; effectiveness: string; cost: string; interval: string | null }[];
  none: string | null;
}

export interface OneSubgroup {
  conditions: { text: string; words: string }[];
  found: {
    row: Row;
    predicate: string;
    sides: Side[];
    verdict: string;
    support: string[];
    variants: Grid | null;
    definitions: Grid;
    actions: Grid;
    curve: Curve;
    told_by: number | null;
    same_people: string | null;
  } | null;
  not_ranked: string | null;
  parents: Neighbour[];
  children: Neighbour[];
  definition: string;
  title: string;
  alpha: number;
  /** Whether it is known what passes at α. */
  tested: boolean;
  command: string | null;
  command_lacks: string | null;
}

export interface Compared {
  warnings: string[];
  people: { trend: string; sentence: string; levelled_down: boolean; table: Grid } | null;
  definition: string;
  definitions: { id: string; title: string }[];
  unchanged: number;
  sorts: {
    change: string;
    word: string;
    count: number;
    first: { predicate: string; finding: string; old: string; new: string }[];
  }[];
  command: string | null;
}

export interface PersonValue {
  feature: string;
  level: string;
  /** Their own value, where the level is a bin. */
  value: string | null;
  may_change: boolean;
}

export interface People {
  matching: number;
  people: number;
  from: number;
  rows: { profile: number; group: string; people: number; values: PersonValue[]; way: string }[];
  command: string;
}

export interface Fare {
  predicate: string;
  sentence: string;
  table: Grid;
}

export interface Person {
  profile: number;
  group: string;
  people: number;
  who: string;
  values: PersonValue[];
  headline: string;
  valid: number;
  turning: { change: string; cost: number; cost_text: string }[];
  alike: Fare;
  closest: Fare | null;
  command: string;
}

export type Stage =
  | { is: "working"; what: string; done: number; total: number; audit: number | null }
  | { is: "done"; audit: number }
  | { is: "failed"; why: string }
  | { is: "cancelled" };

export class Refused extends Error {}

/** Answers a question by its address. */
type Answers = (path: string, signal?: AbortSignal) => Promise<unknown>;

/** Whether the page answers from what it holds: nothing is ranked anew, tested or audited then. */
export let offline = false;

let answering: Answers = fromServer;

/** Has questions answered without a server. */
export function answerFrom(answers: Answers) {
  offline = true;
  answering = answers;
}

export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  return (await answering(path, signal)) as T;
}

async function fromServer(path: string, signal?: AbortSignal): Promise<unknown> {
  const response = await fetch(path, { signal: signal ?? null });
  const body = await response.json();
  if (!response.ok) throw new Refused(body.error ?? response.statusText);
  return body;
}

/** Asks for something to be done. */
export async function send<T>(method: "POST" | "DELETE", path: string, body?: unknown): Promise<T> {
  const response = await fetch(path, { method, body: body === undefined ? null : JSON.stringify(body) });
  const answer = await response.json();
  if (!response.ok) throw new Refused(answer.error ?? response.statusText);
  return answer as T;
}

export function query(path: string, params: Record<string, string | number | undefined>): string {
  const given = Object.entries(params).filter(([, value]) => value !== undefined && value !== "");
  return `${path}?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`;
}

/** What was asked before is shown again at once: answers about one audit never change, but for tests. */
const answers = new Map<string, unknown>();

export const FORGOTTEN = "facts-forgotten";

/** Asks everything again that is shown: an audit or a test has come. */
export function forget() {
  answers.clear();
  dispatchEvent(new Event(FORGOTTEN));
}

/** Asks, and asks again when the address of the question changes; the last answer stays until then. */
export function useAnswer<T>(path: string | null): { answer: T | null; error: string | null; asking: boolean } {
  const [state, set] = useState<{ path: string | null; answer: T | null; error: string | null }>({
    path: null,
    answer: null,
    error: null,
  });
  const current = useRef<string | null>(null);
  const [times, again] = useState(0);
  useEffect(() => {
    const ask = () => again((times) => times + 1);
    addEventListener(FORGOTTEN, ask);
    return () => removeEventListener(FORGOTTEN, ask);
  }, []);
  // Asked at once, not after the next frame: a slider that moves waits for the answer.
  useLayoutEffect(() => {
    current.current = path;
    if (path === null) return;
    const known = answers.get(path) as T | undefined;
    if (known !== undefined) {
      set({ path, answer: known, error: null });
      return;
    }
    const abort = new AbortController();
    get<T>(path, abort.signal).then(
      (answer) => {
        if (answers.size > 60) answers.clear();
        answers.set(path, answer);
        if (current.current === path) set({ path, answer, error: null });
      },
      (error: unknown) => {
        if (abort.signal.aborted) return;
        const why = error instanceof Refused ? error.message : "The server does not answer; is it still running?";
        set({ path, answer: null, error: why });
      },
    );
    return () => abort.abort();
  }, [path, times]);
  return { answer: state.answer, error: state.error, asking: state.path !== path };
}
