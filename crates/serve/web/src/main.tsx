import { render } from "preact";
import { useEffect } from "preact/hooks";
import { forget, useAnswer, type Overview, type Session } from "./api";
import { change, href, kept, useAddress } from "./address";
import { Asking } from "./parts";
import { Working, useWork } from "./work";
import { Answer } from "./views/answer";
import { Compare } from "./views/compare";
import { Drill } from "./views/drill";
import { HandOver } from "./views/handover";
import { Matrix } from "./views/matrix";
import { OnePerson } from "./views/person";
import { Stories } from "./views/stories";
import { Subgroups } from "./views/subgroups";
import { WhatIf } from "./views/whatif";
import "./style.css";

const VIEWS: [string, string][] = [
  ["answer", "Answer"],
  ["stories", "Stories"],
  ["matrix", "Definitions"],
  ["drill", "Drill down"],
  ["subgroups", "All subgroups"],
  ["person", "One person"],
  ["compare", "Compare"],
  ["what-if", "What if"],
  ["hand-over", "Hand over"],
];

function App() {
  const { view, params } = useAddress();
  const session = useAnswer<Session>("/api/session");
  const audits = session.answer?.audits ?? [];
  const audit = params.audit ?? "0";
  const title = audits.find((one) => String(one.key) === audit) ?? audits[0];
  const { answer: overview, error, asking } = useAnswer<Overview>(title ? `/api/audits/${title.key}` : null);
  const bench = session.answer?.bench ?? false;
  const views = VIEWS.filter(([name]) => (name !== "compare" || audits.length > 1) && (name !== "what-if" || bench) && (name !== "person" || title?.people));
  const work = useWork(session.answer?.job ?? null, forget);
  useEffect(() => {
    document.documentElement.dataset.view = view;
    const named = views.find(([name]) => name === view)?.[1] ?? "";
    document.title = title ? `${named}: ${title.name}` : "facts: the explorer";
  }, [view, title?.name, views.length]);
  const pinKey = title ? `${title.name} ${title.made}` : "";
  const shared = title && overview ? { audit: String(title.key), overview, params, pinKey } : null;
  return (
    <>
      <a class="skip" href="#main" onClick={(event) => { event.preventDefault(); document.getElementById("main")?.focus(); }}>To the content</a>
      <header class="top">
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
            {views.map(([name, label]) => (
              <li><a href={href(name, kept(params))} aria-current={view === name ? "page" : undefined}>{label}</a></li>
            ))}
          </ul>
        </nav>
        <button type="button" class="undo" onClick={() => history.back()}>Undo</button>
      </header>
      <main id="main" tabIndex={-1} data-ready={shared ? "yes" : "no"}>
        <Working work={work} />
        <Asking error={session.error ?? error} asking={asking && !overview} />
        {shared && view === "answer" && <Answer {...shared} />}
        {shared && view === "stories" && <Stories {...shared} />}
        {shared && view === "matrix" && <Matrix {...shared} />}
        {shared && view === "drill" && <Drill {...shared} />}
        {shared && view === "subgroups" && <Subgroups {...shared} rows={title?.rows ?? false} work={work} />}
        {shared && view === "person" && <OnePerson {...shared} may={title?.people ?? false} />}
        {shared && view === "compare" && <Compare audits={audits} params={params} />}
        {shared && view === "what-if" && <WhatIf {...shared} audits={audits} work={work} />}
        {shared && view === "hand-over" && <HandOver {...shared} />}
      </main>
    </>
  );
}

const root = document.getElementById("app");
if (root) render(<App />, root);
