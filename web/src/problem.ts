// The problem that the page edits, and its JSON, the `places` form of docs/reference/files.md. Problems never change in place.

export interface Place {
  readonly id: number; // stays when other places come and go
  readonly name: string;
  readonly x: number | null; // longitude where the problem is geographic; null without a position
  readonly y: number | null; // latitude where the problem is geographic
  readonly prize: number;
  readonly visit: string; // how long a visit takes: "45" or "1:30"; empty is 0
  readonly hours: string; // "09:00-12:00;14:00-18:00"; empty is always
  readonly required: boolean;
  readonly avoid: boolean;
  readonly group: string;
  readonly weights: Readonly<Record<string, number>>; // by budget
}

export interface RouteRule {
  readonly name: string;
  readonly start: number | null; // ids of places; null is the problem's own
  readonly end: number | null;
  readonly opens: string;
  readonly closes: string;
  readonly limit: string;
  readonly freeEnd: boolean;
}

export interface Problem {
  readonly title: string;
  readonly geographic: boolean;
  readonly places: readonly Place[];
  readonly start: number | null; // the id of a place; null is the first place
  readonly end: number | "start" | "free";
  readonly limit: number | null; // null: the hours of the start, or of the routes, set it
  readonly speed: number | null;
  readonly unit: string | null; // what costs are counted in
  readonly clock: string | null; // the same, where times are shown as times of day
  readonly metric: string | null;
  readonly routes: number | readonly RouteRule[];
  readonly budgets: Readonly<Record<string, number>>;
  readonly costs: readonly (readonly (number | null)[])[] | null; // a table in place of distances
}

export type Json = Record<string, unknown>;

export const EMPTY: Problem = {
  title: "New problem",
  geographic: true,
  places: [],
  start: null,
  end: "start",
  limit: 5000,
  speed: null,
  unit: null,
  clock: null,
  metric: null,
  routes: 1,
  budgets: {},
  costs: null,
};

let lastId = 0;

export function newPlace(values: Partial<Place> & { name: string }): Place {
  lastId += 1;
  const plain = { x: null, y: null, prize: 1, visit: "", hours: "", required: false, avoid: false, group: "", weights: {} };
  return { ...plain, ...values, id: lastId };
}

export function startOf(problem: Problem): number | null {
  return problem.start ?? problem.places[0]?.id ?? null;
}

export function endOf(problem: Problem): number | null {
  if (problem.end === "free") return null;
  return problem.end === "start" ? startOf(problem) : problem.end;
}

// Places where routes start or end: these are in every plan, so nothing asks for them or avoids them.
export function terminals(problem: Problem): Set<number> {
  const found = new Set<number>();
  const add = (id: number | null): void => {
    if (id !== null) found.add(id);
  };
  if (typeof problem.routes === "number") {
    add(startOf(problem));
    add(endOf(problem));
  } else {
    for (const route of problem.routes) {
      add(route.start ?? startOf(problem));
      if (!route.freeEnd) add(route.end ?? (problem.end === "start" ? (route.start ?? startOf(problem)) : endOf(problem)));
    }
  }
  return found;
}

export function findPlace(problem: Problem, id: number): Place | undefined {
  return problem.places.find((place) => place.id === id);
}

export function changePlace(problem: Problem, id: number, values: Partial<Place>): Problem {
  const places = problem.places.map((place) => (place.id === id ? { ...place, ...values } : place));
  return { ...problem, places };
}

export function addPlace(problem: Problem, x: number, y: number): Problem {
  const place = newPlace({ name: freeName(problem), x: rounded(x, problem.geographic), y: rounded(y, problem.geographic) });
  return { ...problem, places: [...problem.places, problem.places.length ? place : { ...place, prize: 0 }] };
}

