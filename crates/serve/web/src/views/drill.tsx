// Drill-down: a subgroup, those with one condition less, and those with one more.

import { useState } from "preact/hooks";
import { query, useAnswer, type AuditTitle, type Neighbour, type OneSubgroup, type Overview, type Side } from "../api";
import { change, href, kept, type Params } from "../address";
import { Ecd } from "../charts";
import { Asking, Command, Finding, Group, Section, Table, count } from "../parts";
import { usePins } from "../pins";
import { untested, useTests } from "../tested";
import type { Work } from "../work";
import { DefinitionChoice, asksBudget, asksShare, parts } from "./choice";

export function Drill({ audit, title, overview, params, pinKey, work }: {
  audit: string;
  title: AuditTitle;
  overview: Overview;
  params: Params;
  pinKey: string;
  work: Work;
}) {
  const definition = params.definition || first(overview);
  const predicate = params.predicate ?? "";
  const asked = { predicate, definition, alpha: params.alpha };
  const { answer, error, asking } = useAnswer<OneSubgroup>(query(`/api/audits/${audit}/subgroup`, asked));
  useTests({ audit, found: answer, rows: title.rows, work });
  const pins = usePins(pinKey);
  const groups = overview.groups.map((group) => group.name.trim());
  const to = (predicate: string) => href("drill", { ...kept(params), predicate });
  const pinned = pins.pins.some((pin) => pin.predicate === predicate);
  return (
    <>
      <div class="bar">
        <DefinitionChoice overview={overview} chosen={definition} title={answer?.title} />
      </div>
      <section class="card" aria-busy={asking}>
        <nav class="crumbs" aria-label="Conditions">
          <ol>
            <li><a href={to("")} aria-current={predicate === "" ? "page" : undefined}>All refused people</a></li>
            {answer?.conditions.map((condition, place) => (
              <li>
                <a href={to(answer.conditions.slice(0, place + 1).map((one) => one.text).join(", "))}>{condition.words}</a>
              </li>
            ))}
          </ol>
        </nav>
        {answer && answer.conditions.length > 0 && (
          <p class="chips">
            {answer.conditions.map((condition) => (
              <button type="button" class="chip" onClick={() => change({
                predicate: answer.conditions.filter((one) => one !== condition).map((one) => one.text).join(", "),
              })} aria-label={`Remove: ${condition.text} ×`}>{condition.text} <span aria-hidden="true">×</span></button>
            ))}
            <button type="button" aria-pressed={pinned} onClick={() => pins.toggle(predicate)}>{pinned ? "Pinned" : "Pin"}</button>
          </p>
        )}
        <Asking error={error} asking={asking && !answer} />
        {answer?.not_ranked && <p class="error">{answer.not_ranked}</p>}
        {answer?.found && <Found found={answer.found} params={params} groups={groups} answer={answer} />}
        {answer && predicate === "" && <p id="everybody">This is everybody. {overview.answer?.headline} Choose a condition to look at fewer people.</p>}
        {answer && !answer.tested && overview.tested && <p id="tested" class="untested">{untested(title.rows)}</p>}
        <Command command={answer?.command} lacks={answer?.command_lacks} />
      </section>
      {answer && (
        <div class="columns">
          <Section title="One condition less">
            <Neighbours all={answer.parents} groups={groups} sign="−" to={to} />
          </Section>
          <Section title="One condition more">
            <Neighbours all={answer.children} groups={groups} sign="+" to={to} />
          </Section>
        </div>
      )}
      {answer?.found && (
        <>
          <Section title="All definitions"><Table grid={answer.found.definitions} caption="All definitions" /></Section>
          <Section title="All actions, and how often each works"><Table grid={answer.found.actions} caption="All actions" /></Section>
        </>
      )}
    </>
  );
}

export function first(overview: Overview): string {
  const usual = overview.definitions.find((definition) => definition.id === "equal-effectiveness:micro");
  return (usual ?? overview.definitions[0])?.id ?? "equal-effectiveness:micro";
}

/** Actions that are written out for a group; all of them stand in the table below. */
const WAYS = 5;

