// The numbers of all frames seen so far, in order of time, thinned out when they become too many.

export class NumberHistory {
  times: number[] = [];
  columns: number[][];

  constructor(
    readonly count: number,
    private readonly most = 4000,
  ) {
    this.columns = Array.from({ length: count }, () => []);
  }

  /** Frames shown again add nothing; those of a stretch that was skipped before are put where they belong. */
  add(time: number, numbers: ArrayLike<number>): void {
    let at = this.times.length;
    while (at > 0 && this.times[at - 1]! > time) --at;
    if (at > 0 && this.times[at - 1] === time) return;
    this.times.splice(at, 0, time);
    this.columns.forEach((column, k) => column.splice(at, 0, numbers[k]!));
    if (this.times.length > this.most) this.thin();
  }

  /** Forgets what is later, e.g. after a restart. */
  cut(after: number): void {
    const keep = this.times.findIndex((time) => time > after);
    if (keep < 0) return;
    this.times.length = keep;
    for (const column of this.columns) column.length = keep;
  }

  /** Whether a number ever was another than at first. */
  changes(k: number): boolean {
    const column = this.columns[k]!;
    const first = column.find((value) => Number.isFinite(value));
    return column.some((value) => Number.isFinite(value) && value !== first);
  }

  /** Whether a number ever was there, and other than 0. */
  present(k: number): boolean {
    return this.columns[k]!.some((value) => Number.isFinite(value) && value !== 0);
  }

  /** Keeps about half, at even distances in time: what is old must not become coarser than what is new. */
  private thin(): void {
    const { times } = this;
    const last = times.length - 1;
    const spacing = (times[last]! - times[0]!) / (this.most / 2);
    let kept = Number.NEGATIVE_INFINITY;
    const keep = times.map((time, k) => {
      if (k !== last && time - kept < spacing) return false;
      kept = time;
      return true;
    });
    const sift = (values: number[]): number[] => values.filter((_, k) => keep[k]);
    this.times = sift(times);
    this.columns = this.columns.map(sift);
  }
}
