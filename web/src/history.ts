// Undo and redo over values that never change in place.

const SAME_EDIT_MS = 1500;

export class History<T> {
  private past: T[] = [];
  private future: T[] = [];
  private lastKind = "";
  private lastTime = -Infinity;

  constructor(
    private present: T,
    private readonly now: () => number = () => performance.now(),
  ) {}

  get value(): T {
    return this.present;
  }

  get canUndo(): boolean {
    return this.past.length > 0;
  }

  get canRedo(): boolean {
    return this.future.length > 0;
  }

  // Edits of one kind that follow each other at once, such as the steps of a slider, are undone together.
  set(value: T, kind = ""): void {
    if (value === this.present) return;
    const time = this.now();
    const goesOn = kind !== "" && kind === this.lastKind && time - this.lastTime < SAME_EDIT_MS;
    if (!goesOn) this.past.push(this.present);
    if (this.past.length > 200) this.past.shift();
    this.present = value;
    this.future = [];
    this.lastKind = kind;
    this.lastTime = time;
  }

  undo(): boolean {
    return this.step(this.past, this.future);
  }

  redo(): boolean {
    return this.step(this.future, this.past);
  }

  private step(from: T[], to: T[]): boolean {
    const value = from.pop();
    if (value === undefined) return false;
    to.push(this.present);
    this.present = value;
    this.lastKind = "";
    return true;
  }
}
