import { Color, Vector3 } from 'three';
import { expect, test } from 'vitest';
import { Colouring } from '../../src/scene/palette';
import { Space } from '../../src/scene/space';
import type { Frame } from '../../src/stream/frame_decoder';
import type { BodyDescription, SceneMessage, Vector } from '../../src/stream/messages';
import { moment_text, speed_text, speeds_for } from '../../src/ui/speeds';
import { first_sentence } from '../../src/ui/format';

function scene_of(low: Vector, high: Vector): SceneMessage {
  return { bounds: [low, high], gravity: [0, 0, -9.81], bodies: [], joints: [], links: [], particles: { count: 0, radius: 0.01, pinned: [], groups: [] } } as unknown as SceneMessage;
}

test('scenes of everyday size are drawn as they are', () => {
  const scene = scene_of([-1, -1, 0], [3, 1, 2]);
  const space = Space.of(scene);
  expect(space.plain).toBe(true);
  expect(space.scene(scene)).toBe(scene);
});

test.each([
  ['planets', [-6e11, -1.4e12, 0] as Vector, [6e11, 1.4e11, 1e8] as Vector],
  ['a bridge in the coordinates of a map', [4.5e6, 5.4e6, 200] as Vector, [4.5e6 + 20, 5.4e6 + 4, 210] as Vector],
  ['a watch', [0, 0, 0] as Vector, [1e-3, 1e-3, 2e-4] as Vector],
])('%s: two points a millionth of the scene apart are told apart in floats', (_, low, high) => {
  const space = Space.of(scene_of(low, high));
  const size = Math.hypot(...low.map((x, k) => high[k]! - x));
  const a: Vector = [high[0], high[1], high[2]];
  const b: Vector = [high[0] - 1e-6 * size, high[1], high[2]];
  const drawn = (p: Vector): number => Math.fround(space.to_drawn(p)[0]);
  expect(((drawn(a) - drawn(b)) * space.unit) / (1e-6 * size)).toBeCloseTo(1, 0);
  expect(Math.hypot(...space.to_drawn(a))).toBeLessThan(1e3);
  const back = space.to_metres(new Vector3(...space.to_drawn(a)));
  a.forEach((x, k) => expect(Math.abs(back[k]! - x)).toBeLessThanOrEqual(1e-9 * size));
});

test('a frame is drawn about the origin, and stays as it came', () => {
  const space = Space.of(scene_of([1e6, 0, 0], [1e6 + 1, 1, 1]));
  const frame = { positions: Float64Array.from([1e6 + 0.25, 0.5, 0.75]), particles: new Float64Array(), contacts: null, joint_forces: null } as unknown as Frame;
  const drawn = space.frame(frame);
  const [x, y, z] = space.to_drawn([1e6 + 0.25, 0.5, 0.75]);
  expect([...drawn.positions]).toEqual([x, y, z]);
  expect(frame.positions[0]).toBe(1e6 + 0.25);
});

test('speeds fit what is shown', () => {
  expect(speeds_for(1)).toContain(1);
  const planets = speeds_for(20 * 86400);
  expect(planets).toContain(20 * 86400);
  expect(planets.map((speed) => speed_text(speed, 20 * 86400))).toContain('20 d/s');
  expect(speed_text(500 * 86400, 20 * 86400)).toBe('500 d/s');
  expect(Math.max(...planets)).toBeGreaterThan(1e7);
  expect(speed_text(0.25)).toBe('0.25×');
  expect(speed_text(2e-3, 1e-3)).toBe('2 ms/s');
  expect(moment_text(3.5 * 86400, 86400)).toBe('3.50 d');
  expect(moment_text(1.5, 0.01)).toBe('1.50 s');
});

test('a description is cut where a sentence ends, never within', () => {
  expect(first_sentence('A wall of bricks. It stands.')).toBe('A wall of bricks.');
  expect(first_sentence('A wall; it stands')).toBe('A wall');
  expect(first_sentence('friction of 0.5 holds it')).toBe('friction of 0.5 holds it');
});

test('colours by speed: fixed bodies keep theirs, the fastest is red, the scale is round', () => {
  const body = (fixed: boolean): BodyDescription => ({ name: 'b', static: fixed, mass: fixed ? 0 : 1, com: [0, 0, 0], shapes: [] });
  const colouring = new Colouring([body(true), body(false), body(false)], 'speed');
  colouring.begin({ velocities: Float32Array.from([9, 0, 0, 0, 0, 0, 0, 3.9, 0]) } as unknown as Frame);
  expect(colouring.high).toBe(5);
  const own = new Color('#123456');
  const found = [0, 1, 2].map((k) => colouring.colour(k, own, new Color()));
  expect(found[0]!.equals(own)).toBe(true);
  expect(found[1]!.b).toBeGreaterThan(found[1]!.r);
  expect(found[2]!.r).toBeGreaterThan(found[2]!.b);
});
