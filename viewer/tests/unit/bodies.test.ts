import { Box3, type InstancedMesh, Matrix4, Quaternion, Raycaster, Vector3 } from 'three';
import { expect, test } from 'vitest';
import { Bodies } from '../../src/scene/bodies';
import type { Frame } from '../../src/stream/frame_decoder';
import type { BodyDescription, SceneMessage, ShapeMessage } from '../../src/stream/messages';

function scene_of(bodies: BodyDescription[]): SceneMessage {
  const bounds: [[number, number, number], [number, number, number]] = [[-10, -10, -10], [10, 10, 10]];
  return { bounds, bodies, joints: [] as SceneMessage['joints'] } as SceneMessage;
}

const body = (name: string, ...shapes: ShapeMessage[]): BodyDescription => ({ name, static: false, mass: 1, com: [0, 0, 0], shapes });

function frame_of(poses: { at: Vector3; turn: Quaternion }[]): Frame {
  return {
    positions: Float64Array.from(poses.flatMap(({ at }) => at.toArray())),
    orientations: Float64Array.from(poses.flatMap(({ turn }) => [turn.w, turn.x, turn.y, turn.z])),
  } as Frame;
}

const turn = new Quaternion().setFromAxisAngle(new Vector3(1, 2, 2).normalize(), 0.7);
const at = new Vector3(1, -2, 3);

test('ten thousand bodies of five shapes are a handful of draw calls', () => {
  const shapes: ShapeMessage[] = [
    { type: 'box', size: [1, 2, 3] },
    { type: 'sphere', radius: 0.3 },
    { type: 'capsule', radius: 0.1, length: 2 },
    { type: 'cone', radius: 1, height: 2 },
    { type: 'mesh', vertices: [0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1], triangles: [0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3] },
  ];
  const drawn = new Bodies(scene_of(Array.from({ length: 10000 }, (_, k) => body(`b_${k}`, shapes[k % 5]!))), false);
  const meshes = drawn.group.children as InstancedMesh[];
  expect(meshes.length).toBe(6); // the capsule is a tube and two domes, which are one geometry
  expect(meshes.reduce((sum, mesh) => sum + mesh.count, 0)).toBe(10000 + 2 * 2000);
});

test('a part of a turned body is where composed matrices put it', () => {
  const part: ShapeMessage = { type: 'box', size: [1, 2, 3], position: [0.5, 0, -1], orientation: [Math.SQRT1_2, 0, Math.SQRT1_2, 0] };
  const drawn = new Bodies(scene_of([body('b', part)]), false);
  drawn.update(frame_of([{ at, turn }]));
  const found = new Matrix4();
  (drawn.group.children[0] as InstancedMesh).getMatrixAt(0, found);
  const quarter = new Quaternion().setFromAxisAngle(new Vector3(0, 1, 0), Math.PI / 2);
  const expected = new Matrix4()
    .compose(at, turn, new Vector3(1, 1, 1))
    .multiply(new Matrix4().compose(new Vector3(0.5, 0, -1), quarter, new Vector3(1, 2, 3)));
  expected.elements.forEach((value, k) => expect(found.elements[k]).toBeCloseTo(value, 5));
});

test('points go to the world and back', () => {
  const drawn = new Bodies(scene_of([body('b', { type: 'sphere', radius: 1 })]), false);
  drawn.update(frame_of([{ at, turn }]));
  const inside: [number, number, number] = [0.1, -0.2, 0.3];
  const there = drawn.place(0, inside, new Vector3());
  const expected = new Vector3(...inside).applyQuaternion(turn).add(at);
  expect(there.distanceTo(expected)).toBeLessThan(1e-12);
  drawn.inside(0, there).forEach((value, k) => expect(value).toBeCloseTo(inside[k]!, 12));
});

test('a ray picks the nearer ball, where it has moved to, and the box around both is right', () => {
  const drawn = new Bodies(scene_of([body('far', { type: 'sphere', radius: 1 }), body('near', { type: 'sphere', radius: 1 })]), false);
  const still = new Quaternion();
  const ray = new Raycaster(new Vector3(0, -20, 0), new Vector3(0, 1, 0));
  drawn.update(frame_of([{ at: new Vector3(0, 5, 0), turn: still }, { at: new Vector3(0, -5, 0), turn: still }]));
  expect(drawn.hit(ray)?.body).toBe(1);
  expect(drawn.hit(ray)!.point.y).toBeCloseTo(-6, 1);
  drawn.update(frame_of([{ at: new Vector3(0, 5, 0), turn: still }, { at: new Vector3(9, -5, 0), turn: still }]));
  expect(drawn.hit(ray)?.body).toBe(0);
  const box = drawn.extent(() => true, new Box3());
  expect(box.min.toArray().map((x) => Number(x.toFixed(5)))).toEqual([-1, -6, -1]);
  expect(box.max.toArray().map((x) => Number(x.toFixed(5)))).toEqual([10, 6, 1]);
});
