import { describe, expect, test } from 'vitest';
import { paint_plane, streamlines, velocity_at } from '../../src/scene/fluid';
import { FrameDecoder, type FluidPlane, StreamError } from '../../src/stream/frame_decoder';
import { Bytes, header, residuals } from './encoder';

const layout = { generation: 3, bodies: 0, joints: 0, particles: 0, numbers: 0, position_quantum: 1e-4, quaternion_quantum: 2 ** -12 };

/** The section as docs/viewer_stream.md says. */
function fluid_frame(number: number, kind: number, columns: number, rows: number, now: number[][], before: number[][] | null): ArrayBuffer {
  const big = (values: number[][]): bigint[][] => values.map((row) => row.map(BigInt));
  const items = residuals(big(now), big(before ?? now.map(() => [0, 0, 0, 0])));
  const payload = new Bytes().u8(kind).u8(0).u8(2).u8(0).u16(columns).u16(rows).f32(-1, 0.5, 2).f32(0.25, 0.5).f32(2, 10, 500);
  payload.append(new Uint8Array(items.buffer()));
  return header(number === 1 ? 1 : 2, 3, number, 0, 0).section(10, payload).buffer();
}

describe('fluid', () => {
  const first = [[1, -2, 127, 0], [0, 0, 0, 0], [5, 0, -127, 64], [0, 0, 0, -64], [9, 9, 9, 9], [0, 0, 0, 0]];
  const second = first.map((row, k) => (k === 2 ? row.map((x) => x - 3) : row));

  test('planes come out as they were, those that follow as differences', () => {
    const decoder = new FrameDecoder(layout);
    expect(decoder.decode(fluid_frame(1, 1, 3, 2, first, null))).toBe('frame');
    const plane = decoder.frame.fluid!;
    expect([plane.columns, plane.rows, plane.axes, plane.origin, plane.spacing, plane.scale]).toEqual([3, 2, [0, 2], [-1, 0.5, 2], [0.25, 0.5], [2, 10, 500]]);
    expect([...plane.cells]).toEqual(first.flat());
    expect(decoder.decode(fluid_frame(2, 2, 3, 2, second, first))).toBe('frame');
    expect([...decoder.frame.fluid!.cells]).toEqual(second.flat());
  });

  test('a plane that follows none of its size is refused', () => {
    const decoder = new FrameDecoder(layout);
    decoder.decode(fluid_frame(1, 1, 3, 2, first, null));
    expect(() => decoder.decode(fluid_frame(2, 2, 2, 2, first.slice(0, 4), null))).toThrow(StreamError);
  });

  const turning = (n: number): FluidPlane => {
    const cells = new Int16Array(4 * n * n);
    const middle = (n - 1) / 2;
    for (let j = 0; j < n; ++j) for (let i = 0; i < n; ++i) cells.set([Math.round(-4 * (j - middle)), Math.round(4 * (i - middle)), 8, 0], 4 * (j * n + i));
    return { columns: n, rows: n, axes: [0, 2], origin: [0, 0, 0], spacing: [1, 1], scale: [1, 1, 1], cells };
  };

  test('velocity between cells is linear, so that a rigid rotation comes out exactly', () => {
    const u: [number, number] = [0, 0];
    velocity_at(turning(21), 13.25, 7.5, u);
    expect(u[0]).toBeCloseTo(10, 12);
    expect(u[1]).toBeCloseTo(13, 12);
  });

  test('streamlines of a rotation are circles', () => {
    const ends = streamlines(turning(41), 5);
    expect(ends.length).toBeGreaterThan(400);
    for (let k = 0; k < ends.length; k += 4) {
      const radius = (m: number): number => Math.hypot(ends[m]! - 20, ends[m + 1]! - 20);
      // Of the second order: a step of half a cell at the radius r leaves by 0.5^4 / (8 r^3).
      if (radius(k) > 2) expect(Math.abs(radius(k + 2) - radius(k))).toBeLessThan(2e-3);
    }
  });

  test('colours: white at zero, red above, blue below; speeds from dark to light', () => {
    const plane = { ...turning(2), cells: new Int16Array([0, 0, 0, 0, 127, 0, 127, 0, 0, 0, -127, 0, 0, 0, 0, 127]) };
    const pixels = new Uint8Array(16);
    paint_plane(plane, 'vorticity', pixels);
    expect([...pixels.slice(0, 3)]).toEqual([248, 248, 248]);
    expect(pixels[4]!).toBeGreaterThan(pixels[6]!);
    expect(pixels[8]!).toBeLessThan(pixels[10]!);
    paint_plane(plane, 'speed', pixels);
    expect(pixels[4]!).toBeGreaterThan(pixels[0]!);
  });
});
