// Story × definition: against whom, how much, passes or not.

import { useAnswer, type Overview, type Stories as Told } from "../api";
import { href, kept, type Params } from "../address";
import { Asking, Command, Group, Section } from "../parts";

export function Matrix({ audit, overview, params }: { audit: string; overview: Overview; params: Params }) {
  const { answer, error, asking } = useAnswer<Told>(`/api/audits/${audit}/stories`);
  if (!answer) return <Asking error={error} asking={asking} />;
  const groups = overview.groups.map((group) => group.name.trim());
  if (answer.stories.length === 0) {
    return <Section title="Stories × definitions"><p>No story to tell: {overview.answer?.reason}</p></Section>;
  }
  return (
    <Section title="Stories × definitions">
      <p class="legend">
        {groups.map((name, place) => <Group name={name} place={place} />)}
        <span>the colour says against whom, its depth how much</span>
        <span><b class="dot">●</b> passes for all definitions together</span>
        <span><b>=</b> fair: equal</span>
        <span><b>∅</b> fair: out of reach for everybody</span>
        <span><b>–</b> not ranked: no valid action, or a count is suppressed</span>
      </p>
      <div class="scrolls" tabIndex={0} role="region" aria-label="Stories by definitions">
        <table class="matrix">
          <thead>
            <tr>
              <th scope="col">story</th>
              {overview.definitions.map((definition) => (
                <th scope="col" class="upright"><span title={definition.question}>{definition.title}</span></th>
              ))}
            </tr>
          </thead>
          <tbody>
            {answer.stories.map((story) => (
              <tr>
                <th scope="row">{story.number}. {story.predicate}</th>
                {story.matrix.map((cell, place) => {
                  const definition = overview.definitions[place];
                  if (!cell || !definition) {
                    return <td class="cell soft"><span aria-label={`${definition?.title}: not ranked: no valid action, or a count is suppressed`} role="img">–</span></td>;
                  }
                  const against = cell.against.map((g) => groups[g]).join(" and ");
                  const values = cell.values.map((value, g) => `${groups[g]} ${value}`).join(", ");
                  const said = against === "" ? `fair: ${cell.fair === "out of reach" ? "out of reach for everybody" : "equal"}: ${values}` : `against ${against}, score ${cell.score}: ${values}; ${cell.passes ? "passes" : cell.passes === false ? "does not pass" : "not tested"}`;
                  return (
                    <td class={against === "" ? "cell" : `cell g${(cell.against[0] ?? 0) % 6} depth${Math.ceil(cell.weight * 5)}`}>
                      <a href={href("drill", { ...kept(params), predicate: story.predicate, definition: definition.id })} aria-label={`${definition.title}: ${said}`} title={said}>
                        {against === "" ? (cell.fair === "out of reach" ? "∅" : "=") : <>{cell.score}{cell.passes && <b class="dot">●</b>}</>}
                      </a>
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <Command command={answer.command} />
    </Section>
  );
}
