// Hand over: what is pinned, as a page, as Markdown, or as a link.

import { useEffect, useState } from "preact/hooks";
import type { Overview } from "../api";
import { href, kept, type Params } from "../address";
import { Command, Drill, Section } from "../parts";
import { usePins, type Pin } from "../pins";

export function HandOver({ audit, overview, params, pinKey }: {
  audit: string;
  overview: Overview;
  params: Params;
  pinKey: string;
}) {
  const pins = usePins(pinKey);
  const [done, setDone] = useState("");
  const [removed, setRemoved] = useState<Pin[]>([]);
  const there = new Set(pins.pins.map((pin) => pin.predicate));
  // A link brings its own pins along.
  useEffect(() => {
    if (!params.pins) return;
    try {
      const brought = JSON.parse(params.pins) as Pin[];
      const known = new Set(pins.pins.map((pin) => pin.predicate));
      const fresh = brought.filter((pin) => typeof pin.predicate === "string" && !known.has(pin.predicate));
      if (fresh.length > 0) pins.replace([...pins.pins, ...fresh.map(({ predicate, note }) => ({ predicate, note: String(note ?? "") }))]);
    } catch {
      setDone("The pins of this link cannot be read.");
    }
  }, [params.pins]);
  const definition = params.definition ?? "";
  const page = async (form: "html" | "markdown") => {
    const response = await fetch(`/api/audits/${audit}/hand-over`, {
      method: "POST",
      body: JSON.stringify({ form, definition: definition || null, alpha: params.alpha ? Number(params.alpha) : null, pins: pins.pins }),
    });
    if (!response.ok) {
      setDone(((await response.json()) as { error: string }).error);
      return;
    }
    const link = document.createElement("a");
    link.href = URL.createObjectURL(await response.blob());
    link.download = form === "html" ? "findings.html" : "findings.md";
    link.click();
    URL.revokeObjectURL(link.href);
    setDone(`Saved as ${link.download}.`);
  };
  const link = async () => {
    const to = location.origin + "/" + href("hand-over", { ...kept(params), pins: JSON.stringify(pins.pins) });
    await navigator.clipboard.writeText(to);
    setDone("The link is copied: it works for whoever may open this server.");
  };
  return (
    <Section title="Pinned">
      {overview.answer && <p class="soft">What is handed over begins with the answer: “{overview.answer.headline}”</p>}
      {pins.pins.length === 0
        ? <p>Nothing is pinned yet: pin stories, or subgroups while drilling down.</p>
        : (
          <ul class="changed">
            {pins.pins.map((pin) => (
              <li>
                <Drill predicate={pin.predicate} params={params} />
                <label class="note">Note
                  <textarea rows={2} value={pin.note} onChange={(event) => pins.annotate(pin.predicate, event.currentTarget.value)} />
                </label>
                <span><button type="button" onClick={() => { setRemoved([...removed.filter((one) => one.predicate !== pin.predicate), pin]); pins.toggle(pin.predicate); }}>Remove</button></span>
              </li>
            ))}
          </ul>
        )}
      {removed.filter((pin) => !there.has(pin.predicate)).map((pin) => (
        <p class="soft closes" role="status">Removed: {pin.predicate} <button type="button" onClick={() => { pins.replace([...pins.pins, pin]); setRemoved(removed.filter((one) => one !== pin)); }}>Put back</button></p>
      ))}
      <p class="chips">
        <button type="button" disabled={pins.pins.length === 0} onClick={() => page("html")}>One page (HTML, prints to PDF)</button>
        <button type="button" disabled={pins.pins.length === 0} onClick={() => page("markdown")}>Markdown</button>
        <button type="button" disabled={pins.pins.length === 0} onClick={link}>Copy a link</button>
      </p>
      <p role="status">{done}</p>
      <Command command={overview.command} lacks="The command gives the audit; pins and notes are kept by this browser alone." />
    </Section>
  );
}
