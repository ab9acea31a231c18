import "./style.css";
// The page: one problem with its history, one search, and the views that show both.

import * as api from "./api";
import { showCard, type CardText } from "./card";
import { drawChart } from "./chart";
import { byId } from "./dom";
import { exportAs, onFile, openFile } from "./files";
import { History } from "./history";
import { PlaceMap } from "./map";
import { pictureOf } from "./picture";
import { nodesOf, visitedBy, type Outcome, type Plan } from "./outcome";
import { addPlace, changePlace, EMPTY, findPlace, fromJson, removePlace, terminals, toJson, withLimit, type Json, type Problem } from "./problem";
import { Rules } from "./rules";
import { Search, type Wishes } from "./search";
import { fromHash, toHash } from "./share";
import { PlaceTable } from "./table";
import { showFigures, showTimetable, stopNumbers } from "./timetable";
import { cost, number, whyNot } from "./words";
import cityCsv from "../../examples/city.csv?raw";
import dayCsv from "../../examples/day_in_town.csv?raw";

const EXAMPLES: Record<string, readonly [string, string]> = {
  city: ["A walk through Amberford.csv", cityCsv],
  day: ["A day in town.csv", dayCsv],
};
const SOLVE_AGAIN_MS = 300;
const SPEAK_MS = 2000;

const history_ = new History<Problem>(EMPTY);
let outcome: Outcome | null = null;
let shown = 0; // which plan: 0 is the best, then the alternatives
let chosen: number | null = null;
let cardText: CardText = { standing: "", lines: [], waiting: false };
let again: ReturnType<typeof setTimeout> | undefined;
let spoken = 0;
let unspoken: ReturnType<typeof setTimeout> | undefined;
let writtenHash = "";

const map = new PlaceMap(byId("map"), {
  pick,
  add: (x, y) => edit((problem) => addPlace(problem, x, y)),
  move: (id, x, y) => edit((problem) => changePlace(problem, id, { x: Number(x.toFixed(6)), y: Number(y.toFixed(6)) })),
});
const table = new PlaceTable({
  change: (id, values, kind) => edit((problem) => changePlace(problem, id, values), kind),
  remove: (id) => edit((problem) => removePlace(problem, id)),
  pick,
});
const rules = new Rules(edit);
const search = new Search(onOutcome, fail);

function problemNow(): Problem {
  return history_.value;
}

// The plan on show: the best one, or one of the others.
function planNow(): Plan | null {
  return outcome ? (shown === 0 ? outcome.plan : (outcome.alternatives[shown - 1] ?? outcome.plan)) : null;
}

function isStale(): boolean {
  return outcome !== null && !outcome.running && outcome.problem !== problemNow();
}

function edit(change: (problem: Problem) => Problem, kind = ""): void {
  const before = problemNow();
  history_.set(change(before), kind);
  if (problemNow() !== before) afterChange();
}

function afterChange(): void {
  if (chosen !== null && !findPlace(problemNow(), chosen)) chosen = null;
  tell("");
  draw();
  void keepInAddress();
  clearTimeout(again);
  if (outcome && byId<HTMLInputElement>("live").checked) again = setTimeout(() => void solve(), SOLVE_AGAIN_MS);
}

// A problem from a file, the address or an example: the old plan goes, undo brings the old problem back.
function take(problem: Problem): void {
  outcome = null;
  shown = 0;
  chosen = null;
  clearTimeout(again);
  history_.set(problem);
  map.remove();
  setAdding(!problem.places.length);
  tell("");
  draw();
  void keepInAddress();
}

function draw(): void {
  const problem = problemNow();
  const plan = planNow();
  document.title = problem.title ? `${problem.title} – orienteer` : "orienteer";
  const title = byId<HTMLInputElement>("title");
  if (title !== document.activeElement) title.value = problem.title;
  rules.show(problem);
  map.show(problem, plan, isStale(), chosen);
  table.show(problem, stopNumbers(plan), chosen);
  byId<HTMLButtonElement>("undo").disabled = !history_.canUndo;
  byId<HTMLButtonElement>("redo").disabled = !history_.canRedo;
  for (const id of ["add", "add-row"]) byId<HTMLButtonElement>(id).disabled = problem.costs !== null;
  for (const format of ["gpx", "geojson"]) {
    const button = document.querySelector<HTMLButtonElement>(`[data-export="${format}"]`);
    if (button) button.disabled = !problem.geographic;
  }
  drawResult(problem, plan);
  drawCard();
}

