// What the axes of plots show.

/** Whole decades around the values, at least one and at most sixteen; any range will do where there are no values. */
export function decades(low: number | null, high: number | null): [number, number] {
  if (low === null || high === null || !(low > 0) || !(high >= low) || !Number.isFinite(high)) return [0.1, 1];
  const top = Math.min(300, Math.max(-300, Math.ceil(Math.log10(high) + 1e-9)));
  const bottom = Math.min(top - 1, Math.max(top - 16, -301, Math.floor(Math.log10(low))));
  return [Number(`1e${bottom}`), Number(`1e${top}`)];
}

/** The values and a little room; never so narrow that ticks could not be told apart: what differs by rounding is a line. */
export function room_around(low: number | null, high: number | null): [number, number] {
  if (low === null || high === null || !Number.isFinite(low) || !Number.isFinite(high)) return [0, 1];
  const least = Math.max(1e-9 * Math.max(Math.abs(low), Math.abs(high)), 1e-290);
  const room = high - low < least ? least : 0.12 * (high - low);
  return [low - room, high + room];
}

/** Powers of ten as they are written, at most six of them. (Left to itself uPlot counts without end below 1e-22.) */
export function powers_between(low: number, high: number): number[] {
  const first = Math.round(Math.log10(low));
  const last = Math.round(Math.log10(high));
  const step = Math.max(1, Math.ceil((last - first) / 5));
  const out: number[] = [];
  for (let n = first; n <= last; n += step) out.push(Number(`1e${n}`));
  return out;
}
