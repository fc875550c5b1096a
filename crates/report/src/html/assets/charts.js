// Charts, by uPlot. Colours come from the style sheet, so that a theme is said in one place.

const DASHES = [[], [9, 4], [2, 3], [12, 3, 2, 3], [6, 2], [2, 6]];
const FONT = "12px system-ui, sans-serif";

/** All charts on the page, to be drawn anew when the theme or the width changes. */
const charts = new Set();

function theme(host) {
  const style = getComputedStyle(host);
  const colour = (name) => style.getPropertyValue(name).trim();
  return {
    text: colour("--muted"),
    grid: colour("--grid"),
    strip: colour("--strip"),
    paper: colour("--paper"),
    fair: colour("--fair"),
    groups: Array.from({ length: MARKS }, (_, g) => colour(`--g${g}`)),
  };
}

/** Puts a chart that `make(width, theme)` draws into a host, now and whenever it must be redrawn. */
function place(host, make) {
  const chart = {
    host,
    width: 0,
    draw() {
      if (!host.isConnected) {
        chart.plot?.destroy();
        charts.delete(chart);
        return;
      }
      const width = Math.floor(host.clientWidth);
      if (width === 0) return;
      chart.plot?.destroy();
      chart.width = width;
      chart.plot = make(width, theme(host));
    },
  };
  charts.add(chart);
  chart.draw();
  widths.observe(host);
  return chart;
}

const widths = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    for (const chart of charts) {
      if (chart.host === target && Math.floor(target.clientWidth) !== chart.width) chart.draw();
    }
  }
});

function redrawAll() {
  for (const chart of [...charts]) chart.draw();
}

function axis(theme, label, more = {}) {
  return {
    label,
    labelFont: FONT,
    labelSize: 18,
    font: FONT,
    stroke: theme.text,
    grid: { stroke: theme.grid, width: 1 },
    ticks: { stroke: theme.grid, width: 1, size: 5 },
    ...more,
  };
}

/** The shape that stands for a group, around a place. */
function trace(path, shape, x, y, r) {
  const line = (points) => {
    points.forEach(([dx, dy], i) => path[i === 0 ? "moveTo" : "lineTo"](x + dx * r, y + dy * r));
    path.closePath();
  };
  const shapes = [
    () => {
      path.moveTo(x + r, y);
      path.arc(x, y, r, 0, 2 * Math.PI);
    },
    () => line([[0, -1.2], [1.1, 0.9], [-1.1, 0.9]]),
    () => line([[-0.9, -0.9], [0.9, -0.9], [0.9, 0.9], [-0.9, 0.9]]),
    () => line([[0, -1.2], [1.1, 0], [0, 1.2], [-1.1, 0]]),
    () => line([[-0.4, -1.1], [0.4, -1.1], [0.4, -0.4], [1.1, -0.4], [1.1, 0.4], [0.4, 0.4],
      [0.4, 1.1], [-0.4, 1.1], [-0.4, 0.4], [-1.1, 0.4], [-1.1, -0.4], [-0.4, -0.4]]),
    () => line([[0, 1.2], [1.1, -0.9], [-1.1, -0.9]]),
  ];
  shapes[shape]();
}

/** Line and mark of each group, in words too. */
function legend(audit) {
  const entry = ({ name: text }, g) => element("li", {},
    drawing("svg", { class: `key g${g % MARKS}`, "aria-hidden": "true", focusable: "false", viewBox: "0 0 34 12" },
      drawing("line", { x1: 1, x2: 33, y1: 6, y2: 6, "stroke-dasharray": DASHES[g % MARKS].join(" ") }),
      drawing("use", { href: `#mark-${g % MARKS}`, x: 11, y: 0, width: 12, height: 12 })),
    name(text));
  return element("ul", { class: "legend" }, audit.groups.map(entry));
}

/** The steps of one group: from nothing at cost 0 to the last cost, and a little beyond. */
function steps(audit, s, distribution, g, costs) {
  const shares = distribution.reached[g].map((part) =>
    part === null ? null : part / audit.members[g][s]);
  if (costs.length === shares.length + 2) shares.unshift(0);
  shares.push(shares.at(-1));
  return shares;
}