function drawResult(problem: Problem, plan: Plan | null): void {
  const running = outcome?.running ?? false;
  const solveButton = byId<HTMLButtonElement>("solve");
  solveButton.disabled = problem.places.length < 2;
  solveButton.textContent = running ? "Solving…" : outcome ? "Solve again" : "Solve";
  byId("plan").setAttribute("aria-busy", String(running));
  byId("stop").hidden = !running;
  const result = byId("result");
  result.hidden = !plan;
  result.classList.toggle("stale", isStale());
  if (!outcome || !plan) return;
  showFigures(outcome, plan, problem);
  drawChart(byId("chart"), outcome, wishes().seconds);
  const plans = 1 + outcome.alternatives.length;
  byId("flip").hidden = plans < 2;
  byId("flip-text").textContent = `${shown === 0 ? "Best plan" : "Another plan"} · ${shown + 1} of ${plans}`;
  byId<HTMLButtonElement>("previous").disabled = shown === 0;
  byId<HTMLButtonElement>("next").disabled = shown >= plans - 1;
  showTimetable(plan, problem, pick);
}

function drawCard(): void {
  const problem = problemNow();
  const place = chosen === null ? null : (findPlace(problem, chosen) ?? null);
  showCard(place, place !== null && terminals(problem).has(place.id), cardText, {
    require: (id, required) => edit((now) => changePlace(now, id, { required, ...(required ? { avoid: false } : {}) })),
    avoid: (id, avoid) => edit((now) => changePlace(now, id, { avoid, ...(avoid ? { required: false } : {}) })),
    start: (id) => edit((now) => ({ ...now, start: id })),
    end: (id) => edit((now) => ({ ...now, end: id })),
    close: () => {
      chosen = null;
      draw();
    },
  });
}

// Shows the card of a place and asks the server why the plan leaves the place out.
function pick(id: number): void {
  chosen = id;
  const place = findPlace(problemNow(), id);
  if (!place) return;
  table.reveal(id);
  map.lookAt(place);
  explainChosen();
  draw();
  byId("card-title").focus({ preventScroll: true });
}

function explainChosen(): void {
  const problem = problemNow();
  const plan = planNow();
  const id = chosen;
  if (id === null) return;
  cardText = { standing: standing(id), lines: [], waiting: false };
  const place = findPlace(problem, id);
  const nodes = plan && nodesOf(problem, plan);
  if (!plan || !nodes || isStale() || outcome?.running || place?.avoid || visitedBy(plan).has(id) || terminals(problem).has(id)) return;
  cardText = { ...cardText, waiting: true };
  const still = (): boolean => chosen === id && problemNow() === problem && planNow() === plan;
  api
    .explain(toJson(problem), nodes, problem.places.findIndex((one) => one.id === id), 1)
    .then((found) => {
      if (still()) cardText = { standing: standing(id), lines: found ? whyNot(found, problem, plan.prize) : [], waiting: false };
    })
    .catch((error: unknown) => {
      if (still()) cardText = { standing: standing(id), lines: [error instanceof Error ? error.message : String(error)], waiting: false };
    })
    .finally(() => {
      if (still()) drawCard();
    });
}

function standing(id: number): string {
  const problem = problemNow();
  const plan = planNow();
  if (terminals(problem).has(id)) return "A route starts or ends here.";
  const place = findPlace(problem, id);
  if (!plan) return place?.required ? "The plan must have it." : place?.avoid ? "The plan must not have it." : "";
  const stop = stopNumbers(plan).get(id);
  if (stop) return `Stop ${stop} of the plan.`;
  return place?.avoid ? "Not in the plan, since you avoid it." : "Not in the plan.";
}

function wishes(): Wishes {
  return {
    seconds: Number(byId<HTMLSelectElement>("seconds").value),
    alternatives: Number(byId<HTMLSelectElement>("alternatives").value),
    bound: byId<HTMLInputElement>("bound").checked,
  };
}

