// Particles, the springs between them, and the faces of cloth and of soft solids.

import { BufferAttribute, BufferGeometry, DynamicDrawUsage, Group, LineBasicMaterial, LineSegments, Mesh, type Material, Vector3 } from 'three';
import type { Frame } from '../stream/frame_decoder';
import type { SceneMessage } from '../stream/messages';
import { size_of } from './bodies';
import { ball_geometry, Instances, stick_geometry } from './instances';
import { cloth_material } from './materials';
import { overlay_colours } from './palette';

const most_sticks = 3000;

export class Soft {
  readonly group = new Group();
  private readonly positions: BufferAttribute;
  private readonly geometries: BufferGeometry[] = [];
  private readonly materials: Material[] = [];
  private readonly faces: Mesh | null = null;
  private readonly lines: LineSegments | null = null;
  private readonly balls: Instances;
  private readonly pins: Instances;
  private readonly sticks: Instances | null = null;
  private readonly pinned: Set<number>;
  private readonly radius: number;
  private readonly from = new Vector3();
  private readonly to = new Vector3();
  /** Whether the net of springs is drawn over faces too. */
  net = false;

  constructor(
    private readonly scene: SceneMessage,
    light_mode: boolean,
  ) {
    const count = scene.particles.count;
    this.positions = new BufferAttribute(new Float32Array(3 * count), 3).setUsage(DynamicDrawUsage);
    this.pinned = new Set(scene.particles.pinned);
    const size = size_of(scene);
    this.radius = scene.particles.radius > 0 ? scene.particles.radius : 0.006 * size;
    this.balls = new Instances(ball_geometry(count > 500 ? 8 : 20), '#3d9bd1', { shaded: true, shadow: true });
    this.pins = new Instances(ball_geometry(), overlay_colours.joint, { shaded: true, shadow: true });
    this.group.add(this.balls.group, this.pins.group);
    if (scene.triangles.length > 0) {
      const geometry = new BufferGeometry().setAttribute('position', this.positions).setIndex(scene.triangles);
      const material = cloth_material(light_mode);
      this.faces = new Mesh(geometry, material);
      this.faces.castShadow = true;
      this.faces.frustumCulled = false;
      this.geometries.push(geometry);
      this.materials.push(material);
      this.group.add(this.faces);
    }
    if (scene.springs.length === 0) return;
    // Few springs without faces are a rope or a frame: as sticks, which can be seen; the others as lines.
    if (this.faces === null && scene.springs.length <= 2 * most_sticks) {
      this.sticks = new Instances(stick_geometry(), '#c98f5a', { shaded: true, shadow: true });
      this.group.add(this.sticks.group);
    } else {
      const geometry = new BufferGeometry().setAttribute('position', this.positions).setIndex(scene.springs);
      const material = new LineBasicMaterial({ color: overlay_colours.spring, transparent: true, opacity: 0.7 });
      this.lines = new LineSegments(geometry, material);
      this.lines.frustumCulled = false;
      this.geometries.push(geometry);
      this.materials.push(material);
      this.group.add(this.lines);
    }
  }

  update(frame: Frame): void {
    const count = this.scene.particles.count;
    if (count === 0) return;
    this.positions.array.set(frame.particles);
    this.positions.needsUpdate = true;
    this.faces?.geometry.computeVertexNormals();
    if (this.lines) this.lines.visible = this.net || this.faces === null;
    const point = (k: number, into: Vector3): Vector3 => into.fromArray(frame.particles, 3 * k);
    this.balls.begin();
    this.pins.begin();
    for (let k = 0; k < count; ++k) {
      if (this.pinned.has(k)) this.pins.ball(point(k, this.from), 1.4 * this.radius);
      else if (this.faces === null || this.net) this.balls.ball(point(k, this.from), this.radius);
    }
    this.balls.end();
    this.pins.end();
    if (this.sticks === null) return;
    const springs = this.scene.springs;
    this.sticks.begin();
    for (let k = 0; k + 1 < springs.length; k += 2)
      this.sticks.between(point(springs[k]!, this.from), point(springs[k + 1]!, this.to), 0.55 * this.radius);
    this.sticks.end();
  }

  dispose(): void {
    for (const geometry of this.geometries) geometry.dispose();
    for (const material of this.materials) material.dispose();
    this.balls.dispose();
    this.pins.dispose();
    this.sticks?.dispose();
  }
}