function ecdWords(audit, s, viewpoint, distribution) {
  const group = ({ name: text }, g) => {
    const told = distribution.costs.map((cost, level) => {
      const part = distribution.reached[g][level];
      const share = part === null ? SUPPRESSED : percent(part, audit.members[g][s]);
      return { cost, share };
    });
    const changes = told.filter(({ share }, level) => level === 0 || share !== told[level - 1].share);
    return `${text}: ${changes.map(({ cost, share }) => `${share} from cost ${number(cost)}`).join(", ")}`;
  };
  return `Step plot of the ${viewpoint} effectiveness–cost distribution. ${audit.groups.map(group).join("; ")}.`;
}

function ecdTable(audit, s, distribution) {
  const row = (cost, level) => element("tr", {},
    element("th", { scope: "row", class: "number" }, number(cost)),
    audit.groups.map((_, g) => {
      const part = distribution.reached[g][level];
      const told = part === null ? SUPPRESSED
        : `${percent(part, audit.members[g][s])} (${count(part)} of ${count(audit.members[g][s])})`;
      return element("td", { class: "number" }, told);
    }));
  return element("table", { class: "numbers" },
    element("thead", {}, element("tr", {},
      element("th", { scope: "col", class: "number" }, "At most cost"),
      audit.groups.map((group) => element("th", { scope: "col", class: "number" }, name(group.name))))),
    element("tbody", {}, distribution.costs.map(row)));
}

/** Lines that a definition draws across a distribution: its target φ, or its budget c. */
function references(column) {
  return { phi: column?.phi ?? null, budget: column?.budget ?? null };
}

function drawReferences(plot, { phi, budget }, colours) {
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.strokeStyle = colours.text;
  ctx.fillStyle = colours.text;
  ctx.lineWidth = devicePixelRatio;
  ctx.setLineDash([2 * devicePixelRatio, 3 * devicePixelRatio]);
  ctx.font = `${11 * devicePixelRatio}px system-ui, sans-serif`;
  const line = (x0, y0, x1, y1) => {
    ctx.beginPath();
    ctx.moveTo(x0, y0);
    ctx.lineTo(x1, y1);
    ctx.stroke();
  };
  if (phi !== null) {
    const y = Math.round(plot.valToPos(phi, "y", true));
    line(bbox.left, y, bbox.left + bbox.width, y);
    ctx.textAlign = "left";
    ctx.fillText(`φ = ${number(phi)}`, bbox.left + 4 * devicePixelRatio, y - 4 * devicePixelRatio);
  }
  if (budget !== null) {
    const x = Math.round(plot.valToPos(budget, "x", true));
    line(x, bbox.top, x, bbox.top + bbox.height);
    ctx.textAlign = "left";
    ctx.fillText(`c = ${number(budget)}`, x + 4 * devicePixelRatio, bbox.top + 11 * devicePixelRatio);
  }
  ctx.restore();
}

/** A step plot of a subgroup's effectiveness–cost distributions, with its numbers. */
function ecdFigure(audit, s, viewpoint, column, height) {
  const distribution = audit.distribution(s, viewpoint);
  const lines = references(column);
  const farthest = Math.max(distribution.costs.at(-1), lines.budget ?? 0);
  const end = farthest === 0 ? 1 : farthest * 1.08;
  const costs = [...distribution.costs, end];
  if (costs[0] > 0) costs.unshift(0);
  const series = audit.groups.map((_, g) => steps(audit, s, distribution, g, costs));
  const host = element("div", {
    class: "chart",
    role: "img",
    "aria-label": ecdWords(audit, s, viewpoint, distribution),
  });
  const make = (width, colours) => new uPlot({
    width,
    height,
    legend: { show: false },
    cursor: { show: false },
    scales: { x: { time: false, range: [0, end] }, y: { range: [0, 1] } },
    axes: [
      axis(colours, "cost at most", { size: 28, values: (_, costs) => costs.map(number) }),
      axis(colours, "effectiveness", {
        size: 46,
        splits: [0, 0.25, 0.5, 0.75, 1],
        values: (_, shares) => shares.map((share) => `${share * 100}%`),
      }),
    ],
    series: [{}, ...audit.groups.map((group, g) => ({
      label: group.name,
      stroke: colours.groups[g % MARKS],
      width: 2,
      dash: DASHES[g % MARKS],
      paths: uPlot.paths.stepped({ align: 1 }),
      points: { show: true, paths: stepMarks(g, distribution.costs), fill: colours.groups[g % MARKS] },
    }))],
    hooks: { draw: [(plot) => drawReferences(plot, lines, colours)] },
  }, [costs, ...series], host);
  const figure = element("figure", { class: "ecd" },
    element("figcaption", {}, `Effectiveness within a cost, ${viewpoint}`),
    legend(audit), host,
    element("details", {}, element("summary", {}, "Numbers"), scrolling("Numbers of the plot", ecdTable(audit, s, distribution))));
  return { figure, show: () => place(host, make) };
}

