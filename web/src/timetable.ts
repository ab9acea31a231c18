// The result beside the map: figures, alternatives, and when the plan is where.

import { byId, make } from "./dom";
import { COLOURS } from "./map";
import { gapOf, type Outcome, type Plan, type ShownRoute } from "./outcome";
import { findPlace, terminals, type Problem } from "./problem";
import { amount, cost, number, percent } from "./words";

export function showFigures(outcome: Outcome | null, plan: Plan | null, problem: Problem): void {
  const best = outcome?.plan ?? null;
  const most = problem.places.reduce((sum, place) => sum + place.prize, 0);
  byId("figure-prize").textContent = plan ? number(plan.prize) : "–";
  byId("figure-prize-of").textContent = plan ? `of ${number(most)}` : "";
  byId("figure-cost").textContent = plan ? cost(plan.cost, problem) : "–";
  byId("figure-cost-of").textContent = plan && problem.limit !== null && plan.routes.length === 1 ? `of ${number(problem.limit)}` : "";
  byId("figure-bound").textContent = number(outcome?.bound ?? null);
  byId("figure-gap").textContent = plan && best ? percent(gapOf(plan.prize, outcome?.bound ?? null)) : "–";
}

export function showTimetable(plan: Plan, problem: Problem, pick: (id: number) => void): void {
  byId("timetable").replaceChildren(...plan.routes.map((route, index) => routeTable(route, index, plan.routes.length, problem, pick)));
}

// The number of its stop for each visited place, with the route's where there are several.
export function stopNumbers(plan: Plan | null): Map<number, string> {
  const found = new Map<number, string>();
  plan?.routes.forEach((route, index) => {
    route.stops.forEach((stop, place) => {
      if (!found.has(stop.place)) found.set(stop.place, plan.routes.length > 1 ? `${index + 1}.${place}` : String(place));
    });
  });
  return found;
}

function routeTable(route: ShownRoute, index: number, count: number, problem: Problem, pick: (id: number) => void): HTMLElement {
  const ends = terminals(problem);
  const clock = route.stops.some((stop) => stop.times?.clock);
  const timed = route.stops.some((stop) => stop.times);
  const heads = ["", "Place", ...(timed ? (clock ? ["Arrive", "Leave"] : ["At"]) : []), "Prize"];
  const rows = route.stops.map((stop, place) => {
    const spot = findPlace(problem, stop.place);
    const end = ends.has(stop.place);
    const mark = make("span", { className: `bullet route-${index % COLOURS}${end ? " end" : ""}`, textContent: end ? "⌂" : String(place) });
    const name = make("button", { type: "button", className: "plain", textContent: spot?.name ?? "(deleted)", onclick: () => pick(stop.place) });
    const wait = stop.times && stop.times.wait > 1e-9 ? make("small", { textContent: ` waits ${cost(stop.times.wait, problem)}` }) : "";
    const cells = [make("td", {}, mark), make("th", { scope: "row" }, name, wait)];
    if (timed && clock) cells.push(time(stop.times?.clock?.arrive), time(stop.times?.clock?.leave));
    else if (timed) cells.push(time(amount(stop.times?.arrive)));
    cells.push(time(spot && spot.prize ? number(spot.prize) : ""));
    return make("tr", {}, ...cells);
  });
  const title = route.name || (count > 1 ? `Route ${index + 1}` : "Timetable");
  const sums = count > 1 && route.prize !== null ? `prize ${number(route.prize)}, cost ${cost(route.cost, problem)}` : `${route.stops.length} stops`;
  const caption = make("caption", {}, make("strong", { textContent: title }), ` ${sums}`);
  const head = make("thead", {}, make("tr", {}, ...heads.map((text) => make(text ? "th" : "td", text ? { scope: "col", textContent: text } : {}))));
  return make("table", { className: "stops" }, caption, head, make("tbody", {}, ...rows));
}

function time(text: string | undefined): HTMLTableCellElement {
  return make("td", { className: "time", textContent: text ?? "" });
}
