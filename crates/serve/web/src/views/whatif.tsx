// What if: the audit again under other settings, each a scenario with a name.

import { useState } from "preact/hooks";
import type { AuditTitle, Overview } from "../api";
import { change, href } from "../address";
import { Section } from "../parts";
import type { Work } from "../work";

/** What is set for each feature. */
interface Change {
  weight: string;
  may: string;
}

const MAY: [string, string][] = [
  ["", "as it is"],
  ["immutable", "may not change"],
  ["free", "may change"],
  ["increase", "only upwards"],
  ["decrease", "only downwards"],
];

export function WhatIf({ overview, audits, work }: { overview: Overview; audits: AuditTitle[]; work: Work }) {
  const [changes, setChanges] = useState<Record<string, Change>>({});
  const [support, setSupport] = useState("");
  const [more, setMore] = useState("");
  const [name, setName] = useState("");
  const set = (feature: string, part: Partial<Change>) =>
    setChanges((all) => ({ ...all, [feature]: { ...(all[feature] ?? { weight: "", may: "" }), ...part } }));
  const settings = written(changes, support, more);
  const begin = (event: Event) => {
    event.preventDefault();
    const named = name.trim() || settings.join(", ") || "again";
    void work.begin("/api/scenarios", { name: named, settings }, (audit) => change({ audit: String(audit) }));
  };
  return (
    <>
      <Section title="What if">
        <form class="what-if" onSubmit={begin}>
          <div class="scrolls" tabIndex={0} role="region" aria-label="Features">
            {/* Roles are said, because a narrow screen lays rows out as blocks. */}
            <table class="features" role="table">
              <thead role="rowgroup">
                <tr role="row">{["feature", "in this audit", "what if it", "weight of its cost"].map((title) => <th scope="col" role="columnheader">{title}</th>)}</tr>
              </thead>
              <tbody role="rowgroup">
                {overview.features.map((feature) => (
                  <tr role="row">
                    <th scope="row" role="rowheader">{feature.name}</th>
                    <td role="cell" class="soft">{feature.immutable ? "may not change" : `may change, weight ${feature.weight}`}</td>
                    <td role="cell" data-label="what if it">
                      <select aria-label={`What if ${feature.name}`} value={changes[feature.name]?.may ?? ""} onChange={(event) => set(feature.name, { may: event.currentTarget.value })}>
                        {MAY.filter(([value]) => feature.ordered || !["increase", "decrease"].includes(value)).map(([value, label]) => <option value={value}>{label}</option>)}
                      </select>
                    </td>
                    <td role="cell" data-label="weight of its cost"><input aria-label={`Weight of ${feature.name}`} type="number" min="0" step="any" value={changes[feature.name]?.weight ?? ""} placeholder={String(feature.weight)} onInput={(event) => set(feature.name, { weight: event.currentTarget.value })} /></td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
          <p class="bar">
            <label>Support <input id="support" type="number" min="0.001" max="1" step="any" value={support} onInput={(event) => setSupport(event.currentTarget.value)} /></label>
            <label class="grow">Other settings, one a line: bins, steps, groups merged or crossed
              <textarea id="settings" rows={2} value={more} placeholder={"features.age.quantiles=4\nprotected.race={}"} onInput={(event) => setMore(event.currentTarget.value)} />
            </label>
            <label>Name <input id="scenario" value={name} onInput={(event) => setName(event.currentTarget.value)} /></label>
            <button type="submit" disabled={work.stage?.is === "working"}>Audit again</button>
          </p>
          {settings.length > 0 && <p class="soft"><code>{settings.map((setting) => `--set ${setting}`).join(" ")}</code></p>}
        </form>
      </Section>
      <Section title="Scenarios">
        <div class="scrolls" tabIndex={0} role="region" aria-label="Scenarios"><table>
          <thead><tr><th scope="col">scenario</th><th scope="col">settings</th><th scope="col">look</th></tr></thead>
          <tbody>
            {audits.map((audit) => (
              <tr>
                <th scope="row"><a href={href("answer", { audit: String(audit.key) })}>{audit.name}</a></th>
                <td><code>{audit.settings?.join(" ") || "–"}</code></td>
                <td>
                  {audit.key > 0 && <><a href={href("compare", { old: "0", new: String(audit.key) })}>compare with the first</a>{" · "}</>}
                  {audit.settings && <a href={`/api/audits/${audit.key}/config`} download="facts.toml">save as facts.toml</a>}
                </td>
              </tr>
            ))}
          </tbody>
        </table></div>
      </Section>
    </>
  );
}

/** Keys of TOML are quoted unless they are plain. */
const key = (name: string) => (/^[\w-]+$/.test(name) ? name : JSON.stringify(name));

function written(changes: Record<string, Change>, support: string, more: string): string[] {
  const settings = Object.entries(changes).flatMap(([feature, { weight, may }]) => {
    const at = `features.${key(feature)}`;
    const rules = {
      immutable: [`${at}.immutable=true`],
      free: [`${at}.immutable=false`],
      increase: [`${at}.immutable=false`, `${at}.only=increase`],
      decrease: [`${at}.immutable=false`, `${at}.only=decrease`],
    }[may];
    return [...(rules ?? []), ...(weight === "" ? [] : [`${at}.weight=${weight}`])];
  });
  if (support !== "") settings.push(`audit.support=${support}`);
  return [...settings, ...more.split("\n").map((line) => line.trim()).filter((line) => line !== "")];
}
