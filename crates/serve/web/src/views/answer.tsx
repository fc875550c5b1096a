// The verdict and the people, as on the first screen, and the characteristics that go with the gap.

import type { Overview } from "../api";
import type { Params } from "../address";
import { Steps } from "../charts";
import { Command, Drill, Section, Table, count } from "../parts";

export function Answer({ overview, params }: { overview: Overview; params: Params }) {
  const { answer } = overview;
  return (
    <>
      <section class="card verdict">
        <p class="about">{overview.about}</p>
        <h2 id="verdict">{answer?.verdict_words ?? "No answer"}</h2>
        <p class="headline">{answer?.headline}</p>
        <p>{answer?.reason}</p>
        {overview.ratio && <p>{overview.ratio}</p>}
        <p class="soft">{overview.not_said}</p>
        <Command command={overview.command} />
      </section>
      <Section title="Who has a way out">
        <div class="people">
          {overview.people && <Table grid={overview.people} caption="Who is refused and who has a way out, by group" />}
          <Ways overview={overview} />
        </div>
        <p class="soft">{overview.cost_unit}</p>
      </Section>
      <Section title="What goes with the gap">
        <Drivers overview={overview} params={params} />
      </Section>
      <Section title="What was audited">
        <dl class="facts">{overview.facts.map(([name, text]) => <><dt>{name}</dt><dd>{text}</dd></>)}</dl>
      </Section>
    </>
  );
}

function Ways({ overview }: { overview: Overview }) {
  const end = Math.max(0, ...overview.ways.flatMap((ways) => ways?.map(([cost]) => cost) ?? []));
  if (end === 0) return null;
  const lines = overview.groups.flatMap((group, place) => {
    const ways = overview.ways[place];
    if (!ways) return [];
    const steps = ways.map(([cost, people]): [number, number] => [cost, people / group.affected]);
    return [{ name: group.name.trim(), place, steps }];
  });
  return <Steps lines={lines} end={end} label="Share of the refused with a way out, by cost and group; the table above has the numbers" />;
}

/** Bars to both sides: what widens the gap to the right. */
function Drivers({ overview, params }: { overview: Overview; params: Params }) {
  const drivers = overview.answer?.drivers ?? [];
  if (drivers.length === 0) return <p>This audit does not tell which characteristics go with the gap.</p>;
  const most = Math.max(...drivers.map((driver) => Math.abs(driver.value)));
  const ends = drivers.length > 16 ? [...drivers.slice(0, 10), ...drivers.slice(-6)] : drivers;
  const { compared } = overview.answer ?? {};
  const worse = compared ? overview.groups[compared.worst]?.name.trim() : "worse off";
  const better = compared ? overview.groups[compared.best]?.name.trim() : "better off";
  return (
    <>
      <p class="soft">Global Shapley values: to the right, people who meet the condition are part of a wider gap; to the left, of a narrower one.</p>
      <table class="drivers" role="table">
        <caption class="unseen">Conditions and what they do to the gap</caption>
        <thead role="rowgroup">
          <tr role="row"><th scope="col" role="columnheader">condition</th><th scope="col" role="columnheader">narrower | wider</th><th scope="col" role="columnheader" class="right">{worse}</th><th scope="col" role="columnheader" class="right">{better}</th></tr>
        </thead>
        <tbody role="rowgroup">
          {ends.map((driver) => {
            const part = (Math.abs(driver.value) / most) * 50;
            return (
              <tr role="row">
                <th scope="row" role="rowheader"><Drill predicate={driver.item} params={params} /></th>
                <td role="cell" class="bar">
                  <svg viewBox="0 0 100 10" preserveAspectRatio="none" role="img" aria-label={driver.value.toPrecision(3)}>
                    <line x1="50" x2="50" y1="0" y2="10" />
                    <rect class={driver.value > 0 ? "wider" : "narrower"} x={driver.value > 0 ? 50 : 50 - part} y="1.5" width={part} height="7" />
                  </svg>
                </td>
                <td role="cell" class="right">{count(driver.worse.part)} of {count(driver.worse.whole)}</td>
                <td role="cell" class="right">{count(driver.better.part)} of {count(driver.better.whole)}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </>
  );
}
