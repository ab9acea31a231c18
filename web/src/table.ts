// The table of places: everything about them can be changed here, without the map.

import { byId, make } from "./dom";
import { doubleNames, terminals, type Place, type Problem } from "./problem";

const PAGE = 100; // rows at a time, since every row has a dozen controls

export interface TableEvents {
  readonly change: (id: number, values: Partial<Place>, kind: string) => void;
  readonly remove: (id: number) => void;
  readonly pick: (id: number) => void;
}

export class PlaceTable {
  private readonly head = byId("places-head");
  private readonly body = byId("places-body");
  private readonly filter = byId<HTMLInputElement>("filter");
  private readonly pager = byId("pager");
  private page = 0;
  private shape = "";
  private problem: Problem | null = null;
  private state: { visited: ReadonlyMap<number, string>; chosen: number | null } = { visited: new Map(), chosen: null };

  constructor(private readonly events: TableEvents) {
    this.filter.addEventListener("input", () => {
      this.page = 0;
      this.draw();
    });
  }

  // `visited` has the number of its stop for each place in the plan.
  show(problem: Problem, visited: ReadonlyMap<number, string>, chosen: number | null): void {
    this.problem = problem;
    this.state = { visited, chosen };
    this.draw();
  }

  // Brings a place onto the page of the table that is shown.
  reveal(id: number): void {
    const index = this.matching().findIndex((place) => place.id === id);
    if (index < 0) return;
    this.page = Math.floor(index / PAGE);
    this.draw();
    const row = this.body.querySelector<HTMLElement>(`[data-id="${id}"]`);
    const box = row?.closest<HTMLElement>(".scroll");
    if (!row || !box) return;
    // Not scrollIntoView, which would move the whole page of a phone away from the map.
    const head = this.head.clientHeight;
    if (row.offsetTop - head < box.scrollTop) box.scrollTop = row.offsetTop - head;
    else if (row.offsetTop + row.clientHeight > box.scrollTop + box.clientHeight) box.scrollTop = row.offsetTop + row.clientHeight - box.clientHeight;
  }

  private matching(): readonly Place[] {
    const wanted = this.filter.value.trim().toLowerCase();
    const places = this.problem?.places ?? [];
    return wanted ? places.filter((place) => `${place.name} ${place.group}`.toLowerCase().includes(wanted)) : places;
  }

  private draw(): void {
    const problem = this.problem;
    if (!problem) return;
    const places = this.matching();
    const pages = Math.max(1, Math.ceil(places.length / PAGE));
    this.page = Math.min(this.page, pages - 1);
    const shown = places.slice(this.page * PAGE, (this.page + 1) * PAGE);
    const budgets = Object.keys(problem.budgets);
    const groups = problem.places.some((place) => place.group);
    const positions = !problem.costs || problem.places.some((place) => place.x !== null);
    const shape = JSON.stringify([problem.geographic, groups, positions, budgets, shown.map((place) => place.id)]);
    if (shape !== this.shape) {
      this.shape = shape;
      this.build(problem, shown, groups, positions, budgets);
    }
    this.fill(problem, shown);
    this.drawPager(pages, places.length);
  }

  private build(problem: Problem, places: readonly Place[], groups: boolean, positions: boolean, budgets: readonly string[]): void {
    const [across, up] = problem.geographic ? ["Longitude", "Latitude"] : ["x", "y"];
    const heads = ["Stop", "Name", "Prize", "Visit", "Hours", "Required", "Avoid", ...(groups ? ["Group"] : []), ...budgets, ...(positions ? [across, up] : [])];
    this.head.replaceChildren(make("tr", {}, ...heads.map((title) => make("th", { scope: "col", textContent: title ?? "" })), make("th", { scope: "col" }, make("span", { className: "hidden", textContent: "Actions" }))));
    this.body.replaceChildren(
      ...places.map((place) => {
        const id = place.id;
        const stop = make("button", { type: "button", className: "number", onclick: () => this.events.pick(id) });
        const cells: HTMLElement[] = [stop, this.text(id, "name"), this.number(id, "prize"), this.text(id, "visit", "0"), this.text(id, "hours", "always"), this.check(id, "required"), this.check(id, "avoid")];
        if (groups) cells.push(this.text(id, "group"));
        for (const budget of budgets) cells.push(this.weight(id, budget));
        if (positions) cells.push(this.number(id, "x"), this.number(id, "y"));
        cells.push(make("button", { type: "button", className: "plain delete", textContent: "✕", onclick: () => this.events.remove(id) }));
        return make("tr", { attrs: { "data-id": String(id) } }, ...cells.map((cell, column) => make(column === 1 ? "th" : "td", column === 1 ? { scope: "row" } : {}, cell)));
      }),
    );
  }

