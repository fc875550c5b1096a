// Small pieces that several views are made of.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { Grid, Row } from "./api";
import { href, kept, type Params } from "./address";

const whole = new Intl.NumberFormat("en");
export const count = (number: number) => whole.format(number);

export function Asking({ error, asking }: { error: string | null; asking: boolean }) {
  if (error !== null) return <p class="error" role="alert">{error}</p>;
  return asking ? <p class="asking" role="status">Asking…</p> : null;
}

export function Table({ grid, caption }: { grid: Grid; caption: string }) {
  return (
    <div class="scrolls" tabIndex={0} role="region" aria-label={caption}>
      <table>
        <caption class="unseen">{caption}</caption>
        <thead>
          <tr>{grid.columns.map(([name, side]) => (name === "" ? <td /> : <th scope="col" class={side}>{name}</th>))}</tr>
        </thead>
        <tbody>
          {grid.rows.map((row) => (
            <tr>
              {grid.columns.map(([, side], c) =>
                c === 0 ? <th scope="row" class={side}>{row[c]}</th> : <td class={side}>{row[c]}</td>)}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** A command that gives what is seen, to be copied. */
export function Command({ command, lacks }: { command: string | null | undefined; lacks?: string | null }) {
  const [copied, setCopied] = useState(false);
  if (!command) return null;
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(command);
      setCopied(true);
      setTimeout(() => setCopied(false), 2000);
    } catch {
      setCopied(false);
    }
  };
  return (
    <p class="command">
      <code>{command}</code>
      <button type="button" onClick={copy}>{copied ? "Copied" : "Copy the command"}</button>
      {lacks && <span class="soft lacks">{lacks}</span>}
    </p>
  );
}

export function Group({ name, place }: { name: string; place: number }) {
  return <span class={`group g${place % 6}`}><i aria-hidden="true" />{name}</span>;
}

/** Against whom, and whether it passes. */
export function Finding({ row, groups }: { row: Pick<Row, "against" | "fair" | "passes">; groups: string[] }) {
  if (row.fair !== null) return <span class="fair">fair: {row.fair}</span>;
  return (
    <span class={row.passes === false ? "finding grey" : "finding"}>
      {row.against.map((g) => <Group name={groups[g] ?? ""} place={g} />)}
      {row.passes === true && <b class="passes">passes</b>}
    </span>
  );
}

export function Drill({ predicate, params, children }: {
  predicate: string;
  params: Params;
  children?: ComponentChildren;
}) {
  return <a href={href("drill", { ...kept(params), predicate })}>{children ?? predicate}</a>;
}

export function Section({ title, children, aside }: {
  title: string;
  children: ComponentChildren;
  aside?: ComponentChildren;
}) {
  return (
    <section class="card">
      <header><h2>{title}</h2>{aside}</header>
      {children}
    </section>
  );
}