export function removePlace(problem: Problem, id: number): Problem {
  const index = problem.places.findIndex((place) => place.id === id);
  const kept = <T>(values: readonly T[]): T[] => values.filter((_, i) => i !== index);
  const without = (other: number | null): number | null => (other === id ? null : other);
  const routes =
    typeof problem.routes === "number"
      ? problem.routes
      : problem.routes.map((route) => ({ ...route, start: without(route.start), end: without(route.end) }));
  return {
    ...problem,
    places: kept(problem.places),
    start: without(problem.start),
    end: problem.end === id ? "start" : problem.end,
    routes,
    costs: problem.costs && kept(problem.costs).map(kept),
  };
}

// The names that several places have: the server would refuse them, and the table marks them.
export function doubleNames(problem: Problem): Set<string> {
  const seen = new Set<string>();
  const twice = new Set<string>();
  for (const { name } of problem.places) (seen.has(name) ? twice : seen).add(name);
  return twice;
}

export function routeCount(problem: Problem): number {
  return typeof problem.routes === "number" ? problem.routes : problem.routes.length;
}

export function toJson(problem: Problem): Json {
  const numbers = new Map(problem.places.map((place, index) => [place.id, index]));
  const node = (id: number | null): number | undefined => (id === null ? undefined : numbers.get(id));
  return compact({
    comment: problem.title || undefined,
    // The first place has all weights, since the server wants each budget to have some.
    places: problem.places.map((place, index) => placeJson(index ? place : { ...place, weights: { ...noWeights(problem), ...place.weights } }, problem.geographic)),
    start: node(problem.start),
    end: typeof problem.end === "number" ? node(problem.end) : undefined,
    free_end: problem.end === "free" || undefined,
    limit: problem.limit ?? undefined,
    speed: problem.speed ?? undefined,
    unit: problem.unit ?? undefined,
    clock: problem.clock ?? undefined,
    metric: problem.metric ?? undefined,
    routes:
      typeof problem.routes === "number"
        ? problem.routes > 1
          ? problem.routes
          : undefined
        : problem.routes.map((route) =>
            compact({
              name: route.name || undefined,
              start: node(route.start),
              end: node(route.end),
              opens: route.opens ? timeJson(route.opens) : undefined,
              closes: route.closes ? timeJson(route.closes) : undefined,
              limit: route.limit ? timeJson(route.limit) : undefined,
              free_end: route.freeEnd || undefined,
            }),
          ),
    budgets: Object.keys(problem.budgets).length ? problem.budgets : undefined,
    costs: problem.costs ?? undefined,
  });
}

export function fromJson(data: Json, title = ""): Problem {
  const list = Array.isArray(data.places) ? (data.places as Json[]) : [];
  const geographic = list.length === 0 || list.some((place) => "lat" in place);
  const places = list.map((place, index) =>
    newPlace({
      name: text(place.name) || `Place ${index + 1}`,
      x: numberOrNull(geographic ? place.lon : place.x),
      y: numberOrNull(geographic ? place.lat : place.y),
      prize: numberOrNull(place.prize) ?? 0,
      visit: place.service ? text(place.service) : "",
      hours: hoursText(place.windows),
      required: place.required === true,
      avoid: place.avoid === true,
      group: Array.isArray(place.group) ? place.group.map(text).join("; ") : text(place.group),
      weights: (place.weights as Record<string, number> | undefined) ?? {},
    }),
  );
  const byName = new Map(places.map((place) => [place.name, place.id]));
  const id = (node: unknown): number | null => {
    if (typeof node === "number") return places[node]?.id ?? null;
    return typeof node === "string" ? (byName.get(node) ?? places[Number(node)]?.id ?? null) : null;
  };
  const [start, end] = [id(data.start), id(data.end)];
  return {
    title: title || text(data.comment),
    geographic,
    places,
    start,
    end: data.free_end === true ? "free" : end === null || end === (start ?? places[0]?.id) ? "start" : end,
    limit: numberOrNull(data.limit),
    speed: numberOrNull(data.speed),
    unit: text(data.unit) || null,
    clock: text(data.clock) || null,
    metric: text(data.metric) || null,
    routes: Array.isArray(data.routes) ? (data.routes as Json[]).map((route) => routeRule(route, id)) : (numberOrNull(data.routes) ?? 1),
    budgets: (data.budgets as Record<string, number> | undefined) ?? {},
    costs: Array.isArray(data.costs) ? (data.costs as number[][]) : null,
  };
}

