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

  private thin(): void {
    const last = this.times.length - 1;
    const every_second = (values: number[]): number[] => values.filter((_, k) => k % 2 === 0 || k === last);
    this.times = every_second(this.times);
    this.columns = this.columns.map(every_second);
  }
}
