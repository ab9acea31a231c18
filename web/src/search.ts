// One search at a time: a job of the server, followed until its end.

import * as api from "./api";
import { begun, ended, hintOf, improved, type Outcome, type Plan } from "./outcome";
import { toJson, type Json, type Problem } from "./problem";

export interface Wishes {
  readonly seconds: number;
  readonly alternatives: number;
  readonly bound: boolean;
}

export class Search {
  private abort: AbortController | null = null;
  private job: string | null = null;

  constructor(
    private readonly show: (outcome: Outcome) => void,
    private readonly fail: (message: string) => void,
  ) {}

  get running(): boolean {
    return this.abort !== null;
  }

  // Begins with the plan from before a change, where it still keeps the rules, so that no plan gets worse.
  async start(problem: Problem, wishes: Wishes, before: Plan | null): Promise<void> {
    this.drop();
    const abort = new AbortController();
    this.abort = abort;
    let outcome = begun(problem);
    const tell = (next: Outcome): void => {
      outcome = next;
      if (this.abort === abort) this.show(outcome);
    };
    tell(outcome);
    try {
      const job = await this.begin({ problem: toJson(problem), ...wishes, ...(before ? { hint: hintOf(problem, before) } : {}) });
      if (this.abort !== abort) {
        await api.cancelJob(job.id);
        return;
      }
      this.job = job.id;
      for await (const { kind, data } of api.jobEvents(job.id, abort.signal)) {
        if (kind === "end") tell(this.finished(outcome, data as api.Job));
        else tell(improved(outcome, data as api.Improvement));
      }
    } catch (error) {
      if (this.abort !== abort) return;
      this.show({ ...outcome, running: false, queued: false, status: "failed" });
      this.fail(error instanceof Error ? error.message : String(error));
    } finally {
      if (this.abort === abort) this.abort = this.job = null;
    }
  }

  // A job; without a bound where the server knows none for such a problem.
  private async begin(request: Json & Wishes): Promise<api.Job> {
    try {
      return await api.startJob(request);
    } catch (error) {
      const noBound = request.bound && error instanceof api.ServerError && error.status === 422 && error.field === "solver";
      if (!noBound) throw error;
      return api.startJob({ ...request, bound: false });
    }
  }

  // Ends the search; what it has found stays, and its result arrives as the last event.
  async stop(): Promise<void> {
    if (this.job) await api.cancelJob(this.job).catch(() => undefined);
  }

  // Ends the search because another takes its place.
  private drop(): void {
    const { abort, job } = this;
    this.abort = this.job = null;
    abort?.abort();
    if (job) void api.cancelJob(job).catch(() => undefined);
  }

  private finished(outcome: Outcome, job: api.Job): Outcome {
    if (job.status === "failed") this.fail(job.reason ?? "The search failed.");
    return ended(outcome, job);
  }
}
