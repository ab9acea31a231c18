// Numbers and sentences as people read them.

import type { Explanation } from "./api";
import type { Problem } from "./problem";

const WHOLE = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const FINE = new Intl.NumberFormat("en", { maximumFractionDigits: 2 });
const SHORT = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });

export function number(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  return Math.abs(value) >= 1000 ? WHOLE.format(value) : FINE.format(value);
}

// A cost: four digits tell enough.
export function amount(value: number | null | undefined): string {
  return value !== null && value !== undefined && Math.abs(value) < 1000 ? SHORT.format(value) : number(value);
}

export function percent(share: number | null): string {
  return share === null ? "–" : `${FINE.format(100 * share)} %`;
}

// What costs are counted in, as far as the problem says.
export function unitOf(problem: Problem): string {
  const counted = problem.clock ?? problem.unit ?? (problem.speed ? "minutes" : "");
  if (counted) return { minutes: "min", seconds: "s", hours: "h" }[counted] ?? "";
  return problem.geographic && !problem.costs ? "m" : "";
}

export function cost(value: number | null, problem: Problem): string {
  const unit = unitOf(problem);
  return `${amount(value)}${unit && value !== null ? ` ${unit}` : ""}`;
}

// Why a place is not in the plan: sentences for the card.
export function whyNot(found: Explanation, problem: Problem, prize: number): string[] {
  const name = (node: number | null): string => (node === null ? "" : (problem.places[node]?.name ?? `place ${node}`));
  const where = found.after === null ? `after ${name(found.before)}` : found.before === found.after ? `from ${name(found.before)}` : `between ${name(found.before)} and ${name(found.after)}`;
  const lines = [`It comes closest to fitting ${where}: ${reason(found, problem)}`];
  const others = found.broken.filter((words) => !/limit/.test(words));
  if (found.reason !== "limit" && others[0]) lines.push(`${others[0]}.`);
  const change = found.required?.change;
  if (found.required && (change === null || change === undefined)) lines.push("With it required, a short search found no plan.");
  else if (change !== undefined && change !== null) {
    const worth = number(prize + change);
    if (change === 0) lines.push(`With it required, the best plan found collects ${worth}, as much as this one.`);
    else lines.push(`With it required, the best plan found collects ${worth}, ${number(Math.abs(change))} ${change > 0 ? "more" : "less"} than this one.`);
  }
  return lines;
}

// The name of a place's group, in quotes; nothing where there are several, since any may be meant.
function group(problem: Problem, node: number): string {
  const name = problem.places[node]?.group ?? "";
  return name && !name.includes(";") ? ` “${name}”` : "";
}

function reason(found: Explanation, problem: Problem): string {
  const detour = cost(found.detour, problem);
  switch (found.reason) {
    case "limit":
      return `the detour is ${detour}, but the limit leaves only ${cost(found.slack, problem)}.`;
    case "window":
      return "the opening hours do not allow it.";
    case "group":
      return `another place of its group${group(problem, found.node)} is in the plan.`;
    case "budget":
      return "a budget would be exceeded.";
    case "way":
      return "there is no way to it.";
    case "nothing":
      return `the detour is ${detour} and it would fit, so a longer search may take it.`;
    default:
      return `the rule "${found.reason}" would be broken.`;
  }
}
