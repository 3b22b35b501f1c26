// All bodies of a scene: one instanced mesh per geometry, its matrices written from the poses of each frame.

import { Box3, BufferGeometry, Color, DynamicDrawUsage, Group, InstancedMesh, type Material, Matrix4, type Raycaster, Vector3 } from 'three';
import type { Frame } from '../stream/frame_decoder';
import type { SceneMessage } from '../stream/messages';
import { body_material, type Surface } from './materials';
import { MeshTable, mesh_geometry, parts_of, unit_geometry, type Part, type UnitKind } from './shapes';

interface Batch {
  mesh: InstancedMesh;
  bodies: Uint32Array;
  locals: Float64Array;
  round: boolean;
  fixed: boolean;
  /** Of the geometry before any matrix. */
  middle: Vector3;
  half: Vector3;
}

export interface Hit {
  body: number;
  point: Vector3;
}

const surfaces: Partial<Record<UnitKind, Surface>> = { box: 'box', marble: 'marble', cylinder: 'wheel' };

export class Bodies {
  readonly group = new Group();
  /** Row-major 3 x 4 pose of each body. */
  readonly poses: Float64Array;
  private readonly batches: Batch[] = [];
  private glass: 'all' | 'fixed' | 'none' = 'none';

  constructor(scene: SceneMessage, light_mode: boolean) {
    this.poses = new Float64Array(12 * scene.bodies.length);
    const jointed = new Set(scene.joints.flatMap((joint) => joint.bodies));
    const meshes = new MeshTable();
    const parts = new Map<string, { body: number; part: Part }[]>();
    const points = 0.012 * size_of(scene);
    scene.bodies.forEach((body, k) => {
      const rolling = !jointed.has(k) && !body.static;
      const own = body.shapes.flatMap((shape) => parts_of(shape, rolling, meshes));
      // A body without a shape is a point with a mass: drawn as a small ball.
      if (body.shapes.length === 0 && !body.static)
        own.push({ geometry: 'ball', local: new Matrix4().makeScale(points, points, points).setPosition(...body.com) });
      for (const part of own) {
        const key = `${part.geometry} ${body.static}`;
        const list = parts.get(key) ?? [];
        if (list.length === 0) parts.set(key, list);
        list.push({ body: k, part });
      }
    });
    const materials = new Map<string, Material>();
    for (const list of parts.values()) {
      const kind = list[0]!.part.geometry;
      const fixed = scene.bodies[list[0]!.body]!.static;
      const geometry = typeof kind === 'number' ? mesh_geometry(meshes.shapes[kind]!) : unit_geometry(kind, list.length);
      const surface = (typeof kind === 'number' ? undefined : surfaces[kind]) ?? 'plain';
      const key = `${surface} ${fixed}`;
      const material = materials.get(key) ?? body_material(surface, light_mode);
      materials.set(key, material);
      this.batches.push(this.batch(geometry, material, list, kind === 'ball' || kind === 'marble', fixed));
    }
  }

  private batch(geometry: BufferGeometry, material: Material, list: { body: number; part: Part }[], round: boolean, fixed: boolean): Batch {
    const mesh = new InstancedMesh(geometry, material, list.length);
    mesh.instanceMatrix.setUsage(DynamicDrawUsage);
    mesh.castShadow = true;
    mesh.receiveShadow = true;
    mesh.frustumCulled = false;
    const locals = new Float64Array(12 * list.length);
    list.forEach(({ part }, k) => {
      const m = part.local.elements;
      for (let row = 0; row < 3; ++row) for (let column = 0; column < 4; ++column) locals[12 * k + 4 * row + column] = m[4 * column + row]!;
    });
    this.group.add(mesh);
    geometry.computeBoundingBox();
    const middle = geometry.boundingBox!.getCenter(new Vector3());
    const half = geometry.boundingBox!.getSize(new Vector3()).multiplyScalar(0.5);
    return { mesh, bodies: Uint32Array.from(list, ({ body }) => body), locals, round, fixed, middle, half };
  }

  /** The box around all bodies that the test lets through, where they are now. */
  extent(chosen: (body: number) => boolean, into: Box3): Box3 {
    for (const { mesh, bodies, round, middle, half } of this.batches) {
      const m = mesh.instanceMatrix.array;
      for (let k = 0; k < bodies.length; ++k) {
        if (!chosen(bodies[k]!)) continue;
        const o = 16 * k;
        for (let row = 0; row < 3; ++row) {
          const a = m[o + row]!;
          const b = m[o + 4 + row]!;
          const c = m[o + 8 + row]!;
          const centre = m[o + 12 + row]! + a * middle.x + b * middle.y + c * middle.z;
          const reach = round ? Math.sqrt(a * a + b * b + c * c) : Math.abs(a) * half.x + Math.abs(b) * half.y + Math.abs(c) * half.z;
          into.min.setComponent(row, Math.min(into.min.getComponent(row), centre - reach));
          into.max.setComponent(row, Math.max(into.max.getComponent(row), centre + reach));
        }
      }
    }
    return into;
  }

  update(frame: Frame): void {
    write_poses(frame, this.poses);
    for (const batch of this.batches) write_matrices(batch, this.poses);
  }

  paint(colour_of: (body: number) => Color): void {
    for (const { mesh, bodies } of this.batches) {
      for (let k = 0; k < bodies.length; ++k) mesh.setColorAt(k, colour_of(bodies[k]!));
      mesh.instanceColor!.needsUpdate = true;
    }
  }

