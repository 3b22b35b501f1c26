// Names over the picture: of what the pointer is over, and on demand of everything, as far as there is room.

import { Vector3 } from 'three';
import type { Stage } from '../scene/stage';
import type { World } from '../scene/world';
import { h } from './dom';

const most_labels = 60;
const row_height = 18;

export class Labels {
  readonly element = h('div', { id: 'labels', 'aria-hidden': 'true' });
  private readonly hover = h('div', { class: 'label over', hidden: true });
  private readonly pool: HTMLElement[] = [];
  private readonly at = new Vector3();

  constructor() {
    this.element.append(this.hover);
  }

  over(name: string | null, [x, y]: [number, number]): void {
    this.hover.hidden = name === null;
    if (name === null) return;
    this.hover.textContent = name;
    this.hover.style.transform = `translate(${x + 14}px, ${y + 14}px)`;
  }

  /** All names at the places of now, the nearest to the camera first; those for which there is no room are left out. */
  draw(world: World | null, stage: Stage, shown: boolean): void {
    const placed: { x: number; y: number; width: number }[] = [];
    let used = 0;
    if (shown && world) {
      const { camera, canvas } = stage;
      camera.updateMatrixWorld();
      const [width, height] = [canvas.clientWidth, canvas.clientHeight];
      for (const { name, place } of this.named(world, camera.position)) {
        if (used >= most_labels) break;
        const at = place.project(camera);
        if (at.z < -1 || at.z > 1 || Math.abs(at.x) > 1 || Math.abs(at.y) > 1) continue;
        const box = { x: ((at.x + 1) / 2) * width + 6, y: ((1 - at.y) / 2) * height - 9, width: 7 * name.length + 10 };
        if (placed.some((p) => Math.abs(p.y - box.y) < row_height && box.x < p.x + p.width && p.x < box.x + box.width)) continue;
        placed.push(box);
        const label = (this.pool[used] ??= this.element.appendChild(h('div', { class: 'label' })));
        ++used;
        label.hidden = false;
        if (label.textContent !== name) label.textContent = name;
        label.style.transform = `translate(${box.x.toFixed(0)}px, ${box.y.toFixed(0)}px)`;
      }
    }
    for (let k = used; k < this.pool.length; ++k) this.pool[k]!.hidden = true;
  }

  /** Bodies by their centres of mass, groups of particles by their first one. */
  private named(world: World, eye: Vector3): { name: string; place: Vector3; away: number }[] {
    const { bodies, particles } = world.scene;
    const all = bodies
      .map((body, k) => ({ name: body.name, place: world.bodies.place(k, body.com, new Vector3()), away: 0 }))
      .filter((_, k) => !bodies[k]!.shapes.some((shape) => shape.type === 'plane'));
    for (const { name, first } of particles.groups) all.push({ name, place: world.particle_place(first, this.at).clone(), away: 0 });
    for (const one of all) one.away = one.place.distanceToSquared(eye);
    return all.sort((a, b) => a.away - b.away);
  }
}
