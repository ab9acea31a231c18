// The prize, and the bound above it, over the seconds of a search.

import { make, svg } from "./dom";
import type { Outcome } from "./outcome";
import { number } from "./words";

const WIDTH = 320;
const HEIGHT = 96;
const LEFT = 46;
const BOTTOM = 18;
const TOP = 8;

export function drawChart(box: HTMLElement, outcome: Outcome, wished: number): void {
  const found = outcome.moments.filter((moment) => moment.prize !== null);
  if (!found.length) {
    box.replaceChildren();
    return;
  }
  const end = Math.max(outcome.running ? wished : 0, outcome.seconds, 0.1);
  const prizes = found.map((moment) => moment.prize as number);
  const bounds = outcome.moments.flatMap((moment) => moment.bound ?? []);
  const lowBound = bounds.length ? Math.min(...bounds) : Infinity;
  const best = Math.max(...prizes);
  const near = lowBound <= 1.3 * best; // a bound far above would press the prize against the axis
  const top = near ? Math.max(best, lowBound) : best;
  // The first plans are far below: the chart shows the last third, where the search spends its time.
  const span = Math.min(Math.max(top - Math.min(...prizes), 0.1 * top), 0.35 * top);
  const low = top - 1.1 * Math.max(span, 1e-9);
  const x = (seconds: number): number => LEFT + ((WIDTH - LEFT - 4) * Math.min(seconds, end)) / end;
  const y = (value: number): number => TOP + ((HEIGHT - TOP - BOTTOM) * (top - Math.max(low, Math.min(value, top)))) / (top - low);

  const last = prizes[prizes.length - 1] as number;
  const chart = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", class: "chart", "aria-label": `Prize over ${number(end)} seconds: from ${number(prizes[0])} to ${number(last)}${lowBound < Infinity ? `, bound ${number(lowBound)}` : ""}` });
  chart.append(svg("line", { x1: LEFT, x2: WIDTH - 4, y1: HEIGHT - BOTTOM, y2: HEIGHT - BOTTOM, class: "axis" }));
  chart.append(svg("text", { x: LEFT - 6, y: y(top) + 4, class: "tick right" }, number(top)));
  if (y(last) - y(top) > 14) chart.append(svg("text", { x: LEFT - 6, y: y(last) + 4, class: "tick right" }, number(last)));
  chart.append(svg("text", { x: LEFT, y: HEIGHT - 4, class: "tick" }, "0 s"), svg("text", { x: WIDTH - 4, y: HEIGHT - 4, class: "tick right" }, `${number(end)} s`));
  const steps = stairs(found.map((moment) => [x(moment.seconds), y(moment.prize as number)]), x(outcome.running ? outcome.seconds : end));
  const floor = HEIGHT - BOTTOM;
  chart.append(svg("path", { d: `${steps} V${floor} H${x(found[0]?.seconds ?? 0)} Z`, class: "area" }), svg("path", { d: steps, class: "prize" }));
  const known = near ? outcome.moments.filter((moment) => moment.bound !== null) : [];
  if (known.length) chart.append(svg("path", { d: stairs(known.map((moment) => [x(moment.seconds), y(moment.bound as number)]), x(outcome.running ? outcome.seconds : end)), class: "bound" }));
  const legend = make("p", { className: "legend" }, make("span", { className: "key prize", textContent: "prize" }));
  if (known.length) legend.append(" ", make("span", { className: "key bound", textContent: "bound" }));
  box.replaceChildren(chart, legend);
}

function stairs(points: readonly (readonly [number, number])[], end: number): string {
  const path = points.map(([x, y], index) => (index ? `H${x.toFixed(1)} V${y.toFixed(1)}` : `M${x.toFixed(1)} ${y.toFixed(1)}`));
  return `${path.join(" ")} H${Math.max(end, points[points.length - 1]?.[0] ?? 0).toFixed(1)}`;
}
