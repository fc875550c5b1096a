// Drawings: positions are worked out here, numbers are not.

import type { ComponentChildren } from "preact";
import type { Curve, Grid } from "./api";
import { Table, count } from "./parts";

const WIDTH = 360;
const HEIGHT = 170;
const LEFT = 38;
const RIGHT = 12;
const TOP = 10;
const BOTTOM = 26;

interface Line {
  name: string;
  place: number;
  /** Cost and share, rising. */
  steps: [number, number][];
  dashed?: boolean;
}

/** Round numbers up to an end, a handful of them. */
function ticks(end: number): number[] {
  const rough = end / 5;
  const power = 10 ** Math.floor(Math.log10(rough || 1));
  const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough) ?? power;
  const found = [];
  for (let at = 0; at <= end * 1.001; at += step) found.push(Number(at.toPrecision(6)));
  return found;
}

/** Steps of shares over costs. */
export function Steps({ lines, end, label, mark, wanted, children }: {
  lines: Line[];
  end: number;
  label: string;
  /** A cost that decides. */
  mark?: number | null;
  /** A share that decides. */
  wanted?: number | null;
  children?: ComponentChildren;
}) {
  const farthest = Math.max(end, mark ?? 0);
  const span = farthest > 0 ? farthest * 1.04 : 1;
  const x = (cost: number) => LEFT + (cost / span) * (WIDTH - LEFT - RIGHT);
  const most = Math.max(0.05, wanted ?? 0, ...lines.flatMap((line) => line.steps.map(([, share]) => share)));
  const top = most > 0.5 ? 1 : most > 0.2 ? 0.5 : most > 0.1 ? 0.2 : 0.1;
  const y = (share: number) => HEIGHT - BOTTOM - (share / top) * (HEIGHT - TOP - BOTTOM);
  const path = (line: Line) => {
    let drawn = `M${x(0)} ${y(0)}`;
    for (const [cost, share] of line.steps) drawn += `H${x(cost).toFixed(1)}V${y(share).toFixed(1)}`;
    return `${drawn}H${x(span).toFixed(1)}`;
  };
  return (
    <figure class="steps">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={label}>
        {[0, 0.5, 1].map((part) => (
          <g class="grid">
            <line x1={LEFT} x2={WIDTH - RIGHT} y1={y(part * top)} y2={y(part * top)} />
            <text x={LEFT - 6} y={y(part * top) + 4} text-anchor="end">{`${part * top * 100}%`}</text>
          </g>
        ))}
        {ticks(farthest).map((cost) => (
          <text class="tick" x={x(cost)} y={HEIGHT - BOTTOM + 16} text-anchor="middle">{cost}</text>
        ))}
        {mark != null && <line class="mark" x1={x(mark)} x2={x(mark)} y1={TOP} y2={HEIGHT - BOTTOM} />}
        {wanted != null && <line class="mark" x1={LEFT} x2={WIDTH - RIGHT} y1={y(wanted)} y2={y(wanted)} />}
        {lines.map((line) => (
          <path class={`line g${line.place % 6}${line.dashed ? " dashed" : ""}`} d={path(line)} />
        ))}
      </svg>
      <figcaption>
        {lines.map((line) => (
          <span class={`group g${line.place % 6}${line.dashed ? " dashed" : ""}`}><i aria-hidden="true" />{line.name}</span>
        ))}
        <span class="axis">share with a way out, by cost</span>
      </figcaption>
      {children}
    </figure>
  );
}

/** The lines of a subgroup's distribution. */
export function curveLines(curve: Curve, viewpoint: "micro" | "macro", suffix = "", dashed = false): Line[] {
  return curve.groups.map((group, place) => ({
    name: `${group.name}${group.open === null || viewpoint === "macro" ? "" : ` ${group.open}`}${suffix}`,
    place,
    dashed,
    steps: group[viewpoint].flatMap((reached, level): [number, number][] =>
      reached === null || group.members === 0 ? [] : [[curve.costs[level] ?? 0, reached / group.members]]),
  }));
}

export function Ecd({ curve, viewpoint = "micro", mark, wanted }: {
  curve: Curve;
  viewpoint?: "micro" | "macro";
  mark?: number | null;
  wanted?: number | null;
}) {
  const said = curve.groups.map((group) => `${group.name}: ${group.open ?? "not told"} of ${count(group.members)}`);
  return (
    <Steps
      lines={curveLines(curve, viewpoint)}
      end={curve.costs.at(-1) ?? 1}
      mark={mark}
      wanted={wanted}
      label={`Share with a way out by cost, ${viewpoint}. At any cost${viewpoint === "macro" ? ", each by their own action" : ""}: ${said.join("; ")}.`}
    >
      <details>
        <summary>Numbers</summary>
        <Table grid={numbers(curve, viewpoint)} caption={`Members with a way out by cost, ${viewpoint}`} />
      </details>
    </Steps>
  );
}

/** The counts that are drawn. */
function numbers(curve: Curve, viewpoint: "micro" | "macro"): Grid {
  const right = (name: string): [string, "right"] => [name, "right"];
  return {
    columns: [right("cost up to"), ...curve.groups.map((group) => right(`${group.name}, of ${count(group.members)}`))],
    rows: curve.costs.map((cost, level) => [
      String(Number(cost.toFixed(4))),
      ...curve.groups.map((group) => {
        const reached = group[viewpoint][level] ?? null;
        return reached === null ? "suppressed" : count(reached);
      }),
    ]),
  };
}