/** The group's shape at each step, a little smaller where there are many. */
function stepMarks(g, costs) {
  const r = (costs.length > 12 ? 2.5 : 3.5) * devicePixelRatio;
  return (plot, seriesIndex) => {
    const path = new Path2D();
    const [xs, ys] = [plot.data[0], plot.data[seriesIndex]];
    xs.forEach((x, i) => {
      if (ys[i] === null || !costs.includes(x)) return;
      trace(path, g % MARKS, plot.valToPos(x, "x", true), plot.valToPos(ys[i], "y", true), r);
    });
    return { stroke: null, fill: path, flags: uPlot.BAND_CLIP_FILL };
  };
}

const COVERAGES = [0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1];

/** Where scores stand: finite ones on their scale, ∞ on a strip of its own above them. */
function heights(audit, column, subgroups) {
  // Scores come in falling order.
  const top = Number(column.scores.find((score) => score !== "∞") ?? 0) || 1;
  const hasInfinite = column.scores[0] === "∞";
  const infinity = top * 1.14;
  const height = (s) => {
    const score = audit.score(column, s);
    return score === "∞" ? infinity : Number(score);
  };
  return { top, infinity, hasInfinite, of: subgroups.map(height) };
}

/** Coverage against unfairness: a mark for each subgroup, in the shape of the worse-off group. */
function scatter(host, audit, column, subgroups, open) {
  const shown = subgroups.filter((s) => !audit.isSuppressed(column, s));
  const height = heights(audit, column, shown);
  const xs = shown.map((s) => audit.coverage(s));
  const lowest = xs.reduce((least, x) => Math.min(least, x), 0.5);
  const least = COVERAGES.findLast((share) => share <= lowest) ?? lowest;
  // The fair ones first, then those that do not pass, so that the others are drawn over them.
  const greys = column.tests ? [true, false] : [false];
  const sorts = [{ group: null, grey: false },
    ...greys.flatMap((grey) => [...audit.groups.keys()].map((group) => ({ group, grey })))];
  const series = sorts.map(({ group, grey }) => ({
    group,
    grey,
    members: shown.map((s, i) => [s, i]).filter(([s]) => {
      const against = audit.against(column, s);
      return group === null ? against.length === 0 : against[0] === group && audit.isGrey(column, s) === grey;
    }).map(([, i]) => i),
  }));
  const label = `Scatter plot of ${several(shown.length, "subgroup")}: coverage of the affected against unfairness score by ${column.title}. `
    + series.map(({ group, grey, members }) => group === null ? `${count(members.length)} fair`
      : `${count(members.length)} unfair against ${audit.groups[group].name}${grey ? ", not passing" : ""}`).join(", ") + ".";
  const chart = element("div", { class: "chart", role: "img", "aria-label": label });
  const tip = element("p", { class: "tip", "aria-hidden": "true", hidden: true });
  fill(host, legendOfScatter(audit, series), element("div", { class: "holder" }, chart, tip));
  const top = height.hasInfinite ? height.infinity * 1.05 : height.top * 1.05;
  const make = (width, colours) => new uPlot({
    mode: 2,
    width,
    height: width < 500 ? 280 : 340,
    legend: { show: false },
    cursor: { show: true, x: false, y: false, drag: { x: false, y: false, setScale: false }, points: { show: false } },
    scales: {
      x: { time: false, distr: 3, range: [least, 1] },
      y: { range: [-top * 0.03, top] },
    },
    axes: [
      axis(colours, "coverage: share of all affected", {
        size: 28,
        splits: () => COVERAGES.filter((share) => share >= least),
        filter: (_, splits) => splits,
        values: (_, shares) => shares.map((share) => `${number(share * 100)}%`),
      }),
      axis(colours, "unfairness score", {
        scale: "y",
        size: 50,
        splits: (plot, i, min, max, step) => scoreSplits(height, step),
        values: (_, scores) => scores.map((score) => score === height.infinity ? "∞" : number(score)),
      }),
    ],
    series: [{}, ...series.map(({ group, grey }) => ({
      facets: [{ scale: "x", auto: true }, { scale: "y", auto: true }],
      paths: (plot, index) => drawMarks(plot, index, group, grey, colours),
    }))],
    hooks: {
      drawClear: [(plot) => drawStrip(plot, height, colours)],
      ready: [(plot) => react(plot, tip, shown, xs, height.of, audit, column, open)],
    },
  }, [null, ...series.map(({ members }) => [members.map((i) => xs[i]), members.map((i) => height.of[i])])], chart);
  place(chart, make);
}