  private fill(problem: Problem, places: readonly Place[]): void {
    const ends = terminals(problem);
    const twice = doubleNames(problem);
    const rows = this.body.children;
    places.forEach((place, index) => {
      const row = rows[index] as HTMLTableRowElement;
      const stop = this.state.visited.get(place.id);
      row.classList.toggle("chosen", place.id === this.state.chosen);
      row.classList.toggle("visited", stop !== undefined || ends.has(place.id));
      const button = row.querySelector<HTMLButtonElement>(".number");
      if (button) {
        button.textContent = ends.has(place.id) ? "⌂" : (stop ?? "–");
        button.setAttribute("aria-label", `${place.name}: ${ends.has(place.id) ? "start or end" : stop ? `stop ${stop}` : "not in the plan; why?"}`);
      }
      row.querySelector(".delete")?.setAttribute("aria-label", `Delete ${place.name}`);
      for (const input of row.querySelectorAll("input")) {
        const field = input.dataset.field ?? "";
        input.setAttribute("aria-label", `${input.dataset.title ?? field} of ${place.name}`);
        if (input.type === "checkbox") {
          input.checked = field === "required" ? place.required : place.avoid;
          input.disabled = ends.has(place.id);
        } else if (input !== document.activeElement) {
          input.value = input.dataset.budget ? String(place.weights[input.dataset.budget] ?? "") : String(place[field as keyof Place] ?? "");
        }
        if (field === "name") input.setAttribute("aria-invalid", String(twice.has(place.name) || !place.name));
      }
    });
  }

  private drawPager(pages: number, count: number): void {
    byId("place-count").textContent = String(this.problem?.places.length ?? 0);
    this.pager.hidden = pages < 2;
    if (pages < 2) return;
    const go = (by: number): void => {
      this.page += by;
      this.draw();
    };
    this.pager.replaceChildren(
      make("button", { type: "button", textContent: "‹ Previous", disabled: this.page === 0, onclick: () => go(-1) }),
      make("span", { textContent: `${this.page * PAGE + 1}–${Math.min(count, (this.page + 1) * PAGE)} of ${count}` }),
      make("button", { type: "button", textContent: "Next ›", disabled: this.page >= pages - 1, onclick: () => go(1) }),
    );
  }

  private text(id: number, field: "name" | "visit" | "hours" | "group", placeholder = ""): HTMLInputElement {
    const input = make("input", { type: "text", placeholder, className: field, onchange: () => this.events.change(id, { [field]: input.value.trim() }, "") });
    return tagged(input, field);
  }

  private number(id: number, field: "prize" | "x" | "y"): HTMLInputElement {
    const input = make("input", { type: "number", step: "any", className: field });
    if (field === "prize") input.min = "0";
    input.onchange = () => {
      if (input.validity.valid && input.value !== "") this.events.change(id, { [field]: input.valueAsNumber }, "");
      else this.draw();
    };
    return tagged(input, field);
  }

  private check(id: number, field: "required" | "avoid"): HTMLInputElement {
    const other = field === "required" ? "avoid" : "required";
    const input = make("input", { type: "checkbox", onchange: () => this.events.change(id, { [field]: input.checked, ...(input.checked ? { [other]: false } : {}) }, "") });
    return tagged(input, field);
  }

  private weight(id: number, budget: string): HTMLInputElement {
    const input = make("input", { type: "number", step: "any", min: "0", className: "prize" });
    input.onchange = () => {
      const weights = { ...this.problem?.places.find((place) => place.id === id)?.weights };
      if (input.value === "" || !input.validity.valid) delete weights[budget];
      else weights[budget] = input.valueAsNumber;
      this.events.change(id, { weights }, "");
    };
    input.dataset.budget = budget;
    return tagged(input, budget);
  }
}

function tagged(input: HTMLInputElement, field: string): HTMLInputElement {
  input.dataset.field = field;
  input.dataset.title = field.charAt(0).toUpperCase() + field.slice(1);
  input.autocomplete = "off";
  return input;
}
