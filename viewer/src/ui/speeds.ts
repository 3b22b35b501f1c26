// Speeds of the show, and times, in units that fit them: 2× for a pendulum, 20 d/s for planets, 5 ms/s for a blow.

const units: [seconds: number, name: string][] = [
  [365.25 * 86400, 'yr'],
  [86400, 'd'],
  [3600, 'h'],
  [60, 'min'],
  [1, 's'],
  [1e-3, 'ms'],
  [1e-6, 'µs'],
];

const usual = [0.05, 0.1, 0.25, 0.5, 1, 2, 4, 10];

const unit_of = (seconds: number): [number, string] => units.find(([length]) => seconds >= 0.9999 * length) ?? units[units.length - 1]!;

/** What can be chosen in a scene that is well watched at this pace: everyday speeds, or round ones about the pace. */
export function speeds_for(pace: number): number[] {
  if (pace === 1) return usual;
  const [unit] = unit_of(pace);
  const out: number[] = [];
  for (let power = -3; power <= 4; ++power) for (const digit of [1, 2, 5]) out.push(digit * 10 ** power * unit);
  return out.filter((speed) => speed >= 0.019 * pace && speed <= 51 * pace);
}

/** In the unit of the pace, where that is not the clock's. */
export function speed_text(speed: number, pace = 1): string {
  if (pace === 1 && speed >= 0.001 && speed <= 1000) return `${Number(speed.toPrecision(2))}×`;
  const [length, name] = unit_of(pace === 1 ? speed : pace);
  return `${Number((speed / length).toPrecision(3))} ${name}/s`;
}

/** A moment of a run that takes steps of this length. */
export function moment_text(seconds: number, step: number): string {
  const [length, name] = step > 1000 ? (Math.abs(seconds) >= 2 * 365.25 * 86400 ? units[0]! : step >= 3600 ? units[1]! : units[2]!) : [1, 's'];
  const value = seconds / length;
  const digits = step < 1e-4 && Math.abs(value) < 10 ? 4 : Math.abs(value) >= 100 ? 1 : 2;
  return `${value.toFixed(digits)} ${name}`;
}