function scoreSplits(height, step) {
  const splits = [];
  for (let i = 0; i * step <= height.top * 1.0001; i++) splits.push(Number((i * step).toPrecision(12)));
  if (height.hasInfinite) splits.push(height.infinity);
  return splits;
}

function legendOfScatter(audit, series) {
  const entry = ({ group, grey, members }) => element("li", { class: grey ? "grey" : null },
    group === null ? fairMark() : mark(group),
    group === null ? "fair" : ["against ", name(audit.groups[group].name), grey ? ", do not pass" : ""],
    ` (${count(members.length)})`);
  const standing = series.filter(({ group, grey }) => group !== null && !grey);
  const greys = series.filter(({ grey, members }) => grey && members.length > 0);
  return element("ul", { class: "legend" }, [...standing, ...greys, series[0]].map(entry));
}

function fairMark() {
  const attributes = { class: "mark fair hollow", "aria-hidden": "true", focusable: "false" };
  return drawing("svg", attributes, drawing("use", { href: "#mark-0" }));
}

function drawMarks(plot, index, group, grey, colours) {
  const [xs, ys] = plot.data[index];
  const r = (group === null ? 2.2 : 3) * devicePixelRatio;
  const path = new Path2D();
  for (let i = 0; i < xs.length; i++) {
    trace(path, group === null ? 0 : group % MARKS, plot.valToPos(xs[i], "x", true), plot.valToPos(ys[i], "y", true), r);
  }
  const { ctx } = plot;
  ctx.save();
  if (group === null) {
    ctx.strokeStyle = colours.fair;
    ctx.lineWidth = devicePixelRatio;
    ctx.stroke(path);
  } else {
    ctx.globalAlpha = grey ? 0.35 : 0.6;
    ctx.fillStyle = colours.groups[group % MARKS];
    ctx.fill(path);
  }
  ctx.restore();
  return null;
}

function drawStrip(plot, height, colours) {
  if (!height.hasInfinite) return;
  const { ctx, bbox } = plot;
  const edge = plot.valToPos((height.top + height.infinity) / 2, "y", true);
  ctx.save();
  ctx.fillStyle = colours.strip;
  ctx.fillRect(bbox.left, bbox.top, bbox.width, edge - bbox.top);
  ctx.restore();
}

/** Names the nearest mark under the pointer, and opens it. */
function react(plot, tip, shown, xs, ys, audit, column, open) {
  const nearest = (event) => {
    const box = plot.over.getBoundingClientRect();
    const [left, top] = [event.clientX - box.left, event.clientY - box.top];
    let [best, least] = [-1, 14 ** 2];
    for (let i = 0; i < shown.length; i++) {
      const away = (plot.valToPos(xs[i], "x") - left) ** 2 + (plot.valToPos(ys[i], "y") - top) ** 2;
      if (away < least) [best, least] = [i, away];
    }
    return best;
  };
  plot.over.addEventListener("mousemove", (event) => {
    const i = nearest(event);
    tip.hidden = i < 0;
    plot.over.classList.toggle("on-mark", i >= 0);
    if (i < 0) return;
    const s = shown[i];
    fill(tip, element("b", {}, conditions(audit.items(s))),
      element("span", {}, `${percent(audit.people[s], audit.affected)} covered, score ${audit.score(column, s)}`));
    const left = plot.over.offsetLeft + plot.valToPos(xs[i], "x");
    tip.style.left = `${Math.min(left, plot.width - tip.offsetWidth - 4)}px`;
    tip.style.top = `${plot.over.offsetTop + plot.valToPos(ys[i], "y") + 12}px`;
  });
  plot.over.addEventListener("mouseleave", () => (tip.hidden = true));
  plot.over.addEventListener("click", (event) => {
    const i = nearest(event);
    if (i >= 0) open(shown[i]);
  });
}