async function solve(): Promise<void> {
  clearTimeout(again);
  if (problemNow().places.length < 2) return;
  tell("");
  await search.start(problemNow(), wishes(), outcome?.plan ?? null);
}

function onOutcome(next: Outcome): void {
  const fresh = next.plan === null && next.running && outcome?.plan;
  // Until the first plan arrives, the last one stays on show.
  outcome = fresh ? { ...next, plan: outcome?.plan ?? null } : next;
  if (next.running) shown = 0;
  speak(next);
  draw();
  if (!next.running && chosen !== null) {
    explainChosen();
    drawCard();
  }
}

// What a screen reader hears of a search: now and then its progress, then its end.
function speak(now: Outcome): void {
  const news = byId("news");
  const limit = now.problem.limit;
  const sums = now.plan ? `prize ${number(now.plan.prize)}, cost ${cost(now.plan.cost, now.problem)}${limit !== null && now.plan.routes.length === 1 ? ` of ${number(limit)}` : ""}` : "";
  if (now.running) {
    const wait = SPEAK_MS - (performance.now() - spoken);
    if (wait > 0 && news.textContent) {
      // Later, and not never: a search that begins with the best plan tells of it once.
      clearTimeout(unspoken);
      unspoken = setTimeout(() => speak(now), wait);
      return;
    }
    announce(sums ? `Searching: ${sums}` : now.queued ? "Waiting for the search to begin…" : "Searching…");
  } else if (!now.plan) {
    announce(now.status === "infeasible" ? "No plan keeps all rules: this is proven." : now.status === "failed" ? "" : "No plan was found. Relax a rule, or search longer.");
  } else {
    announce(`${now.status === "optimal" ? "The best plan, proven" : "Done"}: ${sums}.`);
  }
  spoken = performance.now();
}

function announce(words: string): void {
  clearTimeout(unspoken);
  byId("news").textContent = words;
}

function tell(message: string): void {
  const box = byId("error");
  box.hidden = !message;
  box.textContent = message;
}

function fail(message: string): void {
  tell(message);
  announce("");
}

async function attempt(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    fail(error instanceof Error ? error.message : String(error));
  }
}

async function open(file: File): Promise<void> {
  await attempt(async () => {
    const { problem: read, warnings } = await openFile(file);
    const problem = withLimit(read);
    take(problem);
    const proposed = problem === read ? [] : [`The file has no limit; ${cost(problem.limit, problem)} is a proposal.`];
    announce([`${problem.places.length} places read from ${file.name}.`, ...proposed, ...warnings].join(" "));
  });
}

async function openExample(key: string): Promise<void> {
  const [name, content] = EXAMPLES[key] ?? ["example.csv", cityCsv];
  await open(new File([content], name));
}

async function keepInAddress(): Promise<void> {
  const problem = problemNow();
  const hash = await toHash(toJson(problem));
  if (problem !== problemNow()) return;
  writtenHash = hash ?? "";
  history.replaceState(null, "", hash ?? location.pathname);
}

async function fromAddress(): Promise<boolean> {
  try {
    const data = (await fromHash(location.hash)) as Json | null;
    if (!data) return false;
    take(fromJson(data));
    return true;
  } catch {
    fail("The address holds no problem that can be read; it may have been cut off.");
    return false;
  }
}

async function copyAddress(): Promise<void> {
  const hash = await toHash(toJson(problemNow()));
  if (!hash) throw new Error("This problem is too large for an address: save it as a JSON file instead.");
  await navigator.clipboard.writeText(new URL(hash, location.href).href);
  announce("The address with the problem was copied.");
}

function setAdding(adding: boolean): void {
  map.setAdding(adding);
  byId("add").setAttribute("aria-pressed", String(adding));
}

function flip(by: number): void {
  shown = Math.max(0, Math.min(outcome?.alternatives.length ?? 0, shown + by));
  draw();
  if (chosen !== null) {
    explainChosen();
    drawCard();
  }
  const plan = planNow();
  if (plan) announce(`Plan ${shown + 1}: prize ${number(plan.prize)}, cost ${cost(plan.cost, problemNow())}.`);
}

function step(move: () => boolean): void {
  const geographic = problemNow().geographic;
  if (!move()) return;
  if (problemNow().geographic !== geographic) map.remove();
  afterChange();
}

