// What if: the audit again under other settings, each a scenario with a name. The form stands in the address.

import type { AuditTitle, Feature, Overview } from "../api";
import { change, href, read, type Params } from "../address";
import { Command, Section } from "../parts";
import { SCENARIOS, Trouble, type Work } from "../work";

const MAY: [string, string][] = [
  ["", "as it is"],
  ["immutable", "may not change"],
  ["free", "may change"],
  ["increase", "only upwards"],
  ["decrease", "only downwards"],
];

/** What the form holds of a feature, each by the name of its parameter and what comes before the feature's name. */
const OF_FEATURE = ["may.", "weight.", "steps.", "bins."];
const OF_ALL = ["support", "cross", "more", "name"];

export function WhatIf({ audit, title, overview, audits, params, work }: {
  audit: string;
  title: AuditTitle;
  overview: Overview;
  audits: AuditTitle[];
  params: Params;
  work: Work;
}) {
  const [first] = audits;
  const fresh = written(params, overview, title);
  // What is said last wins, so what is said again need not be said before.
  const said = new Set(fresh.map(keyOf));
  const settings = [...(title.settings ?? []).filter((setting) => !said.has(keyOf(setting))), ...fresh];
  const begin = (event: Event) => {
    event.preventDefault();
    const named = (params.name ?? "").trim() || fresh.join(", ") || "again";
    void work.begin(SCENARIOS, { name: named, settings }, (made) => {
      // The new audit holds what the form said; going back goes back to both.
      change({ ...emptied(read(location.hash).params), audit: String(made) });
    });
  };
  const field = (name: string, passing = true) => ({
    value: params[name] ?? "",
    onInput: (event: { currentTarget: { value: string } }) => change({ [name]: event.currentTarget.value }, passing),
    onChange: (event: { currentTarget: { value: string } }) => change({ [name]: event.currentTarget.value }),
  });
  return (
    <>
      <Section title="What if">
        <p id="base">
          Put over <b>{title.name}</b>{title.settings && title.settings.length > 0 && <>: <code>{title.settings.join(" ")}</code></>}.{" "}
          {title.key !== first?.key && <a href={href("what-if", { audit: String(first?.key ?? 0) })}>Start again from the first</a>}
        </p>
        <form class="what-if" onSubmit={begin}>
          <div class="scrolls" tabIndex={0} role="region" aria-label="Features">
            {/* Roles are said, because a narrow screen lays rows out as blocks. */}
            <table class="features" role="table">
              <thead role="rowgroup">
                <tr role="row">{["feature", "in this audit", "what if it", "weight of its cost", "steps at most", "bins"].map((title) => <th scope="col" role="columnheader">{title}</th>)}</tr>
              </thead>
              <tbody role="rowgroup">
                {overview.features.map((feature) => {
                  const may = field(`may.${feature.name}`);
                  return (
                    <tr role="row">
                      <th scope="row" role="rowheader">{feature.name}</th>
                      <td role="cell" class="soft">{asItIs(feature)}</td>
                      <td role="cell" data-label="what if it">
                        <select aria-label={`What if ${feature.name}`} value={may.value} onChange={may.onChange}>
                          {MAY.filter(([value]) => feature.ordered || !["increase", "decrease"].includes(value)).map(([value, label]) => <option value={value}>{label}</option>)}
                        </select>
                      </td>
                      <td role="cell" data-label="weight of its cost"><input aria-label={`Weight of ${feature.name}`} type="number" min="0" step="any" placeholder={String(feature.weight)} {...field(`weight.${feature.name}`)} /></td>
                      <td role="cell" data-label={feature.ordered ? "steps at most" : undefined}>{feature.ordered && <input aria-label={`Steps of ${feature.name} at most`} type="number" min="1" step="1" placeholder={feature.max_step ?? "any"} {...field(`steps.${feature.name}`)} />}</td>
                      <td role="cell" data-label={feature.binned ? "bins" : undefined}>{feature.binned && <input aria-label={`Bins of ${feature.name}`} type="number" min="2" step="1" placeholder={String(feature.levels.length)} {...field(`bins.${feature.name}`)} />}</td>
                    </tr>
                  );
                })}
              </tbody>
            </table>
          </div>
          <div class="bar">
            <label>Support <input id="support" type="number" min="0.001" max="1" step="any" {...field("support")} /></label>
            <label>Cross {title.protected.join(" × ")} with
              <select id="cross" value={params.cross ?? ""} onChange={(event) => change({ cross: event.currentTarget.value })}>
                <option value="">nothing</option>
                {overview.features.filter((one) => !title.protected.includes(one.name)).map((one) => <option value={one.name}>{one.name}{one.binned ? " (in two halves)" : ""}</option>)}
              </select>
            </label>
            <label class="grow">Other settings, one a line, such as merged groups
              <textarea id="settings" rows={2} placeholder={`protected.${key(title.protected[0] ?? "sex")}.merge={ All = ["*"] }`} {...field("more")} />
            </label>
            <label>Name <input id="scenario" {...field("name")} /></label>
            <button type="submit" disabled={work.stage?.is === "working"}>Try it</button>
          </div>
          {work.trouble?.path === SCENARIOS && <Trouble work={work} />}
          <Command command={command(first?.command, settings)} />
        </form>
      </Section>
      <Section title="Scenarios">
        <div class="scrolls" tabIndex={0} role="region" aria-label="Scenarios"><table>
          <thead><tr><th scope="col">scenario</th><th scope="col">look</th><th scope="col">settings</th></tr></thead>
          <tbody>
            {audits.map((one) => (
              <tr aria-current={String(one.key) === audit ? "true" : undefined}>
                <th scope="row"><a href={href("answer", { audit: String(one.key) })}>{one.name}</a></th>
                <td>
                  {one.key > 0 && <><a href={href("compare", { old: "0", new: String(one.key) })}>compare with the first</a>{" · "}</>}
                  <a href={href("what-if", { audit: String(one.key) })}>go on from here</a>
                  {one.settings && <>{" · "}<a href={`/api/audits/${one.key}/config`} download="facts.toml">save as facts.toml</a></>}
                </td>
                <td><code>{one.settings?.join(" ") || "–"}</code></td>
              </tr>
            ))}
          </tbody>
        </table></div>
      </Section>
    </>
  );
}

