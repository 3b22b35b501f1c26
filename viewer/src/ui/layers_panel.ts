// Switches for what is drawn, and what a metre of arrow means.

import { layers } from '../scene/overlays';
import { h } from './dom';
import { number_text } from './format';

export class LayersPanel {
  readonly element = h('section');
  readonly shown: Set<string>;
  private readonly boxes = new Map<string, HTMLInputElement>();
  private readonly legend = h('p', { class: 'legend', id: 'legend' });

  /** With the layers that are on by themselves, and others. */
  constructor(
    others: string[],
    private readonly changed: () => void,
  ) {
    this.shown = new Set(layers.filter((layer) => layer.on || others.includes(layer.id)).map((layer) => layer.id));
    for (const layer of layers) {
      const box = h('input', { type: 'checkbox', id: `layer_${layer.id}` });
      box.checked = this.shown.has(layer.id);
      box.addEventListener('change', () => this.set(layer.id, box.checked));
      this.boxes.set(layer.id, box);
      const dot = h('span', { class: 'dot', style: `background:${layer.colour ?? 'transparent'}` });
      this.element.append(h('label', { class: 'row switch' }, box, dot, h('span', {}, layer.label), h('kbd', {}, layer.key.toUpperCase())));
    }
    this.element.append(this.legend);
  }

  toggle(id: string): void {
    this.set(id, !this.shown.has(id));
  }

  set(id: string, on: boolean): void {
    if (on) this.shown.add(id);
    else this.shown.delete(id);
    this.boxes.get(id)!.checked = on;
    this.changed();
  }

  /** Parts that the server is to send. */
  parts(): string[] {
    return [...new Set(layers.filter((layer) => this.shown.has(layer.id)).flatMap((layer) => layer.parts))];
  }

  show_legend(grid: number, newtons_per_metre: number, speed_per_metre: number): void {
    const lines = [`One square of the grid: ${number_text(grid)} m`];
    if (this.shown.has('forces') && newtons_per_metre > 0) lines.push(`1 m of green arrow: ${number_text(newtons_per_metre)} N`);
    if (this.shown.has('velocities') && speed_per_metre > 0) lines.push(`1 m of blue arrow: ${number_text(speed_per_metre)} m/s`);
    const text = lines.join('\n');
    if (this.legend.textContent !== text) this.legend.textContent = text;
  }
}
