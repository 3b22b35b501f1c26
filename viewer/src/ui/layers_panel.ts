// Switches for what is drawn, what colours mean, and what a metre of arrow means.

import { type FluidColour, fluid_colours } from '../scene/fluid';
import { layers } from '../scene/overlays';
import { type Colouring, type ColourBy, colourings, ramp_css } from '../scene/palette';
import { h } from './dom';
import { number_text } from './format';

export interface Legend {
  grid: number;
  /** Metres of a drawn unit, and how much an arrow of that length means. */
  unit: number;
  newtons: number;
  speed: number;
  colouring: Colouring;
  /** What the last colour of the fluid means. */
  fluid: [number, number, number];
}

export class LayersPanel {
  readonly element = h('section');
  readonly shown: Set<string>;
  colour_by: ColourBy;
  fluid_colour: FluidColour = 'vorticity';
  private readonly fluid = h('select', { id: 'fluid_colour', 'aria-label': 'Colour of the fluid' });
  /** Rows that mean nothing where there is no fluid. */
  private readonly of_fluids: HTMLElement[] = [];
  private readonly boxes = new Map<string, HTMLInputElement>();
  private readonly colours = h('select', { id: 'colour_by', 'aria-label': 'Colours mean' });
  private readonly ramp = h('div', { class: 'ramp', style: `background:${ramp_css}` });
  private readonly low = h('span');
  private readonly high = h('span');
  private readonly scale = h('div', { id: 'colour_scale' }, this.low, this.ramp, this.high);
  private readonly meaning = h('p', { class: 'legend', id: 'colour_meaning' });
  private readonly legend = h('p', { class: 'legend', id: 'legend' });

  /** With the layers that are on by themselves, and others. */
  constructor(
    others: string[],
    private readonly changed: () => void,
  ) {
    this.shown = new Set(layers.filter((layer) => layer.on || others.includes(layer.id)).map((layer) => layer.id));
    this.colour_by = colourings.find(({ id }) => others.includes(id))?.id ?? 'kind';
    for (const { id, label } of colourings) this.colours.append(h('option', { value: id }, label));
    this.colours.addEventListener('change', () => this.set_colour_by(this.colours.value as ColourBy));
    for (const layer of layers) {
      const box = h('input', { type: 'checkbox', id: `layer_${layer.id}` });
      box.checked = this.shown.has(layer.id);
      box.addEventListener('change', () => this.set(layer.id, box.checked));
      this.boxes.set(layer.id, box);
      const dot = h('span', { class: 'dot', style: `background:${layer.colour ?? 'transparent'}` });
      const row = h('label', { class: 'row switch' }, box, dot, h('span', {}, layer.label), h('kbd', {}, layer.key.toUpperCase()));
      if (layer.parts.includes('fluid')) this.of_fluids.push(row);
      this.element.append(row);
    }
    for (const { id, label } of fluid_colours) this.fluid.append(h('option', { value: id }, label));
    this.fluid_colour = fluid_colours.find(({ id }) => others.includes(`fluid_${id}`))?.id ?? 'vorticity';
    this.fluid.value = this.fluid_colour;
    this.fluid.addEventListener('change', () => this.set_fluid_colour(this.fluid.value as FluidColour));
    this.of_fluids.push(h('div', { class: 'row field' }, h('label', { for: 'fluid_colour' }, 'Colour of the fluid'), this.fluid));
    this.element.append(this.of_fluids.at(-1)!);
    this.element.append(h('div', { class: 'row field' }, h('label', { for: 'colour_by' }, 'Colours mean'), this.colours), this.scale, this.meaning, this.legend);
    this.show_colours();
  }

  /** What another scene has to show. */
  offer(has_fluid: boolean): void {
    for (const row of this.of_fluids) row.hidden = !has_fluid;
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

  set_colour_by(by: ColourBy): void {
    this.colour_by = by;
    this.show_colours();
    this.changed();
  }

  set_fluid_colour(colour: FluidColour): void {
    this.fluid_colour = colour;
    this.fluid.value = colour;
    this.changed();
  }

  /** The next of what the fluid's colour can mean. */
  next_fluid_colour(): void {
    const at = fluid_colours.findIndex(({ id }) => id === this.fluid_colour);
    this.set_fluid_colour(fluid_colours[(at + 1) % fluid_colours.length]!.id);
  }

  private show_colours(): void {
    this.colours.value = this.colour_by;
    this.meaning.textContent = colourings.find(({ id }) => id === this.colour_by)!.about;
    this.scale.hidden = this.colour_by === 'kind' || this.colour_by === 'islands';
  }

  /** Parts that the server is to send. */
  parts(): string[] {
    const wanted = [...layers.filter((layer) => this.shown.has(layer.id)), ...colourings.filter(({ id }) => id === this.colour_by)];
    return [...new Set(wanted.flatMap(({ parts }) => parts))];
  }

  show_legend({ grid, unit, newtons, speed, colouring, fluid }: Legend): void {
    const metre = `${number_text(unit)} m`;
    const lines = [`One square of the grid: ${number_text(grid)} m`];
    if (this.shown.has('forces') && newtons > 0) lines.push(`${metre} of green arrow: ${number_text(newtons)} N`);
    if (this.shown.has('velocities') && speed > 0) lines.push(`${metre} of blue arrow: ${number_text(speed)} m/s`);
    const meant = fluid_colours.find(({ id }) => id === this.fluid_colour)!;
    if (this.shown.has('fluid') && fluid[meant.scale]! > 0) lines.push(`Fluid, ${meant.label.toLowerCase()}: ${meant.id === 'speed' ? '0' : `−${number_text(fluid[meant.scale]!)}`} to ${number_text(fluid[meant.scale]!)} ${meant.unit}`);
    const text = lines.join('\n');
    if (this.legend.textContent !== text) this.legend.textContent = text;
    const colour_unit = colourings.find(({ id }) => id === this.colour_by)!.unit;
    this.low.textContent = number_text(colouring.low);
    this.high.textContent = `${number_text(colouring.high)} ${colour_unit}`;
  }
}
