import { describe, expect, test } from 'vitest';
import { FrameDecoder, StreamError, type StreamLayout } from '../../src/stream/frame_decoder';
import { Bytes, header, residuals } from './encoder';

const quantum = 1e-4;
const layout = (change: Partial<StreamLayout> = {}): StreamLayout => ({
  generation: 3,
  bodies: 0,
  joints: 0,
  particles: 0,
  numbers: 0,
  position_quantum: quantum,
  quaternion_quantum: 2 ** -12,
  ...change,
});

/** Rows of integers of a body that flies on a parabola and turns about z; some bodies rest. */
function motion(frame: number, bodies: number): bigint[][] {
  return Array.from({ length: bodies }, (_, k) => {
    const moving = k % 3 === 0;
    const t = moving ? frame / 60 : 0;
    const position = [k + 3 * t, -k * t, 5 + 2 * t - 4.905 * t * t];
    const angle = t * (1 + k / 10);
    const quaternion = [Math.cos(angle / 2), 0, 0, Math.sin(angle / 2)];
    return [...position.map((x) => Math.round(x / quantum)), ...quaternion.map((q) => Math.round(q * 4096))].map(BigInt);
  });
}

/** Frames of a motion, encoded with integers of any size. */
function encode(frames: bigint[][][], keys: number[], section: number): ArrayBuffer[] {
  let since_key = 0;
  return frames.map((rows, n) => {
    const key = keys.includes(n);
    since_key = key ? 0 : since_key + 1;
    const predictions = rows.map((row, k) =>
      row.map((_, j) => {
        if (key) return 0n;
        const last = frames[n - 1]![k]![j]!;
        return since_key === 1 ? last : 2n * last - frames[n - 2]![k]![j]!;
      }),
    );
    return header(key ? 1 : 2, 3, 100 + n, n / 60, 16 * n).section(section, residuals(rows, predictions)).buffer();
  });
}

describe('bodies', () => {
  test('poses of a motion come out to the quantum, over keys and deltas', () => {
    const bodies = 100;
    const frames = Array.from({ length: 40 }, (_, n) => motion(n, bodies));
    const decoder = new FrameDecoder(layout({ bodies }));
    encode(frames, [0, 25], 1).forEach((bytes, n) => {
      expect(decoder.decode(bytes)).toBe('frame');
      const { time, step, number, positions, orientations } = decoder.frame;
      expect([time, step, number]).toEqual([n / 60, 16 * n, 100 + n]);
      frames[n]!.forEach((row, k) => {
        for (let j = 0; j < 3; ++j) expect(positions[3 * k + j]).toBeCloseTo(Number(row[j]) * quantum, 9);
        const length = Math.hypot(...row.slice(3).map(Number));
        for (let j = 0; j < 4; ++j) expect(orientations[4 * k + j]).toBeCloseTo(Number(row[3 + j]) / length, 12);
      });
    });
  });

  test('resting bodies cost two bytes in all', () => {
    const frames = [motion(0, 1000), motion(0, 1000)];
    const [, delta] = encode(frames, [0], 1);
    expect(delta!.byteLength).toBe(20 + 5 + 3); // mask, varint of 1000
  });

  test('bytes written by hand', () => {
    const decoder = new FrameDecoder(layout({ bodies: 2 }));
    const key = header(1, 3, 7, 0.5, 4).section(1, new Bytes().append([0x0c, 0x01, 0x02, 0x8b, 0xac, 0x02, 0x90, 0x4e, 0x80, 0x01]));
    // First body: z = -1, w = 1; then a mask with a bit that does not exist.
    expect(() => decoder.decode(key.buffer())).toThrow(StreamError);
    const good = header(1, 3, 8, 0.5, 4).section(1, new Bytes().append([0x0c, 0x01, 0x02, 0x09, 0xa0, 0x9c, 0x01, 0x02]));
    expect(decoder.decode(good.buffer())).toBe('frame');
    expect([...decoder.frame.positions]).toEqual([0, 0, -1e-4, 1, 0, 0]);
    expect([...decoder.frame.orientations]).toEqual([1, 0, 0, 0, 1, 0, 0, 0]);
  });

  test('values beyond 32 bits are exact', () => {
    const far = 1n << 50n;
    const rows = (n: bigint): bigint[][] => [[far + n, -far - 3n * n, 5n * n]];
    const decoder = new FrameDecoder(layout({ particles: 1, position_quantum: 1 }));
    const frames = [rows(0n), rows(1n), rows(2n), rows(3n), rows(3n)];
    encode(frames, [0], 2).forEach((bytes, n) => {
      decoder.decode(bytes);
      expect([...decoder.frame.particles]).toEqual(frames[n]![0]!.map(Number));
    });
  });
});

