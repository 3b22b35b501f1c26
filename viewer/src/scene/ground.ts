// Planes of the scene, and where there is none a floor below the bounds to judge distances by.

import { Color, Group, Matrix4, Mesh, type Material, PlaneGeometry } from 'three';
import type { SceneMessage } from '../stream/messages';
import { size_of } from './bodies';
import { ground_material, type GroundUniforms } from './materials';
import type { Look } from './palette';

/** 1, 2 or 5 times a power of ten, the largest that is not above x. */
export function round_down(x: number): number {
  const power = 10 ** Math.floor(Math.log10(x));
  const digit = x / power;
  return (digit >= 5 ? 5 : digit >= 2 ? 2 : 1) * power;
}

export class Ground {
  readonly group = new Group();
  readonly spacing: number;
  private readonly uniforms: GroundUniforms;
  private readonly material: Material & { color: Color };
  private readonly geometry: PlaneGeometry;
  private readonly planes: { mesh: Mesh; body: number; local: Matrix4 }[] = [];
  private readonly pose = new Matrix4();
  private floor: Mesh | null = null;

  constructor(scene: SceneMessage, light_mode: boolean) {
    const size = size_of(scene);
    this.spacing = round_down(size / 6);
    const reach = 14 * size;
    this.uniforms = { grid_colour: { value: new Color() }, spacing: { value: this.spacing }, reach: { value: reach } };
    this.material = ground_material(light_mode, this.uniforms) as Material & { color: Color };
    // In many pieces: a single huge one is clipped badly by some graphics.
    this.geometry = new PlaneGeometry(2 * reach, 2 * reach, 32, 32);
    const [low, high] = scene.bounds;
    // The grid's fading is centred below the scene, on a line of the grid so that distances read off it stay true.
    const centre = (axis: 0 | 1): number => Math.round((low[axis] + high[axis]) / (10 * this.spacing)) * 5 * this.spacing;
    scene.bodies.forEach((body, k) => {
      for (const shape of body.shapes) {
        if (shape.type !== 'plane') continue;
        const local = new Matrix4().makeTranslation(centre(0), centre(1), 0);
        this.planes.push({ mesh: this.add(), body: k, local });
      }
    });
    if (this.planes.length > 0) return;
    // What hangs swings below where it starts.
    const hangs = scene.gravity.some((g) => g !== 0) && (scene.particles.pinned.length > 0 || scene.joints.some((joint) => joint.bodies[0] < 0 && !(joint.particles && joint.particles[0] >= 0)));
    const drop = hangs ? Math.hypot(high[0] - low[0], high[1] - low[1]) : 0;
    this.floor = this.add();
    this.floor.position.set(centre(0), centre(1), low[2] - Math.max(0.02 * size, drop));
    this.floor.updateMatrix();
  }

  /** A floor that is only there to look at gives way. */
  keep_below(z: number): void {
    if (!this.floor || z >= this.floor.position.z) return;
    this.floor.position.z = z;
    this.floor.updateMatrix();
  }

  private add(): Mesh {
    const mesh = new Mesh(this.geometry, this.material);
    mesh.receiveShadow = true;
    mesh.matrixAutoUpdate = false;
    mesh.renderOrder = -1;
    this.group.add(mesh);
    return mesh;
  }

  update(poses: Float64Array): void {
    for (const { mesh, body, local } of this.planes) {
      const p = poses.subarray(12 * body, 12 * body + 12);
      this.pose.set(p[0]!, p[1]!, p[2]!, p[3]!, p[4]!, p[5]!, p[6]!, p[7]!, p[8]!, p[9]!, p[10]!, p[11]!, 0, 0, 0, 1);
      mesh.matrix.multiplyMatrices(this.pose, local);
      mesh.matrixWorldNeedsUpdate = true;
    }
  }

  paint(look: Look): void {
    this.material.color.set(look.ground);
    this.uniforms.grid_colour.value.set(look.grid);
  }

  dispose(): void {
    this.geometry.dispose();
    this.material.dispose();
  }
}
