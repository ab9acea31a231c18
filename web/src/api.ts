// What the page asks of the server.

import { readEvents } from "./sse";
import type { Json } from "./problem";

export class ServerError extends Error {
  constructor(
    message: string,
    readonly status: number,
    readonly field: string | null = null,
  ) {
    super(message);
  }
}

export interface Limits {
  readonly job_seconds: number;
  readonly alternatives: number;
  readonly tiles: { readonly url: string; readonly attribution: string } | null;
}

export interface Improvement {
  readonly prize: number | null;
  readonly cost: number | null;
  readonly bound: number | null;
  readonly gap: number | null;
  readonly seconds: number;
  readonly routes: readonly (readonly number[])[] | null;
}

export interface StopTimes {
  readonly node: number;
  readonly arrive: number;
  readonly wait: number;
  readonly begin: number;
  readonly leave: number;
  readonly clock?: { readonly arrive: string; readonly begin: string; readonly leave: string };
}

export interface PlanJson {
  readonly prize: number | null;
  readonly cost: number | null;
  readonly routes: readonly { readonly nodes: readonly number[]; readonly name?: string; readonly prize: number; readonly cost: number; readonly stops?: readonly StopTimes[] }[] | null;
}

export interface ResultJson extends PlanJson {
  readonly status: string;
  readonly bound: number | null;
  readonly seconds: number;
  readonly steps: number;
  readonly solver: string;
  readonly alternatives: readonly PlanJson[];
}

export interface Job {
  readonly id: string;
  readonly status: "queued" | "running" | "done" | "failed" | "cancelled";
  readonly reason: string | null;
  readonly result: ResultJson | null;
}

export interface Explanation {
  readonly node: number;
  readonly prize: number;
  readonly before: number;
  readonly after: number | null;
  readonly detour: number | null;
  readonly slack: number;
  readonly reason: string;
  readonly excess: number | null;
  readonly broken: readonly string[];
  readonly required?: { readonly change: number | null; readonly routes: readonly (readonly number[])[] | null };
}

const TOKEN = "orienteer-token";

let askForToken: (wrong: boolean) => Promise<string | null> = () => Promise.resolve(null);

export function onTokenWanted(ask: (wrong: boolean) => Promise<string | null>): void {
  askForToken = ask;
}

export async function call(path: string, init: RequestInit = {}): Promise<Response> {
  for (;;) {
    const token = sessionStorage.getItem(TOKEN);
    const headers = new Headers(init.headers);
    if (token) headers.set("Authorization", `Bearer ${token}`);
    const response = await reach(path, { ...init, headers });
    if (response.ok) return response;
    if (response.status !== 401) throw await serverError(response);
    const given = await askForToken(token !== null);
    if (given === null) throw new ServerError("The server wants a token.", 401);
    sessionStorage.setItem(TOKEN, given);
  }
}

export async function getLimits(): Promise<Limits> {
  return (await call("v1/limits")).json() as Promise<Limits>;
}

export async function readFile(name: string, content: Blob): Promise<{ problem: Json; warnings: string[] }> {
  const response = await call(`v1/read?name=${encodeURIComponent(name)}`, { method: "POST", body: content, headers: { "Content-Type": "application/octet-stream" } });
  return response.json() as Promise<{ problem: Json; warnings: string[] }>;
}

export async function writeFile(problem: Json, routes: readonly (readonly number[])[] | null, format: string): Promise<Blob> {
  return (await post("v1/write", { problem, routes, format })).blob();
}

export async function explain(problem: Json, routes: readonly (readonly number[])[], node: number, seconds: number): Promise<Explanation | null> {
  const found = (await (await post("v1/explain", { problem, routes, places: [node], seconds })).json()) as Explanation[];
  return found[0] ?? null;
}

export async function startJob(request: Json): Promise<Job> {
  return (await post("v1/jobs", request, { "Idempotency-Key": crypto.randomUUID?.() ?? String(Math.random()) })).json() as Promise<Job>;
}

export async function cancelJob(id: string): Promise<Job> {
  return (await call(`v1/jobs/${id}`, { method: "DELETE" })).json() as Promise<Job>;
}

// Everything that a job reports until it ends; a broken connection is taken up again behind the last event.
export async function* jobEvents(id: string, signal: AbortSignal): AsyncGenerator<{ kind: string; data: Improvement | Job }> {
  let last = "";
  for (let failures = 0; failures < 5; failures += 1) {
    try {
      const response = await call(`v1/jobs/${id}/events`, { signal, headers: { Accept: "text/event-stream", ...(last ? { "Last-Event-ID": last } : {}) } });
      if (!response.body) throw new ServerError("The answer is empty.", response.status);
      for await (const event of readEvents(response.body)) {
        if (event.id) last = event.id;
        failures = 0;
        yield { kind: event.event, data: JSON.parse(event.data) as Improvement | Job };
        if (event.event === "end") return;
      }
    } catch (error) {
      if (signal.aborted || (error instanceof ServerError && error.status !== 0)) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 300 * (failures + 1)));
  }
  throw new ServerError("The connection to the server was lost.", 0);
}

async function post(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
  return call(path, { method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json", ...headers } });
}

async function reach(path: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(path, init);
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw new ServerError("The server cannot be reached.", 0);
  }
}

async function serverError(response: Response): Promise<ServerError> {
  const data = (await response.json().catch(() => ({}))) as { detail?: unknown; title?: unknown; field?: unknown };
  const words = typeof data.detail === "string" ? data.detail : typeof data.title === "string" ? data.title : `The server answered ${response.status}.`;
  const wait = response.status === 429 ? ` Try again in ${response.headers.get("Retry-After") ?? "some"} s.` : "";
  return new ServerError(words + wait, response.status, typeof data.field === "string" ? data.field : null);
}
