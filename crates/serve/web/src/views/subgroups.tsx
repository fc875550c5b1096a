// All subgroups: sliders that rank again, a scatter plot to brush, a table that holds only what is seen.

import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { get, offline, query, useAnswer, type Overview, type Row, type Subgroups as Found } from "../api";
import { change, href, kept, type Params } from "../address";
import { Asking, Command, Finding, count } from "../parts";
import { Scatter, type Brush } from "../scatter";
import { untested, useTests } from "../tested";
import type { Work } from "../work";
import { DefinitionChoice, Sliders } from "./choice";
import { first } from "./drill";

/** The height of a row in pixels; the style sheet has the same. */
const ROW = 34;
/** Rows are asked for in parts of this many. */
const PART = 100;
/** Browsers draw nothing higher than this; longer tables move in larger steps. */
const HIGHEST = 8_000_000;

const FILTERS = ["where", "against", "passing", "unfair", "people", "gap", "sort", "descending"];

function asked(params: Params, definition: string): Record<string, string> {
  const given = FILTERS.flatMap((name) => (params[name] ? [[name, params[name]]] : []));
  return { ...Object.fromEntries(given), definition, ...(params.alpha ? { alpha: params.alpha } : {}) };
}

function span(text: string | undefined): [number, number] | null {
  const ends = text?.split("..").map((end) => (end === "inf" ? Infinity : end === "-inf" ? -Infinity : Number(end)));
  return ends?.length === 2 && !ends.some(Number.isNaN) ? (ends as [number, number]) : null;
}

const written = (number: number) => (Number.isFinite(number) ? String(Number(number.toPrecision(5))) : number > 0 ? "inf" : "-inf");

export function Subgroups({ audit, overview, params, rows: hasRows, work }: {
  audit: string;
  overview: Overview;
  params: Params;
  rows: boolean;
  work: Work;
}) {
  const definition = params.definition || first(overview);
  const base = `/api/audits/${audit}/subgroups`;
  const filters = asked(params, definition);
  const path = query(base, { ...filters, count: PART, points: 1 });
  const { answer, error, asking } = useAnswer<Found>(path);
  useTests({ audit, found: answer, rows: hasRows, work });
  const groups = useMemo(() => overview.groups.map((group) => group.name.trim()), [overview]);
  const people = span(params.people);
  const gap = span(params.gap);
  const brush = useMemo<Brush | null>(
    () => (people || gap ? { people: people ?? [1, Infinity], gap: gap ?? [-Infinity, Infinity] } : null),
    [params.people, params.gap],
  );
  return (
    <>
      <div class="bar">
        <DefinitionChoice overview={overview} chosen={definition} title={answer?.title} />
        {offline
          ? <p class="soft">This page holds what was audited; <code>facts serve</code> ranks again while φ, the budget and α move.</p>
          : <Sliders overview={overview} chosen={definition} alpha={Number(params.alpha ?? overview.alpha)} />}
      </div>
      <Filters params={params} groups={groups} tested={answer?.tested ?? false} overview={overview} />
      <Asking error={error} asking={false} />
      {answer && (
        <>
          <Summary answer={answer} groups={groups} hasRows={hasRows} />
          {answer.points && (
            <section class="card">
              <Scatter points={answer.points} brush={brush} groups={groups} onBrush={(over) => change({
                people: over ? `${written(Math.ceil(over.people[0]))}..${written(Math.floor(over.people[1]))}` : "",
                gap: over ? `${written(over.gap[0])}..${written(over.gap[1])}` : "",
              })} />
              <p class="soft">Draw a rectangle to see only these rows; a click shows all again. Grey: fair, or does not pass.</p>
            </section>
          )}
          <List base={base} filters={filters} answer={answer} groups={groups} params={params} asking={asking} />
          {!offline && <p class="chips">
            <a href={query(`${base}.csv`, filters)} download="subgroups.csv">These rows as CSV</a>
            <a href={query(`${base}.json`, filters)} download="subgroups.json">as JSON</a>
          </p>}
          <Command command={answer.command} lacks={answer.command_lacks} />
        </>
      )}
    </>
  );
}

