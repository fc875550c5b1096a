// Work that takes a while: what is told of it, and how it is stopped.

import { useEffect, useState } from "preact/hooks";
import { Refused, send, type Stage } from "./api";
import { count } from "./parts";

/** Where what-ifs are asked for. */
export const SCENARIOS = "/api/scenarios";

export interface Work {
  stage: Stage | null;
  /** What was refused, or failed: what was asked, and why. */
  trouble: { path: string; why: string } | null;
  /** Forgets what was refused, failed or cancelled. */
  close(): void;
  begin(path: string, body: unknown, done?: (audit: number) => void): Promise<void>;
  cancel(): void;
}

/** Follows the work that is going on; `moved` is called when there is something new to ask for. */
export function useWork(current: number | null, moved: () => void): Work {
  const [job, setJob] = useState<{ id: number; path: string; done?: (audit: number) => void } | null>(null);
  const [stage, setStage] = useState<Stage | null>(null);
  const [trouble, setTrouble] = useState<Work["trouble"]>(null);
  useEffect(() => {
    if (current !== null) setJob((known) => known ?? { id: current, path: "" });
  }, [current]);
  useEffect(() => {
    if (job === null) return;
    const events = new EventSource(`/api/jobs/${job.id}/events`);
    let numbers: number | null = null;
    events.onmessage = (event) => {
      const now = JSON.parse(event.data) as Stage;
      setStage(now);
      if (now.is === "working") {
        if (now.audit !== null && numbers === null) {
          numbers = now.audit;
          job.done?.(now.audit);
          moved();
        }
        return;
      }
      events.close();
      if (now.is === "done") {
        if (numbers === null) job.done?.(now.audit);
        moved();
      }
      if (now.is === "failed") setTrouble({ path: job.path, why: now.why });
      if (now.is !== "cancelled") setStage(null);
      setJob(null);
    };
    return () => events.close();
  }, [job?.id]);
  return {
    stage,
    trouble,
    close() {
      setTrouble(null);
      setStage((now) => (now?.is === "cancelled" ? null : now));
    },
    async begin(path, body, done) {
      setTrouble(null);
      try {
        const { job } = await send<{ job: number }>("POST", path, body);
        setJob({ id: job, path, ...(done ? { done } : {}) });
      } catch (refused) {
        setTrouble({ path, why: refused instanceof Refused ? refused.message : "The server does not answer; is it still running?" });
      }
    },
    cancel() {
      if (job) void send("DELETE", `/api/jobs/${job.id}`);
    },
  };
}

/** What is going on. What the form of a view asked for, and was refused, is said there. */
export function Working({ work, form }: { work: Work; form: string | null }) {
  const { stage, trouble } = work;
  if (trouble !== null && trouble.path !== form) return <Trouble work={work} />;
  if (stage?.is === "cancelled") {
    return <p class="card closes" role="status">Cancelled. <button type="button" onClick={() => work.close()}>Close</button></p>;
  }
  if (stage?.is !== "working") return null;
  return (
    <div class="card working" role="status">
      <span>{stage.audit !== null && "The numbers are there; p-values follow. "}{stage.what}{stage.total > 0 && `: ${count(stage.done)} of ${count(stage.total)}`}</span>
      {stage.total > 0 ? <progress max={stage.total} value={stage.done} aria-label={stage.what} /> : <progress aria-label={stage.what} />}
      <button type="button" onClick={() => work.cancel()}>Cancel</button>
    </div>
  );
}

export function Trouble({ work }: { work: Work }) {
  if (work.trouble === null) return null;
  return (
    <p class="card error closes" role="alert">{work.trouble.why} <button type="button" onClick={() => work.close()}>Close</button></p>
  );
}
