// Things drawn in numbers that change from frame to frame: balls, sticks, arrows, coils. Each is an instanced mesh that grows
// when it must. A ghost pass shows faintly what is hidden behind bodies.

import { CatmullRomCurve3, type BufferGeometry, Color, ConeGeometry, CylinderGeometry, DynamicDrawUsage, Group, InstancedMesh, Matrix4, MeshBasicMaterial, MeshLambertMaterial, SphereGeometry, TubeGeometry, Vector3 } from 'three';

const from_axis = new Vector3();
const side_a = new Vector3();
const side_b = new Vector3();
const matrix = new Matrix4();

export class Instances {
  readonly group = new Group();
  private used = 0;
  private meshes: InstancedMesh[] = [];
  private capacity = 0;

  constructor(
    private readonly geometry: BufferGeometry,
    private readonly colour: string,
    private readonly options: { ghost?: boolean; shaded?: boolean; shadow?: boolean } = {},
  ) {
    this.reserve(64);
  }

  private reserve(capacity: number): void {
    const old = this.meshes;
    const { ghost = false, shaded = false, shadow = false } = this.options;
    const make = (behind: boolean): InstancedMesh => {
      const look = { color: new Color(this.colour), ...(behind ? { transparent: true, opacity: 0.28, depthTest: false, depthWrite: false } : {}) };
      const material = shaded && !behind ? new MeshLambertMaterial(look) : new MeshBasicMaterial({ ...look, toneMapped: false });
      const mesh = new InstancedMesh(this.geometry, material, capacity);
      mesh.instanceMatrix.setUsage(DynamicDrawUsage);
      mesh.count = this.used;
      mesh.frustumCulled = false;
      mesh.castShadow = shadow && !behind;
      mesh.receiveShadow = shadow && !behind;
      mesh.renderOrder = behind ? 20 : 0;
      if (old[0]) (mesh.instanceMatrix.array as Float32Array).set(old[0].instanceMatrix.array);
      this.group.add(mesh);
      return mesh;
    };
    this.meshes = ghost ? [make(false), make(true)] : [make(false)];
    // Both passes read the same matrices.
    if (ghost) this.meshes[1]!.instanceMatrix = this.meshes[0]!.instanceMatrix;
    this.capacity = capacity;
    for (const mesh of old) release(mesh);
  }

  begin(): void {
    this.used = 0;
  }

  private next(): Float32Array {
    if (this.used === this.capacity) this.reserve(2 * this.capacity);
    return this.meshes[0]!.instanceMatrix.array as Float32Array;
  }

  ball(at: Vector3, radius: number): void {
    matrix.makeScale(radius, radius, radius).setPosition(at);
    matrix.toArray(this.next(), 16 * this.used++);
  }

  /** The geometry's z axis from one point to another, its x and y scaled by the radius. */
  between(from: Vector3, to: Vector3, radius: number): void {
    from_axis.subVectors(to, from);
    const length = from_axis.length();
    if (!(length > 0)) return;
    side_a.set(Math.abs(from_axis.x) < 0.5 * length ? 1 : 0, Math.abs(from_axis.x) < 0.5 * length ? 0 : 1, 0).cross(from_axis).setLength(radius);
    side_b.crossVectors(from_axis, side_a).setLength(radius);
    matrix.makeBasis(side_a, side_b, from_axis).setPosition(from);
    matrix.toArray(this.next(), 16 * this.used++);
  }

  end(): void {
    for (const mesh of this.meshes) mesh.count = this.used;
    this.meshes[0]!.instanceMatrix.needsUpdate = true;
  }

  dispose(): void {
    for (const mesh of this.meshes) release(mesh);
    this.geometry.dispose();
  }
}

function release(mesh: InstancedMesh): void {
  mesh.removeFromParent();
  for (const material of [mesh.material].flat()) material.dispose();
  mesh.dispose();
}

export const ball_geometry = (detail = 14): BufferGeometry => new SphereGeometry(1, detail, Math.max(6, detail >> 1));
export const stick_geometry = (): BufferGeometry => new CylinderGeometry(1, 1, 1, 10).rotateX(Math.PI / 2).translate(0, 0, 0.5);
const head_geometry = (): BufferGeometry => new ConeGeometry(1, 1, 14).rotateX(Math.PI / 2).translate(0, 0, 0.5);

/** A coil spring of unit length and radius along z, with straight ends. */
export function coil_geometry(turns = 9): BufferGeometry {
  const points: Vector3[] = [new Vector3(0, 0, 0), new Vector3(0, 0, 0.06)];
  const steps = 14 * turns;
  for (let k = 0; k <= steps; ++k) {
    const angle = (2 * Math.PI * turns * k) / steps;
    points.push(new Vector3(Math.cos(angle), Math.sin(angle), 0.1 + (0.8 * k) / steps));
  }
  points.push(new Vector3(0, 0, 0.94), new Vector3(0, 0, 1));
  return new TubeGeometry(new CatmullRomCurve3(points), 2 * steps, 0.16, 5);
}

/** Arrows whose length is a quantity. Thickness follows the scene's size, and the length of short ones. */
export class Arrows {
  readonly group = new Group();
  private readonly shafts: Instances;
  private readonly heads: Instances;
  private readonly tip = new Vector3();
  private readonly neck = new Vector3();

  constructor(colour: string) {
    this.shafts = new Instances(stick_geometry(), colour, { ghost: true });
    this.heads = new Instances(head_geometry(), colour, { ghost: true });
    this.group.add(this.shafts.group, this.heads.group);
  }

  begin(): void {
    this.shafts.begin();
    this.heads.begin();
  }

  add(from: Vector3, vector: Vector3, thickness: number): void {
    const length = vector.length();
    if (length < 0.2 * thickness || !Number.isFinite(length)) return;
    const radius = Math.min(thickness, length / 7);
    this.tip.addVectors(from, vector);
    this.neck.copy(vector).multiplyScalar(Math.max(0, 1 - (5 * radius) / length)).add(from);
    this.shafts.between(from, this.neck, 0.8 * radius);
    this.heads.between(this.neck, this.tip, 2.2 * radius);
  }

  end(): void {
    this.shafts.end();
    this.heads.end();
  }

  dispose(): void {
    this.shafts.dispose();
    this.heads.dispose();
  }
}
