// Numbers for people: four digits, whatever the size.

export function number_text(value: number): string {
  if (Number.isNaN(value)) return '–';
  if (!Number.isFinite(value)) return value > 0 ? '∞' : '−∞';
  const size = Math.abs(value);
  if (size === 0) return '0';
  const text = size >= 1e5 || size < 1e-3 ? value.toExponential(2).replace('e+', 'e') : size >= 1000 ? value.toFixed(0) : String(Number(value.toPrecision(4)));
  return text.replace(/-/g, '−');
}

/** As short as can be, for the ticks of axes. */
export function tick_text(value: number): string {
  const size = Math.abs(value);
  if (size === 0) return '0';
  const short = Number(value.toPrecision(6));
  return (size >= 1e5 || size < 1e-3 ? short.toExponential().replace('e+', 'e') : String(short)).replace(/-/g, '−');
}

/** Thousandths, or tenths, where that is fine enough and not endless; what rounds to zero has no sign. */
export function vector_text(values: readonly number[]): string {
  const largest = Math.max(...values.map(Math.abs));
  if (largest >= 1e5 || (largest > 0 && largest < 0.01)) return values.map((v) => number_text(Math.abs(v) < 1e-6 * largest ? 0 : v)).join('  ');
  return values.map((v) => v.toFixed(Math.abs(v) >= 100 ? 1 : 3).replace(/^-(?=[0.]+$)/, '').replace('-', '−')).join('  ');
}

/** Of steps that a budget ended: how many, and what was left. */
export function cut_text(steps: number, residual: number): string {
  return steps === 0 ? '' : `${steps} ${steps === 1 ? 'step' : 'steps'} cut, residual ${number_text(residual)}`;
}

/** Of a description its first sentence: what fits into a line, and is whole. */
export function first_sentence(text: string): string {
  const end = /[.;](?=\s)/.exec(text);
  return end ? text.slice(0, end.index + (end[0] === '.' ? 1 : 0)) : text;
}

/** "brick_wall" as "Brick wall". */
export function title_text(name: string): string {
  const words = name.replace(/_/g, ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