describe('what goes missing', () => {
  const frames = Array.from({ length: 6 }, (_, n) => motion(n, 4));
  const encoded = encode(frames, [0, 5], 1);

  test('after a gap every delta is lost until a key comes', () => {
    const decoder = new FrameDecoder(layout({ bodies: 4 }));
    const outcomes = [0, 1, 3, 4, 5].map((n) => decoder.decode(encoded[n]!));
    expect(outcomes).toEqual(['frame', 'frame', 'lost', 'lost', 'frame']);
  });

  test('a stream that starts with a delta is lost', () => {
    expect(new FrameDecoder(layout({ bodies: 4 })).decode(encoded[1]!)).toBe('lost');
  });

  test('frames of another generation are left alone', () => {
    expect(new FrameDecoder(layout({ bodies: 4, generation: 4 })).decode(encoded[0]!)).toBe('other generation');
  });

  test('a frame cut short is refused wherever it is cut within a section, and a key mends it', () => {
    const decoder = new FrameDecoder(layout({ bodies: 4 }));
    const whole = encoded[0]!;
    for (let length = 0; length < whole.byteLength; ++length) {
      if (length === 20) continue; // a header without sections is a frame
      expect(() => decoder.decode(whole.slice(0, length)), `${length} bytes`).toThrow(StreamError);
    }
    expect(decoder.decode(encoded[1]!)).toBe('lost');
    expect(decoder.decode(encoded[5]!)).toBe('frame');
  });
});

test('the other sections, and one of a program to come', () => {
  const decoder = new FrameDecoder(layout({ bodies: 9, joints: 1, numbers: 2 }));
  const contact = [1, 2, 3, 0, 0, 1, 0.5, 0, 9.5, -0.25];
  const bytes = header(1, 3, 0, 0, 0)
    .section(3, new Bytes().u32(2).f32(...contact, ...contact))
    .section(99, new Bytes().u32(1))
    .section(4, new Bytes().f32(1, 2, 3, 4, 5, 6))
    .section(5, new Bytes().f32(...Array.from({ length: 27 }, (_, k) => k)))
    .section(6, [0, 1, 2, 3, 4, 5, 6, 7, 0xffff].reduce((b, v) => b.u16(v), new Bytes()))
    .section(7, new Bytes().u8(0b10).u8(1))
    .section(8, new Bytes().f64(12.5, Number.NaN))
    .buffer();
  expect(decoder.decode(bytes)).toBe('frame');
  const frame = decoder.frame;
  expect(frame.contacts!.count).toBe(2);
  expect([...frame.contacts!.values.slice(10)]).toEqual(contact);
  expect([...frame.joint_forces!]).toEqual([1, 2, 3, 4, 5, 6]);
  expect(frame.velocities![26]).toBe(26);
  expect(frame.islands![8]).toBe(0xffff);
  expect([...frame.sleeping!]).toEqual([2, 1]);
  expect([...frame.numbers]).toEqual([12.5, Number.NaN]);
  // What is not sent is not shown any more.
  decoder.decode(header(2, 3, 1, 0.1, 1).buffer());
  expect(decoder.frame.contacts).toBeNull();
  expect(decoder.frame.islands).toBeNull();
});

test('a section of the wrong length is refused', () => {
  const decoder = new FrameDecoder(layout({ bodies: 2, joints: 1, numbers: 1 }));
  for (const id of [3, 4, 5, 6, 7, 8]) {
    const bytes = header(1, 3, 0, 0, 0).section(id, new Bytes().append([9, 0, 0, 0, 0, 0, 0])).buffer();
    expect(() => decoder.decode(bytes), `section ${id}`).toThrow(StreamError);
  }
});