function askForToken(wrong: boolean): Promise<string | null> {
  const dialog = byId<HTMLDialogElement>("token");
  const input = byId<HTMLInputElement>("token-text");
  byId("token-wrong").hidden = !wrong;
  input.value = "";
  if (!dialog.open) dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => resolve(dialog.returnValue === "ok" && input.value ? input.value : null), { once: true });
  });
}

function connect(): void {
  const click = (id: string, act: () => void): void => byId(id).addEventListener("click", act);
  click("solve", () => void solve());
  click("stop", () => void search.stop());
  click("undo", () => step(() => history_.undo()));
  click("redo", () => step(() => history_.redo()));
  click("previous", () => flip(-1));
  click("next", () => flip(1));
  click("add", () => setAdding(!map.adding));
  click("fit", () => map.fit(problemNow()));
  click("add-row", () => {
    const { x, y } = map.centre();
    edit((problem) => addPlace(problem, x, y));
    const place = problemNow().places[problemNow().places.length - 1];
    if (place) table.reveal(place.id);
    document.querySelector<HTMLInputElement>(`[data-id="${place?.id}"] .name`)?.focus();
  });
  byId<HTMLInputElement>("title").addEventListener("change", (event) => {
    const title = (event.target as HTMLInputElement).value.trim();
    history_.set({ ...problemNow(), title }, "title");
    void keepInAddress();
  });
  for (const button of document.querySelectorAll<HTMLButtonElement>("[data-new]")) {
    button.addEventListener("click", () => take({ ...EMPTY, geographic: button.dataset.new === "map" }));
  }
  for (const button of document.querySelectorAll<HTMLButtonElement>("[data-example]")) {
    button.addEventListener("click", () => void openExample(button.dataset.example ?? "city"));
  }
  for (const button of document.querySelectorAll<HTMLButtonElement>("[data-export]")) {
    button.addEventListener("click", () => void attempt(() => exportTo(button.dataset.export ?? "")));
  }
  onFile((file) => void open(file));
  addEventListener("hashchange", () => {
    if (location.hash !== writtenHash) void fromAddress();
  });
  connectMenus();
  addEventListener("beforeprint", () => byId("paper").replaceChildren(pictureOf(problemNow(), planNow())));
  addEventListener("keydown", onKey);
}

async function exportTo(format: string): Promise<void> {
  if (format === "print") print();
  else if (format === "link") await copyAddress();
  else await exportAs(format, problemNow(), isStale() ? null : planNow());
}

function connectMenus(): void {
  const menus = [...document.querySelectorAll<HTMLDetailsElement>("details.menu")];
  addEventListener("click", (event) => {
    const target = event.target as Element;
    for (const menu of menus) if (!menu.contains(target) || target.closest("button")) menu.open = false;
  });
  addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    for (const menu of menus.filter((one) => one.open)) {
      menu.open = false;
      menu.querySelector("summary")?.focus();
    }
  });
}

function onKey(event: KeyboardEvent): void {
  const writing = event.target instanceof HTMLInputElement && ["text", "search", "number", "password"].includes(event.target.type);
  const command = event.ctrlKey || event.metaKey;
  if (command && event.key === "Enter") void solve();
  else if (command && !writing && event.key.toLowerCase() === "z") step(() => (event.shiftKey ? history_.redo() : history_.undo()));
  else if (command && !writing && event.key.toLowerCase() === "y") step(() => history_.redo());
  else if (event.key === "Escape" && chosen !== null && !byId<HTMLDialogElement>("token").open) {
    chosen = null;
    draw();
  } else return;
  event.preventDefault();
}

async function begin(): Promise<void> {
  api.onTokenWanted(askForToken);
  connect();
  draw();
  await attempt(async () => {
    const limits = await api.getLimits();
    map.setTiles(limits.tiles);
    for (const option of byId<HTMLSelectElement>("seconds").options) option.disabled = Number(option.value) > limits.job_seconds;
    for (const option of byId<HTMLSelectElement>("alternatives").options) option.disabled = Number(option.value) > limits.alternatives;
  });
  if (!(await fromAddress())) await openExample("city");
}

void begin();
