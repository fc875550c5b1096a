// Which definition, at which φ, budget and α.

import type { Overview } from "../api";
import { change } from "../address";

/** The parts of a definition's id. */
export function parts(id: string): { kind: string; viewpoint: string | null; number: string | null } {
  const [kind = "", ...rest] = id.split(":");
  const viewpoint = rest.find((part) => part === "micro" || part === "macro") ?? null;
  const number = rest.find((part) => part !== "micro" && part !== "macro") ?? null;
  return { kind, viewpoint, number };
}

function written({ kind, viewpoint, number }: ReturnType<typeof parts>): string {
  return [kind, viewpoint, number].filter((part) => part !== null).join(":");
}

export function DefinitionChoice({ overview, chosen, title }: {
  overview: Overview;
  chosen: string;
  /** What the engine calls what is shown, which may be none of the audit's definitions. */
  title: string | undefined;
}) {
  const own = overview.definitions.some((definition) => definition.id === chosen);
  // At any number, a kind of definition asks the same question.
  const definition = overview.definitions.find((one) => one.id === chosen)
    ?? overview.definitions.find((one) => parts(one.id).kind === parts(chosen).kind);
  return (
    <label class="definition">Definition
      <select value={chosen} onChange={(event) => change({ definition: event.currentTarget.value })}>
        {!own && <option value={chosen}>{title ?? chosen}</option>}
        {overview.definitions.map((one) => <option value={one.id}>{one.title}</option>)}
      </select>
      {definition && <span class="soft">{definition.question}</span>}
    </label>
  );
}

/** Whether a definition's number is the share φ, or a budget. */
export const asksShare = (id: string) => ["equal-choice", "equal-cost-of-effectiveness"].includes(parts(id).kind);
export const asksBudget = (id: string) => parts(id).kind === "equal-effectiveness-within-budget";

/** A slider for the number of a definition that has one, and for α. */
export function Sliders({ overview, chosen, alpha }: { overview: Overview; chosen: string; alpha: number }) {
  const now = parts(chosen);
  const [phi, budget] = [asksShare(chosen), asksBudget(chosen)];
  const move = (number: string, passing: boolean) => change({ definition: written({ ...now, number }) }, passing);
  return (
    <div class="sliders">
      {phi && (
        <label>φ = <output>{now.number}</output>
          <input id="phi" type="range" min="0.01" max="0.99" step="0.01" value={now.number ?? "0.3"}
            onInput={(event) => move(event.currentTarget.value, true)} onChange={(event) => move(event.currentTarget.value, false)} />
        </label>
      )}
      {budget && (
        <label>budget = <output>{now.number}</output>
          <input id="budget" type="range" min="0" max={overview.greatest_cost} step={overview.greatest_cost / 200} value={now.number ?? "1"}
            onInput={(event) => move(event.currentTarget.value, true)} onChange={(event) => move(event.currentTarget.value, false)} />
        </label>
      )}
      {overview.tested && (
        <label>α = <output>{alpha}</output>
          <input id="alpha" type="range" min="0.001" max="0.2" step="0.001" value={alpha}
            onInput={(event) => change({ alpha: event.currentTarget.value }, true)} onChange={(event) => change({ alpha: event.currentTarget.value })} />
        </label>
      )}
    </div>
  );
}
