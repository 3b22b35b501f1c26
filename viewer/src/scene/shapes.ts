// Shapes as instances of a few unit geometries: every box is the same box under another matrix, so that ten thousand bodies
// are a handful of draw calls.

import {
  BoxGeometry,
  BufferAttribute,
  BufferGeometry,
  ConeGeometry,
  CylinderGeometry,
  Matrix4,
  Quaternion,
  SphereGeometry,
  Vector3,
} from 'three';
import type { ShapeMessage } from '../stream/messages';

export type UnitKind = 'box' | 'ball' | 'marble' | 'dome' | 'tube' | 'cylinder' | 'cone';

export interface Part {
  /** A unit geometry, or the number of a mesh in the list of distinct meshes. */
  geometry: UnitKind | number;
  local: Matrix4;
}

/** Unit geometries, axis z: edge 1, radius 1, height 1. Detail falls with the number of things drawn. */
export function unit_geometry(kind: UnitKind, count: number): BufferGeometry {
  const round = count > 4000 ? 12 : count > 800 ? 20 : count > 60 ? 36 : 64;
  const upright = (geometry: BufferGeometry): BufferGeometry => geometry.rotateX(Math.PI / 2);
  switch (kind) {
    case 'box':
      return new BoxGeometry(1, 1, 1);
    case 'ball':
    case 'marble':
      return upright(new SphereGeometry(1, round, round >> 1));
    case 'dome':
      return upright(new SphereGeometry(1, round, round >> 2, 0, 2 * Math.PI, 0, Math.PI / 2));
    case 'tube':
      return upright(new CylinderGeometry(1, 1, 1, round, 1, true));
    case 'cylinder':
      return upright(new CylinderGeometry(1, 1, 1, round, 1));
    case 'cone':
      return upright(new ConeGeometry(1, 1, round, 1)).translate(0, 0, 0.5);
  }
}

export function mesh_geometry(shape: ShapeMessage): BufferGeometry {
  const indexed = new BufferGeometry();
  indexed.setAttribute('position', new BufferAttribute(new Float32Array(shape.vertices ?? []), 3));
  indexed.setIndex(shape.triangles ?? []);
  const flat = indexed.toNonIndexed();
  flat.computeVertexNormals();
  return flat;
}

function pose_of(shape: ShapeMessage): Matrix4 {
  const [x, y, z] = shape.position ?? [0, 0, 0];
  const [qw, qx, qy, qz] = shape.orientation ?? [1, 0, 0, 0];
  return new Matrix4().compose(new Vector3(x, y, z), new Quaternion(qx, qy, qz, qw).normalize(), new Vector3(1, 1, 1));
}

/** Distinct meshes by their content: equal stones share one geometry. */
export class MeshTable {
  readonly shapes: ShapeMessage[] = [];
  private readonly numbers = new Map<string, number>();

  number(shape: ShapeMessage): number {
    const text = `${shape.vertices?.join()};${shape.triangles?.join()}`;
    let number = this.numbers.get(text);
    if (number === undefined) {
      number = this.shapes.push(shape) - 1;
      this.numbers.set(text, number);
    }
    return number;
  }
}

/** The parts that draw a shape; none for planes, which the ground draws. */
export function parts_of(shape: ShapeMessage, rolling: boolean, meshes: MeshTable): Part[] {
  const pose = pose_of(shape);
  const part = (geometry: UnitKind | number, x: number, y: number, z: number, shift = 0, turned = false): Part => {
    const local = pose.clone();
    if (shift !== 0) local.multiply(new Matrix4().makeTranslation(0, 0, shift));
    if (turned) local.multiply(new Matrix4().makeRotationX(Math.PI));
    return { geometry, local: local.scale(new Vector3(x, y, z)) };
  };
  const r = shape.radius ?? 0.5;
  const h = shape.height ?? 1;
  switch (shape.type) {
    case 'plane':
      return [];
    case 'box':
      return [part('box', ...(shape.size ?? [1, 1, 1]))];
    case 'sphere':
      return [part(rolling ? 'marble' : 'ball', r, r, r)];
    case 'ellipsoid':
      return [part(rolling ? 'marble' : 'ball', ...(shape.radii ?? [0.5, 0.5, 0.5]))];
    case 'cylinder':
      return [part('cylinder', r, r, h)];
    case 'cone':
      return [part('cone', r, r, h)];
    case 'capsule': {
      const length = shape.length ?? 1;
      return [part('tube', r, r, length), part('dome', r, r, r, length / 2), part('dome', r, r, r, -length / 2, true)];
    }
    case 'mesh':
      return [part(meshes.number(shape), 1, 1, 1)];
    default:
      throw new Error(`the page cannot draw the shape "${shape.type}"`);
  }
}