function Summary({ answer, groups, hasRows }: { answer: Found; groups: string[]; hasRows: boolean }) {
  return (
    <section class="card summary" aria-live="polite">
      <p>
        <b>{answer.title}:</b> {count(answer.unfair)} of {count(answer.ranked)} subgroups are unfair
        {groups.map((name, g) => `${g === 0 ? ", " : ", "}${count(answer.against[g] ?? 0)} against ${name}`).join("")}.
      </p>
      {answer.tested
        ? <p id="tested">{answer.evidence ?? `${count(answer.passing ?? 0)} of them pass at α = ${answer.alpha}.`}</p>
        : <p id="tested" class="untested">{untested(hasRows)}</p>}
    </section>
  );
}

function Filters({ params, groups, tested, overview }: { params: Params; groups: string[]; tested: boolean; overview: Overview }) {
  const [one, other] = overview.features.filter((feature) => feature.levels.length > 1);
  const example = one ? `${one.name.trim()} = ${one.levels[0]?.trim()}${other ? ` and ${other.name.trim()}` : ""}` : "";
  return (
    <form class="filters" onSubmit={(event) => event.preventDefault()}>
      <label>Conditions
        <input id="where" type="search" value={params.where ?? ""} placeholder={example} onChange={(event) => change({ where: event.currentTarget.value })} />
      </label>
      <label>Against
        <select id="against" value={params.against ?? ""} onChange={(event) => change({ against: event.currentTarget.value })}>
          <option value="">anybody</option>
          {groups.map((name) => <option value={name}>{name}</option>)}
        </select>
      </label>
      <label>People
        <input id="people" value={params.people ?? ""} placeholder="20..300" size={9} onChange={(event) => change({ people: event.currentTarget.value })} />
      </label>
      <label>{groups.length === 2 ? `Score (negative: against ${groups[1]})` : "Score"}
        <input id="gap" value={params.gap ?? ""} placeholder="0.2..inf" size={9} onChange={(event) => change({ gap: event.currentTarget.value })} />
      </label>
      <label class="check"><input type="checkbox" checked={params.unfair === "1"} onChange={(event) => change({ unfair: event.currentTarget.checked ? "1" : "" })} /> unfair</label>
      <label class="check"><input id="passing" type="checkbox" disabled={!tested && params.passing !== "1"} checked={params.passing === "1"} onChange={(event) => change({ passing: event.currentTarget.checked ? "1" : "" })} /> passing</label>
      <button type="button" onClick={() => change(Object.fromEntries(FILTERS.map((name) => [name, ""])))}>Clear</button>
    </form>
  );
}

interface Column {
  key: string;
  title: string;
  right: boolean;
  /** Whether the greatest come first at the first click. */
  descends: boolean;
}

function columns(groups: string[]): Column[] {
  return [
    { key: "people", title: "order for people", right: true, descends: false },
    { key: "predicate", title: "subgroup", right: false, descends: false },
    { key: "members", title: "people", right: true, descends: true },
    ...groups.map((name, g) => ({ key: `value${g}`, title: name, right: true, descends: true })),
    { key: "rank", title: "score", right: true, descends: false },
    { key: "p", title: "p", right: true, descends: false },
  ];
}

