// The controls beside the map: start, end, limit, routes, speed, budgets.

import { byId, make, setOptions } from "./dom";
import { largestLimit, startOf, type Problem, type RouteRule } from "./problem";
import { cost, number, unitOf } from "./words";

export type Edit = (change: (problem: Problem) => Problem, kind?: string) => void;

// Metres a minute of people on the move.
const SPEEDS: readonly (readonly [string, string])[] = [
  ["", "Distance"],
  ["75", "Minutes on foot (4.5 km/h)"],
  ["250", "Minutes by bicycle (15 km/h)"],
  ["667", "Minutes by car (40 km/h)"],
];

export class Rules {
  private readonly start = byId<HTMLSelectElement>("start");
  private readonly end = byId<HTMLSelectElement>("end");
  private readonly limit = byId<HTMLInputElement>("limit");
  private readonly slider = byId<HTMLInputElement>("limit-slider");
  private readonly routes = byId<HTMLInputElement>("routes");
  private readonly speed = byId<HTMLSelectElement>("speed");
  private readonly speedNumber = byId<HTMLInputElement>("speed-number");
  private routesShape = "";

  constructor(private readonly edit: Edit) {
    this.start.addEventListener("change", () => edit((problem) => ({ ...problem, start: Number(this.start.value) })));
    this.end.addEventListener("change", () => {
      const value = this.end.value;
      edit((problem) => ({ ...problem, end: value === "start" || value === "free" ? value : Number(value) }));
    });
    this.slider.addEventListener("input", () => {
      this.limit.value = this.slider.value;
    });
    this.slider.addEventListener("change", () => this.setLimit(this.slider.valueAsNumber));
    this.limit.addEventListener("change", () => this.setLimit(this.limit.value === "" ? null : this.limit.valueAsNumber));
    this.routes.addEventListener("change", () => {
      const count = Math.round(this.routes.valueAsNumber);
      if (count >= 1 && count <= Number(this.routes.max)) edit((problem) => withRoutes(problem, count));
    });
    byId("own-routes").addEventListener("click", () => edit(ownRoutes));
    byId("same-routes").addEventListener("click", () => edit((problem) => ({ ...problem, routes: typeof problem.routes === "number" ? problem.routes : problem.routes.length })));
    this.speed.addEventListener("change", () => this.setSpeed(this.speed.value === "" ? null : Number(this.speed.value)));
    this.speedNumber.addEventListener("change", () => this.setSpeed(this.speedNumber.value === "" ? null : this.speedNumber.valueAsNumber));
  }

  show(problem: Problem): void {
    const places = problem.places.map((place) => [String(place.id), place.name] as const);
    setOptions(this.start, places, String(startOf(problem) ?? ""));
    setOptions(this.end, [["start", "Where it starts"], ["free", "Anywhere"], ...places], String(problem.end));
    this.showLimit(problem);
    this.showRoutes(problem);
    this.showSpeed(problem);
    this.showBudgets(problem);
  }

  private setLimit(limit: number | null): void {
    if (limit === null || (Number.isFinite(limit) && limit > 0)) this.edit((problem) => ({ ...problem, limit }), "limit");
  }

  // Another speed keeps the limit about as far as before.
  private setSpeed(speed: number | null): void {
    if (speed !== null && !(speed > 0)) return;
    this.edit((problem) => {
      const scale = (problem.speed ?? 1) / (speed ?? 1);
      const limit = problem.limit === null ? null : Number((problem.limit * scale).toPrecision(2));
      return { ...problem, speed, limit };
    });
  }

  private showLimit(problem: Problem): void {
    const most = largestLimit(problem);
    this.slider.max = String(most);
    this.slider.step = String(most / 200);
    this.slider.min = String(most / 200);
    this.slider.value = String(problem.limit ?? most);
    this.slider.setAttribute("aria-valuetext", problem.limit === null ? "set by opening hours" : cost(problem.limit, problem));
    if (this.limit !== document.activeElement) this.limit.value = problem.limit === null ? "" : String(problem.limit);
    this.limit.placeholder = problem.limit === null ? "hours" : "";
    byId("limit-unit").textContent = unitOf(problem);
  }

