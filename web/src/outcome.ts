// What a search has found so far, in places' ids, so that it outlives edits of the problem.

import type { Improvement, Job, PlanJson, StopTimes } from "./api";
import type { Problem } from "./problem";

export interface Stop {
  readonly place: number; // id
  readonly times: StopTimes | null;
}

export interface ShownRoute {
  readonly name: string;
  readonly prize: number | null;
  readonly cost: number | null;
  readonly stops: readonly Stop[];
}

export interface Plan {
  readonly prize: number;
  readonly cost: number;
  readonly routes: readonly ShownRoute[];
}

export interface Moment {
  readonly seconds: number;
  readonly prize: number | null;
  readonly bound: number | null;
}

export interface Outcome {
  readonly problem: Problem; // as it was solved
  readonly running: boolean;
  readonly queued: boolean;
  readonly plan: Plan | null;
  readonly alternatives: readonly Plan[];
  readonly bound: number | null;
  readonly status: string;
  readonly seconds: number;
  readonly moments: readonly Moment[];
}

export function begun(problem: Problem): Outcome {
  return { problem, running: true, queued: true, plan: null, alternatives: [], bound: null, status: "", seconds: 0, moments: [] };
}

export function improved(outcome: Outcome, news: Improvement): Outcome {
  const plan = news.routes && news.prize !== null ? planOf(outcome.problem, { prize: news.prize, cost: news.cost, routes: news.routes.map((nodes) => ({ nodes, prize: NaN, cost: NaN })) }) : outcome.plan;
  const bound = news.bound ?? outcome.bound;
  const moment = { seconds: news.seconds, prize: plan?.prize ?? null, bound };
  return { ...outcome, queued: false, plan, bound, seconds: news.seconds, moments: [...outcome.moments, moment] };
}

export function ended(outcome: Outcome, job: Job): Outcome {
  const result = job.result;
  if (!result) return { ...outcome, running: false, queued: false, status: job.status };
  const plan = planOf(outcome.problem, result);
  const moment = { seconds: result.seconds, prize: plan?.prize ?? null, bound: result.bound };
  return {
    ...outcome,
    running: false,
    queued: false,
    plan: plan ?? outcome.plan,
    alternatives: result.alternatives.flatMap((other) => planOf(outcome.problem, other) ?? []),
    bound: result.bound,
    status: result.status,
    seconds: result.seconds,
    moments: [...outcome.moments, moment],
  };
}

// The gap as a share of the bound, as everywhere in orienteer.
export function gapOf(prize: number, bound: number | null): number | null {
  if (bound === null) return null;
  return bound > 0 ? Math.max(0, (bound - prize) / bound) : 0;
}

// The nodes of a plan's routes in a problem; null where a place of the plan is gone.
export function nodesOf(problem: Problem, plan: Plan): number[][] | null {
  const numbers = new Map(problem.places.map((place, index) => [place.id, index]));
  const routes = plan.routes.map((route) => route.stops.map((stop) => numbers.get(stop.place) ?? -1));
  return routes.some((nodes) => nodes.includes(-1)) ? null : routes;
}

// The nodes of a plan's routes in a changed problem, without places that are gone or avoided by now.
export function hintOf(problem: Problem, plan: Plan): number[][] {
  const avoided = new Set(problem.places.filter((place) => place.avoid).map((place) => place.id));
  const numbers = new Map(problem.places.map((place, index) => [place.id, index]));
  return plan.routes.map((route) => route.stops.flatMap((stop) => (avoided.has(stop.place) ? [] : (numbers.get(stop.place) ?? []))));
}

export function visitedBy(plan: Plan): Set<number> {
  return new Set(plan.routes.flatMap((route) => route.stops.map((stop) => stop.place)));
}

function planOf(problem: Problem, data: PlanJson): Plan | null {
  if (!data.routes || data.prize === null) return null;
  const routes = data.routes.map((route) => ({
    name: route.name ?? "",
    prize: Number.isFinite(route.prize) ? route.prize : null,
    cost: Number.isFinite(route.cost) ? route.cost : null,
    stops: route.nodes.map((node, index) => ({ place: problem.places[node]?.id ?? -1, times: route.stops?.[index] ?? null })),
  }));
  return { prize: data.prize, cost: data.cost ?? NaN, routes };
}