function Found({ found, params, groups, answer }: {
  found: NonNullable<OneSubgroup["found"]>;
  params: Params;
  groups: string[];
  answer: OneSubgroup;
}) {
  const { viewpoint, number } = parts(answer.definition);
  const [phi, budget] = [asksShare(answer.definition) ? Number(number) : null, asksBudget(answer.definition) ? Number(number) : null];
  return (
    <>
      <div class="found">
        <div>
          <p class="scored"><b>{answer.title}:</b> score <b>{found.row.score}</b>{found.row.rank !== null && `, rank ${count(found.row.rank)}`} <Finding row={found.row} groups={groups} /></p>
          <ul class="sides">
            {found.sides.map((side, place) => (
              <li>
                <p class="compared"><Group name={side.name} place={place} /> <b>{side.value}</b> {side.interval && <span class="interval soft">{side.interval}</span>} <span class="soft covered">{count(side.members)} people, {side.covered} of the refused</span></p>
                <Ways side={side} />
                {side.none && <p class="none soft">{side.none}</p>}
              </li>
            ))}
          </ul>
          <p class="said">{found.verdict}</p>
          <div class="support">{found.support.map((line) => <p class="soft">{line}</p>)}</div>
        </div>
        <div>
          {(["micro", "macro"] as const).map((each) => (
            <div class="ecd">
              <p><b>{each === "micro" ? "Each by their own action (micro)" : "One action for all (macro)"}</b></p>
              <Ecd curve={found.curve} viewpoint={each} mark={each === viewpoint ? budget : null} wanted={each === viewpoint ? phi : null} />
            </div>
          ))}
        </div>
      </div>
      {found.variants && <details><summary>Each variant</summary><Table grid={found.variants} caption="Variants" /></details>}
      {found.told_by !== null && <p>Told by <a href={href("stories", kept(params))}>story {found.told_by}</a>.</p>}
      {found.same_people && <p>The same people: <a href={href("drill", { ...kept(params), predicate: found.same_people })}>{found.same_people}</a></p>}
    </>
  );
}

function Ways({ side }: { side: Side }) {
  const [all, showAll] = useState(false);
  const shown = all ? side.ways : side.ways.slice(0, WAYS);
  return (
    <ul class="ways">
      {shown.map((way) => (
        <li>
          <span class="make">Make {way.change}</span> <b>{way.effectiveness}</b>{" "}
          <span class="soft"><span class="cost">cost {way.cost}</span>{way.interval && <>; <span class="interval">{way.interval}</span></>}</span>
        </li>
      ))}
      {shown.length < side.ways.length && (
        <li><button type="button" class="link" onClick={() => showAll(true)}>and {count(side.ways.length - WAYS)} more</button></li>
      )}
    </ul>
  );
}

function Neighbours({ all, groups, sign, to }: {
  all: Neighbour[];
  groups: string[];
  sign: string;
  to(predicate: string): string;
}) {
  if (all.length === 0) return <p class="soft">There is none that is common to all groups.</p>;
  return (
    <div class="scrolls tall" tabIndex={0} role="region" aria-label={sign === "+" ? "One condition more" : "One condition less"}>
      <table class="neighbours">
        <thead>
          <tr><th scope="col">condition</th><th scope="col" class="right">score</th><th scope="col">against</th>{groups.map((name) => <th scope="col" class="right">{name}</th>)}<th scope="col" class="right">people</th></tr>
        </thead>
        <tbody>
          {all.slice(0, 300).map((one) => (
            <tr>
              <th scope="row"><a href={to(one.predicate)}>{sign} {one.item}</a></th>
              <td class="right">{one.row?.score ?? ""}</td>
              <td>{one.row ? <Finding row={one.row} groups={groups} /> : <span class="soft">{one.predicate === "" ? "everybody" : "no valid action found"}</span>}</td>
              {groups.map((_, g) => <td class="right">{one.row?.values[g] ?? ""}</td>)}
              <td class="right">{count(one.members.reduce((sum, people) => sum + people, 0))}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