  private showRoutes(problem: Problem): void {
    const own = typeof problem.routes !== "number";
    this.routes.value = String(own ? (problem.routes as readonly RouteRule[]).length : problem.routes);
    byId("own-routes").hidden = own;
    byId("same-routes").hidden = !own;
    const box = byId("route-rules");
    const shape = own ? JSON.stringify([problem.routes, problem.places.map((place) => [place.id, place.name])]) : "";
    if (shape === this.routesShape) return;
    this.routesShape = shape;
    box.replaceChildren(...(own ? (problem.routes as readonly RouteRule[]).map((route, index) => this.routeFields(problem, route, index)) : []));
  }

  private routeFields(problem: Problem, route: RouteRule, index: number): HTMLElement {
    const change = (values: Partial<RouteRule>): void =>
      this.edit((now) => (typeof now.routes === "number" ? now : { ...now, routes: now.routes.map((one, at) => (at === index ? { ...one, ...values } : one)) }));
    const label = (text: string, field: HTMLElement): HTMLElement => make("label", {}, make("span", { textContent: text }), field);
    const text = (field: "name" | "opens" | "closes", placeholder: string): HTMLInputElement => {
      const input = make("input", { type: "text", value: route[field], placeholder, onchange: () => change({ [field]: input.value.trim() }) });
      return input;
    };
    const places = problem.places.map((place) => [String(place.id), place.name] as const);
    const start = make("select", { onchange: () => change({ start: start.value ? Number(start.value) : null }) });
    setOptions(start, [["", "As above"], ...places], String(route.start ?? ""));
    const end = make("select", { onchange: () => change({ freeEnd: end.value === "free", end: end.value && end.value !== "free" ? Number(end.value) : null }) });
    setOptions(end, [["", "As above"], ["free", "Anywhere"], ...places], route.freeEnd ? "free" : String(route.end ?? ""));
    return make(
      "fieldset",
      { className: "route-rule" },
      make("legend", { textContent: `Route ${index + 1}` }),
      label("Name", text("name", "")),
      label("From", start),
      label("To", end),
      label("Opens", text("opens", "09:00")),
      label("Closes", text("closes", "18:00")),
    );
  }

  private showSpeed(problem: Problem): void {
    const field = byId("speed-field");
    const numeric = byId("speed-number-field");
    field.hidden = !problem.geographic || problem.costs !== null;
    numeric.hidden = problem.geographic || problem.costs !== null;
    const value = problem.speed === null ? "" : String(problem.speed);
    const known = SPEEDS.some(([speed]) => speed === value);
    setOptions(this.speed, known ? SPEEDS : [...SPEEDS, [value, `${number(problem.speed)} m for a cost of 1`]], value);
    if (this.speedNumber !== document.activeElement) this.speedNumber.value = value;
  }

  private showBudgets(problem: Problem): void {
    const box = byId("budgets");
    const names = Object.keys(problem.budgets);
    box.hidden = !names.length;
    box.replaceChildren(
      ...names.map((name) => {
        const input = make("input", { type: "number", min: "0", step: "any", value: String(problem.budgets[name]) });
        input.onchange = () => {
          if (input.value !== "" && input.validity.valid) this.edit((now) => ({ ...now, budgets: { ...now.budgets, [name]: input.valueAsNumber } }));
        };
        return make("label", { className: "field" }, make("span", { textContent: `Budget: ${name}` }), input);
      }),
    );
  }
}

function withRoutes(problem: Problem, count: number): Problem {
  if (typeof problem.routes === "number") return { ...problem, routes: count };
  const kept = problem.routes.slice(0, count);
  while (kept.length < count) kept.push({ ...(kept[kept.length - 1] ?? BLANK), name: "" });
  return { ...problem, routes: kept };
}

function ownRoutes(problem: Problem): Problem {
  if (typeof problem.routes !== "number") return problem;
  return { ...problem, routes: Array.from({ length: problem.routes }, () => BLANK) };
}

const BLANK: RouteRule = { name: "", start: null, end: null, opens: "", closes: "", limit: "", freeEnd: false };