  /** The colour of a body's first part; none where nothing is drawn of it. */
  colour(body: number): string {
    for (const { mesh, bodies } of this.batches) {
      const k = bodies.indexOf(body);
      if (k < 0 || !mesh.instanceColor) continue;
      const colour = new Color();
      mesh.getColorAt(k, colour);
      return `#${colour.getHexString()}`;
    }
    return '';
  }

  /** Which bodies can be seen through: all, those that never move (a box around the others), or none. */
  set_translucent(which: 'all' | 'fixed' | 'none'): void {
    this.glass = which;
    for (const { mesh, fixed } of this.batches) {
      const material = mesh.material as Material;
      const on = which === 'all' || (which === 'fixed' && fixed);
      mesh.castShadow = which !== 'fixed' || !fixed;
      material.transparent = on;
      material.opacity = on ? (which === 'all' ? 0.35 : 0.22) : 1;
      material.depthWrite = !on;
      material.needsUpdate = true;
    }
  }

  /** The body that a ray meets first; glass walls do not count. */
  hit(ray: Raycaster): Hit | null {
    let best: { body: number; point: Vector3; distance: number } | null = null;
    for (const { mesh, bodies, fixed } of this.batches) {
      if (fixed && this.glass === 'fixed') continue;
      mesh.boundingSphere = null; // of the last pick: the instances have moved since
      for (const found of ray.intersectObject(mesh, false))
        if (found.instanceId !== undefined && (best === null || found.distance < best.distance))
          best = { body: bodies[found.instanceId]!, point: found.point, distance: found.distance };
    }
    return best;
  }

  /** A point of a body, given in its axes, in the world. */
  place(body: number, at: readonly number[], into: Vector3): Vector3 {
    if (body < 0) return into.set(at[0]!, at[1]!, at[2]!);
    const p = this.poses;
    const o = 12 * body;
    const [x, y, z] = at as [number, number, number];
    return into.set(
      p[o]! * x + p[o + 1]! * y + p[o + 2]! * z + p[o + 3]!,
      p[o + 4]! * x + p[o + 5]! * y + p[o + 6]! * z + p[o + 7]!,
      p[o + 8]! * x + p[o + 9]! * y + p[o + 10]! * z + p[o + 11]!,
    );
  }

  /** A point of the world in a body's axes. */
  inside(body: number, at: Vector3): [number, number, number] {
    const p = this.poses;
    const o = 12 * body;
    const x = at.x - p[o + 3]!;
    const y = at.y - p[o + 7]!;
    const z = at.z - p[o + 11]!;
    return [p[o]! * x + p[o + 4]! * y + p[o + 8]! * z, p[o + 1]! * x + p[o + 5]! * y + p[o + 9]! * z, p[o + 2]! * x + p[o + 6]! * y + p[o + 10]! * z];
  }

  dispose(): void {
    for (const { mesh } of this.batches) {
      mesh.geometry.dispose();
      mesh.dispose();
    }
    for (const { mesh } of this.batches) (mesh.material as Material).dispose();
  }
}

/** Diagonal of the bounds, never 0. */
export function size_of(scene: SceneMessage): number {
  const [low, high] = scene.bounds;
  const size = Math.hypot(high[0] - low[0], high[1] - low[1], high[2] - low[2]);
  return size > 0 && Number.isFinite(size) ? size : 1;
}

function write_poses(frame: Frame, poses: Float64Array): void {
  const { positions, orientations } = frame;
  for (let k = 0; 12 * k < poses.length; ++k) {
    const w = orientations[4 * k]!;
    const x = orientations[4 * k + 1]!;
    const y = orientations[4 * k + 2]!;
    const z = orientations[4 * k + 3]!;
    const o = 12 * k;
    poses[o] = 1 - 2 * (y * y + z * z);
    poses[o + 1] = 2 * (x * y - w * z);
    poses[o + 2] = 2 * (x * z + w * y);
    poses[o + 3] = positions[3 * k]!;
    poses[o + 4] = 2 * (x * y + w * z);
    poses[o + 5] = 1 - 2 * (x * x + z * z);
    poses[o + 6] = 2 * (y * z - w * x);
    poses[o + 7] = positions[3 * k + 1]!;
    poses[o + 8] = 2 * (x * z - w * y);
    poses[o + 9] = 2 * (y * z + w * x);
    poses[o + 10] = 1 - 2 * (x * x + y * y);
    poses[o + 11] = positions[3 * k + 2]!;
  }
}

/** Instance matrices (column-major) = pose of the body times place in the body. */
function write_matrices({ mesh, bodies, locals }: Batch, poses: Float64Array): void {
  const out = mesh.instanceMatrix.array as Float32Array;
  for (let k = 0; k < bodies.length; ++k) {
    const p = 12 * bodies[k]!;
    const l = 12 * k;
    const m = 16 * k;
    for (let row = 0; row < 3; ++row) {
      const a = poses[p + 4 * row]!;
      const b = poses[p + 4 * row + 1]!;
      const c = poses[p + 4 * row + 2]!;
      out[m + row] = a * locals[l]! + b * locals[l + 4]! + c * locals[l + 8]!;
      out[m + 4 + row] = a * locals[l + 1]! + b * locals[l + 5]! + c * locals[l + 9]!;
      out[m + 8 + row] = a * locals[l + 2]! + b * locals[l + 6]! + c * locals[l + 10]!;
      out[m + 12 + row] = a * locals[l + 3]! + b * locals[l + 7]! + c * locals[l + 11]! + poses[p + 4 * row + 3]!;
    }
    out[m + 15] = 1;
  }
  mesh.instanceMatrix.needsUpdate = true;
}
