// The explorer: views over one address, whoever answers.

import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { forget, offline, useAnswer, type AuditTitle, type Overview, type Session } from "./api";
import { change, href, kept, useAddress, type Params } from "./address";
import { Asking } from "./parts";
import { keyOfPins } from "./pins";
import { visible } from "./visible";
import { SCENARIOS, Working, useWork, type Work } from "./work";
import { Answer } from "./views/answer";
import { Drill } from "./views/drill";
import { Matrix } from "./views/matrix";
import { Stories } from "./views/stories";
import { Subgroups } from "./views/subgroups";

/** What a view is shown with. */
export interface Shown {
  audit: string;
  title: AuditTitle;
  audits: AuditTitle[];
  overview: Overview;
  params: Params;
  pinKey: string;
  work: Work;
}

export interface View {
  name: string;
  label: string;
  /** Whether there is something to show; always if it is missing. */
  has?(session: Session, title: AuditTitle | undefined): boolean;
  show(shown: Shown): JSX.Element;
}

/** The views that need no more than an audit: report.html has them too. */
export const VIEWS: View[] = [
  { name: "answer", label: "Answer", show: (shown) => <Answer {...shown} /> },
  { name: "stories", label: "Stories", show: (shown) => <Stories {...shown} /> },
  { name: "matrix", label: "Definitions", show: (shown) => <Matrix {...shown} /> },
  { name: "drill", label: "Drill down", show: (shown) => <Drill {...shown} /> },
  { name: "subgroups", label: "All subgroups", show: (shown) => <Subgroups {...shown} rows={shown.title.rows} /> },
];

export function App({ all }: { all: View[] }) {
  const { view, params } = useAddress();
  const session = useAnswer<Session>("/api/session");
  const audits = session.answer?.audits ?? [];
  const audit = params.audit ?? "0";
  const title = audits.find((one) => String(one.key) === audit) ?? audits[0];
  const { answer: overview, error, asking } = useAnswer<Overview>(title ? `/api/audits/${title.key}` : null);
  const views = all.filter(({ has }) => !has || (session.answer && has(session.answer, title)));
  const work = useWork(session.answer?.job ?? null, forget);
  useEffect(() => {
    document.documentElement.dataset.view = view;
    const named = views.find(({ name }) => name === view)?.label ?? "";
    document.title = title ? visible(`${named}: ${title.name}`) : "facts: the explorer";
  }, [view, title?.name, views.length]);
  useEffect(() => work.close(), [view]);
  const pinKey = title ? keyOfPins(title) : "";
  const shown = title && overview ? { audit: String(title.key), title, audits, overview, params, pinKey, work } : null;
  return (
    <>
      <header class="top">
        <a class="skip" href="#main" onClick={(event) => { event.preventDefault(); document.getElementById("main")?.focus(); }}>To the content</a>
        <h1>facts</h1>
        {audits.length > 1 && view !== "compare" ? (
          <label><span class="unseen">Audit</span>
            <select value={String(title?.key ?? 0)} onChange={(event) => change({ audit: event.currentTarget.value })}>
              {audits.map((one) => <option value={String(one.key)}>{one.name}</option>)}
            </select>
          </label>
        ) : <span class="soft name">{title?.name}</span>}
        <nav aria-label="Views">
          <ul>
            {offline && <li><a href="#report">Report</a></li>}
            {views.map(({ name, label }) => (
              <li><a href={href(name, kept(params))} aria-current={view === name ? "page" : undefined}>{label}</a></li>
            ))}
          </ul>
        </nav>
        <button type="button" class="undo" onClick={() => history.back()}>Undo</button>
      </header>
      <main id="main" tabIndex={-1} data-ready={shown ? "yes" : "no"}>
        <Working work={work} form={view === "what-if" ? SCENARIOS : null} />
        <Asking error={session.error ?? error} asking={asking && !overview} />
        {shown && (all.find(({ name }) => name === view)?.show(shown) ?? (
          <p>There is nothing at this address. Choose a view above.</p>
        ))}
      </main>
    </>
  );
}