// A text for the table: [[540, 720], [840, null]] is 540-720;840-.
export function hoursText(windows: unknown): string {
  if (typeof windows === "string") return windows;
  if (!Array.isArray(windows) || !windows.length) return "";
  const pairs = (Array.isArray(windows[0]) ? windows : [windows]) as unknown[][];
  return pairs.map((pair) => pair.map(text).join("-")).join(";");
}

// The largest limit of the slider: about a tour through all places, with their visits, unless the limit is larger.
export function largestLimit(problem: Problem): number {
  const spots = problem.places.filter((place) => place.x !== null && place.y !== null);
  const [xs, ys] = [spots.map((place) => place.x ?? 0), spots.map((place) => place.y ?? 0)];
  let tour = 0;
  if (spots.length > 1 && !problem.costs) {
    const metres = problem.geographic ? 111_195 : 1; // of a degree of latitude
    const wide = metres * (Math.max(...xs) - Math.min(...xs)) * (problem.geographic ? Math.cos(((ys[0] ?? 0) * Math.PI) / 180) : 1);
    const high = metres * (Math.max(...ys) - Math.min(...ys));
    tour = (0.75 * Math.sqrt(spots.length * wide * high) + wide + high) / (problem.speed ?? 1);
  }
  const visits = problem.places.reduce((sum, place) => sum + (Number(place.visit) || 0), 0);
  return niceCeil(Math.max(tour + visits, 1.25 * (problem.limit ?? 0), 10));
}

// A problem with a limit: half of the largest, where neither the problem nor opening hours set one.
export function withLimit(problem: Problem): Problem {
  const ends = terminals(problem);
  const closed = problem.places.some((place) => ends.has(place.id) && place.hours);
  const limited = typeof problem.routes !== "number" && problem.routes.some((route) => route.closes || route.limit);
  return problem.limit !== null || closed || limited ? problem : { ...problem, limit: niceCeil(largestLimit(problem) / 2) };
}

export function niceCeil(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 3, 4, 5, 6, 8, 10].map((factor) => Number((factor * power).toPrecision(6))).find((nice) => nice >= value * 0.999999) ?? value;
}

function noWeights(problem: Problem): Record<string, number> {
  return Object.fromEntries(Object.keys(problem.budgets).map((name) => [name, 0]));
}

function placeJson(place: Place, geographic: boolean): Json {
  return compact({
    name: place.name,
    ...(place.x === null || place.y === null ? {} : geographic ? { lat: place.y, lon: place.x } : { x: place.x, y: place.y }),
    prize: place.prize,
    service: place.visit ? timeJson(place.visit) : undefined,
    windows: place.hours || undefined,
    required: place.required || undefined,
    avoid: place.avoid || undefined,
    group: place.group || undefined,
    weights: Object.keys(place.weights).length ? place.weights : undefined,
  });
}

function routeRule(route: Json, id: (node: unknown) => number | null): RouteRule {
  return {
    name: text(route.name),
    start: id(route.start),
    end: id(route.end),
    opens: text(route.opens),
    closes: text(route.closes),
    limit: text(route.limit),
    freeEnd: route.free_end === true,
  };
}

// A number where the text is one; times of day are for the server to read.
function timeJson(value: string): number | string {
  return /^\s*-?\d+(\.\d+)?\s*$/.test(value) ? Number(value) : value.trim();
}

function freeName(problem: Problem): string {
  const names = new Set(problem.places.map((place) => place.name));
  if (!problem.places.length) return "Start";
  let number = problem.places.length;
  while (names.has(`Place ${number}`)) number += 1;
  return `Place ${number}`;
}

function rounded(value: number, geographic: boolean): number {
  return Number(value.toFixed(geographic ? 6 : 2));
}

function text(value: unknown): string {
  return typeof value === "string" ? value : typeof value === "number" ? String(value) : "";
}

function numberOrNull(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

function compact(values: Json): Json {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}
