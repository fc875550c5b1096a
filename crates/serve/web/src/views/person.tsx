// One person: what would turn the answer for somebody who is refused, and how people like them fare.

import { useEffect, useState } from "preact/hooks";
import { query, useAnswer, type Fare, type Overview, type People, type Person, type PersonValue } from "../api";
import { change, type Params } from "../address";
import { Asking, Command, Drill, Section, Table, count } from "../parts";

/** So many profiles are listed; conditions tell the others apart. */
const LISTED = 50;

/** So many ways are listed at first. */
const WAYS = 20;

export function OnePerson({ audit, overview, params, may }: {
  audit: string;
  overview: Overview;
  params: Params;
  may: boolean;
}) {
  const where = params.where ?? "";
  const group = params.group ?? "";
  const asked = { where, group, count: LISTED };
  const { answer, error, asking } = useAnswer<People>(may ? query(`/api/audits/${audit}/people`, asked) : null);
  const [typed, setTyped] = useState(where);
  useEffect(() => setTyped(where), [where]);
  if (!may) {
    return (
      <Section title="One person">
        <p>This audit shows nobody by themselves: the people are at hand only when the explorer is started with their table, and never where small counts are suppressed.</p>
      </Section>
    );
  }
  // Who is the only one left is shown.
  const only = answer && answer.matching === 1 ? answer.rows[0]?.profile : undefined;
  const profile = params.profile ?? (only === undefined ? "" : String(only));
  const names = overview.features.map((feature) => feature.name.trim());
  return (
    <>
      <Section title="Who">
        <form class="filters" onSubmit={(event) => { event.preventDefault(); change({ where: typed, profile: "" }); }}>
          <label>Conditions, such as “{example(overview)}”
            <input id="who" value={typed} onInput={(event) => setTyped(event.currentTarget.value)} aria-describedby="matching-people" />
          </label>
          <label>Group
            <select id="group" value={group} onChange={(event) => change({ group: event.currentTarget.value, profile: "" })}>
              <option value="">any</option>
              {overview.groups.map(({ name }) => <option value={name.trim()}>{name.trim()}</option>)}
            </select>
          </label>
          <button type="submit">Find</button>
        </form>
        <Asking error={error} asking={asking && !answer} />
        {answer && (
          <p id="matching-people" role="status" aria-busy={asking}>
            {answer.matching === 0
              ? "Nobody who is refused matches."
              : `${count(answer.people)} refused ${answer.people === 1 ? "person" : "people"} in ${count(answer.matching)} ${answer.matching === 1 ? "profile" : "profiles"}${answer.matching > answer.rows.length ? `; the first ${answer.rows.length} are listed, most people first` : ""}.`}
          </p>
        )}
        {answer && answer.rows.length > 0 && (
          <div class="scrolls tall people-list" tabIndex={0} role="region" aria-label="Profiles">
            <table>
              <thead>
                <tr><th scope="col">profile</th><th scope="col">group</th><th scope="col" class="right">people</th><th scope="col" class="right">way out at</th>{names.map((name) => <th scope="col">{name}</th>)}</tr>
              </thead>
              <tbody>
                {answer.rows.map((row) => (
                  <tr aria-current={String(row.profile) === profile ? "true" : undefined}>
                    <th scope="row"><button type="button" class="link" aria-label={`Profile ${row.profile}`} onClick={() => change({ profile: String(row.profile) })}>{row.profile}</button></th>
                    <td>{row.group}</td>
                    <td class="right">{count(row.people)}</td>
                    <td class="right">{row.way}</td>
                    {row.values.map((value) => <td>{value.value ?? value.level}</td>)}
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
        {profile === "" && <Command command={answer?.command} lacks={where === "" ? "Empty conditions mean everybody who is refused; the command lists the first 20." : null} />}
      </Section>
      {profile !== "" && <Found audit={audit} profile={profile} params={params} overview={overview} />}
    </>
  );
}

/** A condition that can be typed. */
function example(overview: Overview): string {
  const feature = overview.features.find((one) => one.levels.length > 1);
  return feature ? `${feature.name.trim()} = ${feature.levels[0]?.trim()}` : "job = clerk";
}

function Found({ audit, profile, params, overview }: { audit: string; profile: string; params: Params; overview: Overview }) {
  const { answer, error, asking } = useAnswer<Person>(query(`/api/audits/${audit}/person`, { profile }));
  const [all, setAll] = useState(false);
  useEffect(() => setAll(false), [profile]);
  return (
    <>
      <Asking error={error} asking={asking && !answer} />
      {answer && (
        <div aria-busy={asking}>
          <section class="card verdict person">
            <h2 id="person">{answer.headline}</h2>
            <p>{answer.who}</p>
            <div class="columns">
              <div class="scrolls" tabIndex={0} role="region" aria-label="What is known of them">
                <table>
                  <caption class="unseen">What is known of them</caption>
                  <tbody>{answer.values.map((value) => <Known value={value} />)}</tbody>
                </table>
              </div>
              {answer.turning.length > 0 && (
                <div class="scrolls" tabIndex={0} role="region" aria-label="What would turn the answer">
                  <table class="turning">
                    <caption class="unseen">What would turn the answer, cheapest first</caption>
                    <thead><tr><th scope="col" class="right">cost</th><th scope="col">what changes</th></tr></thead>
                    <tbody>
                      {(all ? answer.turning : answer.turning.slice(0, WAYS)).map((one) => (
                        <tr><td class="right">{one.cost_text}</td><td>{one.change}</td></tr>
                      ))}
                    </tbody>
                  </table>
                  {!all && answer.turning.length > WAYS && <p><button type="button" onClick={() => setAll(true)}>Show all {count(answer.turning.length)}</button></p>}
                </div>
              )}
            </div>
            <p class="soft">{overview.cost_unit}{answer.turning.length > 0 && " Each of these changes turns this model’s own answer."}</p>
            <Command command={answer.command} />
          </section>
          <div class="columns">
            <Section title="People with the same levels"><Fared fare={answer.alike} caption="People like them, by group" /></Section>
            {answer.closest && (
              <Section title="The closest subgroup">
                <p><Drill predicate={answer.closest.predicate} params={params} /></p>
                <Fared fare={answer.closest} caption="The closest subgroup, by group" />
              </Section>
            )}
          </div>
        </div>
      )}
    </>
  );
}

function Known({ value }: { value: PersonValue }) {
  return (
    <tr>
      <th scope="row">{value.feature}</th>
      <td>{value.value ?? value.level}{value.value !== null && <span class="soft"> in {value.level}</span>}</td>
      <td class="soft">{value.may_change ? "" : "may not change"}</td>
    </tr>
  );
}

function Fared({ fare, caption }: { fare: Fare; caption: string }) {
  return (
    <>
      <p>{fare.sentence}</p>
      <Table grid={fare.table} caption={caption} />
    </>
  );
}
