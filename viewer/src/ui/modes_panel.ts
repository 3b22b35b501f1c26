// The modes of the present pose: a list to choose from; the chosen one is shown in motion.

import type { ModesMessage } from '../stream/messages';
import { h } from './dom';
import { number_text } from './format';

/** An equilibrium to this many m/s², rad/s²: modes mean what they say. */
const balanced_enough = 1e-3;
const most_rows = 200;

export interface ModesEvents {
  ask(): void;
  choose(mode: number | null): void;
}

export class ModesPanel {
  readonly element = h('section');
  private readonly list = h('div', { id: 'modes', role: 'listbox', 'aria-label': 'Modes' });
  private readonly about = h('p', { class: 'hint', id: 'modes_about' });
  private chosen: number | null = null;

  constructor(private readonly events: ModesEvents) {
    const find = h('button', { type: 'button', id: 'find_modes', onclick: () => this.events.ask() }, 'Modes of this pose');
    const stop = h('button', { type: 'button', id: 'stop_mode', onclick: () => this.choose(null) }, 'Stand still');
    this.element.append(h('p', {}, find, ' ', stop), this.about, this.list);
    this.clear();
  }

  clear(): void {
    this.chosen = null;
    this.about.textContent = 'Small motions about the pose in the picture, velocities set aside. The run pauses meanwhile.';
    this.list.replaceChildren();
  }

  show(message: ModesMessage): void {
    this.chosen = null;
    const off = message.unbalance > balanced_enough;
    const rest = message.modes.length > most_rows ? `; the first ${most_rows} of ${message.modes.length}` : '';
    this.about.textContent = off
      ? `Not in equilibrium: at rest here it would accelerate by ${number_text(message.unbalance)} m/s², rad/s². Modes mean little then${rest}.`
      : `About an equilibrium, slowest first${rest}.`;
    // Beside the fastest, rounding is all that some have: nothing drives them back or away, as a bar that turns between two balls.
    const fastest = Math.max(0, ...message.modes.map(({ real, imaginary }) => Math.hypot(real, imaginary)));
    const row = (mode: ModesMessage['modes'][number], k: number): HTMLElement => {
      const free = Math.hypot(mode.real, mode.imaginary) <= 1e-6 * fastest;
      const grows = mode.real > 1e-9 * Math.abs(mode.imaginary);
      const text = free ? `${k + 1}: free` : `${k + 1}: ${number_text(mode.frequency)} Hz, damping ${number_text(mode.damping_ratio)}${grows ? ', grows' : ''}`;
      return h('button', { type: 'button', role: 'option', class: 'mode', 'aria-selected': 'false', onclick: () => this.choose(k) }, text);
    };
    this.list.replaceChildren(...message.modes.slice(0, most_rows).map(row));
  }

  private choose(mode: number | null): void {
    this.chosen = mode === this.chosen ? null : mode;
    [...this.list.children].forEach((row, k) => row.setAttribute('aria-selected', String(k === this.chosen)));
    this.events.choose(this.chosen);
  }
}