/** What a feature may do in the audit that the form is put over. */
function asItIs({ immutable, only, max_step, weight }: Feature): string {
  if (immutable) return "may not change";
  const way = only === null ? "" : only === "increase" ? ", only upwards" : ", only downwards";
  return `may change${way}${max_step === null ? "" : `, by ${max_step} at most`}, weight ${weight}`;
}

/** The form without anything in it. */
function emptied(params: Params): Params {
  const of = Object.keys(params).filter((name) => OF_ALL.includes(name) || OF_FEATURE.some((before) => name.startsWith(before)));
  return Object.fromEntries(of.map((name) => [name, ""]));
}

/** Keys of TOML are quoted unless they are plain. */
const key = (name: string) => (/^[\w-]+$/.test(name) ? name : JSON.stringify(name));

/** What a setting sets. */
const keyOf = (setting: string) => setting.slice(0, Math.max(0, setting.indexOf("="))).trim();

/** What the form says, as settings. */
function written(params: Params, overview: Overview, title: AuditTitle): string[] {
  const settings = overview.features.flatMap(({ name }) => {
    const at = `features.${key(name)}`;
    const said = (before: string, setting: string) => (params[before + name] ? [`${at}.${setting}=${params[before + name]}`] : []);
    const rules = {
      immutable: [`${at}.immutable=true`],
      free: [`${at}.immutable=false`, `${at}.only=any`],
      increase: [`${at}.immutable=false`, `${at}.only=increase`],
      decrease: [`${at}.immutable=false`, `${at}.only=decrease`],
    }[params[`may.${name}`] ?? ""];
    return [...(rules ?? []), ...said("weight.", "weight"), ...said("steps.", "max-step"), ...said("bins.", "quantiles")];
  });
  if (params.support) settings.push(`audit.support=${params.support}`);
  const crossed = overview.features.find((feature) => feature.name === params.cross);
  if (crossed && !title.protected.includes(crossed.name)) {
    settings.push(`protected.${key(crossed.name)}=${crossed.binned ? "{ quantiles = 2 }" : "{}"}`);
  }
  return [...settings, ...(params.more ?? "").split("\n").map((line) => line.trim()).filter((line) => line !== "")];
}

/** The command that makes the audit of the form. */
function command(first: string | undefined, settings: string[]): string | null {
  if (!first) return null;
  const quoted = (text: string) => (/^[A-Za-z0-9\-_./:=,+@]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
  return [first, ...settings.map((setting) => `--set ${quoted(setting)}`)].join(" ");
}
