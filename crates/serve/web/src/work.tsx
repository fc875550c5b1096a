// Work that takes a while: what is told of it, and how it is stopped.

import { useEffect, useState } from "preact/hooks";
import { Refused, send, type Stage } from "./api";
import { count } from "./parts";

export interface Work {
  stage: Stage | null;
  error: string | null;
  begin(path: string, body: unknown, done?: (audit: number) => void): Promise<void>;
  cancel(): void;
}

/** Follows the work that is going on; `moved` is called when there is something new to ask for. */
export function useWork(current: number | null, moved: () => void): Work {
  const [job, setJob] = useState<{ id: number; done?: (audit: number) => void } | null>(null);
  const [stage, setStage] = useState<Stage | null>(null);
  const [error, setError] = useState<string | null>(null);
  useEffect(() => {
    if (current !== null) setJob((known) => known ?? { id: current });
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
        setStage(null);
      }
      setJob(null);
    };
    return () => events.close();
  }, [job?.id]);
  return {
    stage,
    error,
    async begin(path, body, done) {
      setError(null);
      try {
        const { job } = await send<{ job: number }>("POST", path, body);
        setJob({ id: job, ...(done ? { done } : {}) });
      } catch (refused) {
        setError(refused instanceof Refused ? refused.message : "The server does not answer; is it still running?");
      }
    },
    cancel() {
      if (job) void send("DELETE", `/api/jobs/${job.id}`);
    },
  };
}

export function Working({ work }: { work: Work }) {
  const { stage, error } = work;
  if (error !== null) return <p class="card error" role="alert">{error}</p>;
  if (stage === null) return null;
  if (stage.is === "failed") return <p class="card error" role="alert">{stage.why}</p>;
  if (stage.is === "cancelled") return <p class="card" role="status">Cancelled.</p>;
  if (stage.is === "done") return null;
  return (
    <div class="card working" role="status">
      <span>{stage.audit !== null && "The numbers are there; p-values follow. "}{stage.what}{stage.total > 0 && `: ${count(stage.done)} of ${count(stage.total)}`}</span>
      {stage.total > 0 ? <progress max={stage.total} value={stage.done} aria-label={stage.what} /> : <progress aria-label={stage.what} />}
      <button type="button" onClick={() => work.cancel()}>Cancel</button>
    </div>
  );
}
