// Stories: cards with what a budget buys each group, and who is in several.

import { useAnswer, type Overview, type Stories as Told, type Story } from "../api";
import type { Params } from "../address";
import { Ecd } from "../charts";
import { Asking, Command, Drill, Section, count } from "../parts";
import { usePins } from "../pins";

export function Stories({ audit, overview, params, pinKey }: {
  audit: string;
  overview: Overview;
  params: Params;
  pinKey: string;
}) {
  const { answer, error, asking } = useAnswer<Told>(`/api/audits/${audit}/stories`);
  const pins = usePins(pinKey);
  if (!answer) return <Asking error={error} asking={asking} />;
  if (answer.stories.length === 0) {
    return <Section title="Stories"><p>No story to tell: {overview.answer?.reason}</p></Section>;
  }
  return (
    <>
      <h2 class="unseen">Stories</h2>
      <div class="stories">
        {answer.stories.map((story) => (
          <Card story={story} params={params} pins={pins} />
        ))}
      </div>
      <Overlaps stories={answer.stories} overview={overview} />
      <Command command={answer.command} />
    </>
  );
}

function Card({ story, params, pins }: { story: Story; params: Params; pins: ReturnType<typeof usePins> }) {
  const pinned = pins.pins.find((pin) => pin.predicate === story.predicate);
  return (
    <article class="card story" id={`story-${story.number}`}>
      <header>
        <h3><span class="number">{story.number}</span> <Drill predicate={story.predicate} params={params} /></h3>
        <button type="button" aria-pressed={pinned !== undefined} onClick={() => pins.toggle(story.predicate)}>
          {pinned ? "Pinned" : "Pin"}
        </button>
      </header>
      <p>{story.sentence}</p>
      <Ecd curve={story.curve} mark={story.cost} />
      {story.groups.some((group, g) => group.people !== story.members[g]) && (
        <p class="soft">The plot is of all {count(story.members.reduce((sum, people) => sum + people, 0))} members, the sentence of the {count(story.groups.reduce((sum, group) => sum + group.people, 0))} whom no story before it tells of.</p>
      )}
      {story.why_sentence && <p><b>Why:</b> {story.why_sentence}</p>}
      {story.sharper.length > 0 && (
        <p><b>Sharper inside:</b>{" "}
          {story.sharper.map(([predicate], place) => <>{place > 0 && "; "}<Drill predicate={predicate} params={params} /></>)}
        </p>
      )}
      {pinned && (
        <label class="note">Note
          <textarea rows={2} value={pinned.note} onChange={(event) => pins.annotate(story.predicate, event.currentTarget.value)} />
        </label>
      )}
    </article>
  );
}

/** How many people are members of two stories. */
function Overlaps({ stories, overview }: { stories: Story[]; overview: Overview }) {
  if (stories.length < 2) return null;
  const total = (members: number[]) => members.reduce((sum, people) => sum + people, 0);
  const groups = overview.groups.map((group) => group.name.trim());
  return (
    <Section title="Who is in several">
      <p class="soft">
        People who are members of two stories, as a share of the story on the left. Each is told once, in the first story that
        has them. A dash: too few of some group to be counted as a subgroup of the audit.
      </p>
      <div class="scrolls" tabIndex={0} role="region" aria-label="Who is in several stories">
        <table class="overlaps">
          <thead>
            <tr><th scope="col">story</th><th scope="col" class="right">members</th>{stories.map((story) => <th scope="col" class="right">{story.number}</th>)}</tr>
          </thead>
          <tbody>
            {stories.map((story) => (
              <tr>
                <th scope="row">{story.number}. {story.predicate}</th>
                <td class="right">{count(total(story.members))}</td>
                {story.overlaps.map((overlap, other) => {
                  if (stories[other] === story) return <td class="right soft">·</td>;
                  if (overlap.is === "nobody") return <td class="right">0</td>;
                  if (overlap.is === "not-common") return <td class="right soft"><span aria-label="too few to be counted">–</span></td>;
                  const both = total(overlap.members);
                  const said = overlap.members.map((people, g) => `${count(people)} ${groups[g]}`).join(", ");
                  return (
                    <td class="right share" title={said}>
                      <meter min={0} max={total(story.members)} value={both} aria-label={said} />
                      {count(both)}
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Section>
  );
}
