import { describe, expect, it } from 'vitest';
import { decades, powers_between, room_around } from '../../src/ui/plots_range';

describe('ranges of plots', () => {
  it('are whole decades, as they are written', () => {
    for (let n = -31; n < 31; ++n) expect(decades(1.5 * Number(`1e${n}`), 2 * Number(`1e${n}`))).toEqual([Number(`1e${n}`), Number(`1e${n + 1}`)]);
    expect(decades(1e-24, 3e-24)[0]).toBe(1e-24);
    expect(powers_between(...decades(1e-30, 1e-22))).toEqual([1e-30, 1e-28, 1e-26, 1e-24, 1e-22]);
    expect(powers_between(0.1, 1)).toEqual([0.1, 1]);
    expect(decades(null, null)).toEqual([0.1, 1]);
  });
  it('are never as narrow as rounding', () => {
    const [low, high] = room_around(0.5, 0.5 + 1e-16);
    expect(high - low).toBeGreaterThan(1e-10);
    expect(room_around(0, 10)).toEqual([-1.2, 11.2]);
    expect(room_around(Number.NEGATIVE_INFINITY, 1)).toEqual([0, 1]);
  });
});