/** A table of any length: rows that are not seen are not there. */
function List({ base, filters, answer, groups, params, asking }: {
  base: string;
  filters: Record<string, string>;
  answer: Found;
  groups: string[];
  params: Params;
  asking: boolean;
}) {
  const box = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [later, setLater] = useState<{ of: Found; parts: Map<number, Row[]> } | null>(null);
  // The first rows come with the answer and are drawn with it; later ones are those of this answer or none.
  const parts = useMemo(
    () => new Map([[0, answer.rows], ...(later?.of === answer ? later.parts : [])]),
    [answer, later],
  );
  const question = query(base, filters);
  useLayoutEffect(() => {
    if (box.current?.scrollTop) box.current.scrollTo(0, 0);
    setTop(0);
  }, [answer]);
  const seen = Math.ceil((box.current?.clientHeight ?? 480) / ROW) + 1;
  const height = Math.min(HIGHEST, answer.brushed * ROW);
  const reach = Math.max(1, height - (seen - 1) * ROW);
  const start = answer.brushed * ROW <= HIGHEST
    ? Math.floor(top / ROW)
    : Math.round((top / reach) * Math.max(0, answer.brushed - seen + 1));
  const end = Math.min(answer.brushed, start + seen);
  useEffect(() => {
    const abort = new AbortController();
    for (let part = Math.floor(start / PART); part <= Math.floor(Math.max(start, end - 1) / PART); part += 1) {
      if (parts.has(part)) continue;
      get<Found>(query(base, { ...filters, from: part * PART, count: PART }), abort.signal).then(
        (more) => setLater((known) => ({ of: answer, parts: new Map(known?.of === answer ? known.parts : []).set(part, more.rows) })),
        () => {},
      );
    }
    return () => abort.abort();
  }, [question, start, end, parts]);
  const rows = [];
  for (let at = start; at < end; at += 1) rows.push({ at, row: parts.get(Math.floor(at / PART))?.[at % PART] });
  const offset = answer.brushed * ROW <= HIGHEST ? start * ROW : Math.min(top, height - rows.length * ROW);
  const shown = columns(groups);
  const sort = params.sort || "people";
  const by = (column: Column) => {
    const descending = sort === column.key ? params.descending !== "1" : column.descends;
    change({ sort: column.key, descending: descending ? "1" : "" });
  };
  return (
    <section class="card" aria-busy={asking}>
      <p id="matching"><b>{count(answer.brushed)}</b> subgroups{answer.brushed !== answer.matching && ` of ${count(answer.matching)}`}</p>
      <div class="list" ref={box} tabIndex={0} role="region" aria-label="Subgroups" onScroll={(event) => setTop(event.currentTarget.scrollTop)}>
        <div class="table" role="table" aria-rowcount={answer.brushed + 1} aria-label="Subgroups" style={{ "--columns": String(groups.length) }}>
          <div role="rowgroup" class="head">
            <div role="row" class="row" aria-rowindex={1}>
              {shown.map((column) => (
                <div role="columnheader" class={`${column.right ? "right" : ""}${column.key === "rank" ? " score" : ""}`} aria-sort={sort === column.key ? (params.descending === "1" ? "descending" : "ascending") : "none"}>
                  <button type="button" onClick={() => by(column)}>{column.key === "people" ? "#" : column.title}<span class="unseen">{column.key === "people" ? " order for people" : ""}</span></button>
                </div>
              ))}
              <div role="columnheader" class="deciding">finding</div>
            </div>
          </div>
          <div role="rowgroup" style={{ height: `${height}px`, position: "relative" }}>
            <div style={{ transform: `translateY(${offset}px)` }}>
              {rows.map(({ at, row }) => (
                <div role="row" class={`row${row?.passes === false ? " grey" : ""}`} aria-rowindex={at + 2} data-subgroup={row?.subgroup}>
                  <div role="cell" class="right soft">{count(at + 1)}</div>
                  <div role="cell" class="predicate">{row && <a href={href("drill", { ...kept(params), predicate: row.predicate })}>{row.predicate}</a>}</div>
                  <div role="cell" class="right">{row && count(row.members.reduce((sum, people) => sum + people, 0))}</div>
                  {groups.map((_, g) => <div role="cell" class="right">{row?.values[g]}</div>)}
                  <div role="cell" class="right score">{row?.score}</div>
                  <div role="cell" class="right">{row?.p}</div>
                  <div role="cell" class="deciding">{row && <Finding row={row} groups={groups} />}</div>
                </div>
              ))}
            </div>
          </div>
        </div>
      </div>
    </section>
  );
}
