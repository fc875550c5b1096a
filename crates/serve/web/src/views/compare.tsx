// Two audits side by side: for people, finding by finding, and one subgroup's two distributions.

import { query, useAnswer, type AuditTitle, type Compared, type OneSubgroup } from "../api";
import { change, type Params } from "../address";
import { Steps, curveLines } from "../charts";
import { Asking, Command, Section, Table, count } from "../parts";

export function Compare({ audits, params }: { audits: AuditTitle[]; params: Params }) {
  const old = params.old ?? "0";
  const now = params.new ?? String(audits.length - 1);
  const { answer, error, asking } = useAnswer<Compared>(query("/api/compare", { old, new: now, definition: params.by }));
  const choice = (name: string, chosen: string) => (
    <select value={chosen} onChange={(event) => change({ [name]: event.currentTarget.value })}>
      {audits.map((audit) => <option value={String(audit.key)}>{audit.name} ({audit.made.slice(0, 10)})</option>)}
    </select>
  );
  return (
    <>
      <div class="bar">
        <label>Before {choice("old", old)}</label>
        <label>Now {choice("new", now)}</label>
      </div>
      <Asking error={error} asking={asking && !answer} />
      {answer && (
        <>
          <section class="card verdict">
            <h2 id="trend">{answer.people?.trend ?? "What changed for people is not known"}</h2>
            <p class="headline">{answer.people?.sentence}</p>
            {answer.people && <Table grid={answer.people.table} caption="What changed for people, by group" />}
            {answer.warnings.map((warning) => <p class="error">Beware: {warning}.</p>)}
            <Command command={answer.command} />
            {answer.command === null && <p class="soft lacks">No command compares audits that are not saved: <code>facts audit --out</code> saves each, <code>facts diff</code> compares them.</p>}
          </section>
          {params.predicate && <Both params={params} old={old} now={now} by={answer.definition} />}
          <Section title="Finding by finding" aside={
            <label>by <select id="by" value={answer.definition} onChange={(event) => change({ by: event.currentTarget.value })}>
              {answer.definitions.map((one) => <option value={one.id}>{one.title}</option>)}
            </select></label>
          }>
            {answer.sorts.map((sort, place) => (
              <details open={sort.count > 0 && (place === 0 || sort.count < 30)} data-change={sort.change}>
                <summary>{sort.word}: <b>{count(sort.count)}</b></summary>
                <ul class="changed">
                  {sort.first.map((one) => (
                    <li>
                      <button type="button" class="link" onClick={() => change({ predicate: one.predicate })}>{one.predicate}</button>
                      <span class="soft">{one.old} → {one.new}</span>
                    </li>
                  ))}
                  {sort.count > sort.first.length && <li class="soft">and {count(sort.count - sort.first.length)} more</li>}
                </ul>
              </details>
            ))}
          </Section>
        </>
      )}
    </>
  );
}

function Both({ params, old, now, by }: { params: Params; old: string; now: string; by: string }) {
  const predicate = params.predicate ?? "";
  const path = (audit: string) => query(`/api/audits/${audit}/subgroup`, { predicate, definition: by });
  const before = useAnswer<OneSubgroup>(path(old));
  const after = useAnswer<OneSubgroup>(path(now));
  const curves = [
    { found: before.answer?.found, suffix: " before", dashed: true },
    { found: after.answer?.found, suffix: " now", dashed: false },
  ];
  const lines = curves.flatMap(({ found, suffix, dashed }) => (found ? curveLines(found.curve, "micro", suffix, dashed) : []));
  const end = Math.max(1e-9, ...curves.flatMap(({ found }) => found?.curve.costs ?? []));
  return (
    <Section title={predicate}>
      {[before, after].map(({ error }) => <Asking error={error} asking={false} />)}
      {[before, after].map(({ answer }, place) => answer?.not_ranked && <p class="soft">{place === 0 ? "Before: " : "Now: "}{answer.not_ranked}</p>)}
      {lines.length > 0 && <Steps lines={lines} end={end} label={`Share with a way out by cost in both audits: ${lines.map((line) => line.name).join("; ")}`} />}
    </Section>
  );
}
