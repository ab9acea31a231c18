// Files in by button or drop, files out by the menu. The server reads and writes them: it knows the formats.

import * as api from "./api";
import { byId, download } from "./dom";
import { nodesOf, type Plan } from "./outcome";
import { pngOf } from "./picture";
import { fromJson, toJson, type Problem } from "./problem";

export async function openFile(file: File): Promise<{ problem: Problem; warnings: string[] }> {
  const { problem, warnings } = await api.readFile(file.name, file);
  return { problem: fromJson(problem, file.name.replace(/\.[^.]*$/, "")), warnings };
}

// Calls `open` with a file that is dropped anywhere on the page, chosen, or pasted.
export function onFile(open: (file: File) => void): void {
  const input = byId<HTMLInputElement>("file");
  byId("open").addEventListener("click", () => input.click());
  input.addEventListener("change", () => {
    const file = input.files?.[0];
    if (file) open(file);
    input.value = "";
  });
  const veil = byId("drop");
  const holdsFiles = (event: DragEvent): boolean => event.dataTransfer?.types.includes("Files") ?? false;
  addEventListener("dragover", (event) => {
    if (!holdsFiles(event)) return;
    event.preventDefault();
    veil.hidden = false;
  });
  addEventListener("dragleave", (event) => {
    if (!event.relatedTarget) veil.hidden = true;
  });
  addEventListener("drop", (event) => {
    veil.hidden = true;
    const file = event.dataTransfer?.files[0];
    if (!file) return;
    event.preventDefault();
    open(file);
  });
}

// A plan as a file; `problem` as a problem's, for a later visit.
export async function exportAs(format: string, problem: Problem, plan: Plan | null): Promise<void> {
  const name = (problem.title || "plan").replace(/[^\p{L}\p{N} _-]+/gu, "").trim() || "plan";
  if (format === "problem") {
    download(`${name}.json`, new Blob([`${JSON.stringify(toJson(problem), null, 1)}\n`], { type: "application/json" }));
    return;
  }
  if (format === "png") {
    download(`${name}.png`, await pngOf(problem, plan));
    return;
  }
  const routes = plan && nodesOf(problem, plan);
  if (!routes) throw new Error("There is no plan of this problem yet: solve it first.");
  download(`${name}.${format}`, await api.writeFile(toJson(problem), routes, format));
}
