import { expect, test } from 'vitest';
import { ModeShape } from '../../src/scene/mode_shape';
import type { Frame } from '../../src/stream/frame_decoder';
import type { ModeMessage, SceneMessage } from '../../src/stream/messages';

const scene = { bodies: [{ com: [0, 0, 0] }, { com: [1, 0, 0] }] } as unknown as SceneMessage;
const frame = {
  positions: Float64Array.from([0, 0, 0, 2, 0, 0]),
  orientations: Float64Array.from([1, 0, 0, 0, 1, 0, 0, 0]),
  particles: Float64Array.from([5, 5, 5]),
} as unknown as Frame;

function mode(bodies: number[], particles: number[] = [0, 0, 0, 0, 0, 0]): ModeMessage {
  return { say: 'mode', mode: 0, frequency: 1, damping_ratio: 0, bodies, particles };
}
const still = new Array<number>(12).fill(0);

test('a translation goes to and fro, as far as is well seen, and the frame stays as it was', () => {
  const up = [0, 0, 0, 0, 0.5, 0, ...new Array<number>(6).fill(0)];
  const shape = new ModeShape(mode([...up, ...still], [2, 0, 0, 0, 0, 0]), scene, 10, 1);
  const out = shape.apply(frame, 0);
  expect(out.particles[0]).toBeCloseTo(5 + 0.8, 12); // the largest: 0.08 of the size
  expect(out.positions[2]).toBeCloseTo(0.2, 12);
  expect([...out.positions.slice(3)]).toEqual([2, 0, 0]);
  expect(shape.apply(frame, Math.PI).positions[2]).toBeCloseTo(-0.2, 12);
  expect(frame.positions[2]).toBe(0);
});

test('a rotation is about the centre of mass, which stays where it is', () => {
  const turn = [...new Array<number>(10).fill(0), 1, 0];
  const shape = new ModeShape(mode([...still, ...turn]), scene, 10, 1);
  expect(shape.amplitude).toBeCloseTo(0.4, 12);
  const out = shape.apply(frame, 0);
  const angle = 0.4;
  // The centre is at 3, the frame's origin 1 m before it.
  expect(out.positions[3]).toBeCloseTo(3 - Math.cos(angle), 12);
  expect(out.positions[4]).toBeCloseTo(-Math.sin(angle), 12);
  expect(out.orientations[4]).toBeCloseTo(Math.cos(angle / 2), 12);
  expect(out.orientations[7]).toBeCloseTo(Math.sin(angle / 2), 12);
});

test('imaginary parts are a quarter of an oscillation behind; a mode that moves nothing is drawn as nothing', () => {
  const lag = [0, 1, ...new Array<number>(10).fill(0)];
  const shape = new ModeShape(mode([...lag, ...still]), scene, 10, 1);
  expect(shape.apply(frame, 0).positions[0]).toBeCloseTo(0, 12);
  expect(shape.apply(frame, -Math.PI / 2).positions[0]).toBeCloseTo(0.8, 12);
  expect(new ModeShape(mode([...still, ...still]), scene, 10, 1).apply(frame, 1).positions[3]).toBe(2);
});
