// The numbers of the picked body, as they change.

import type { BodyMessage } from '../stream/messages';
import { h } from './dom';
import { number_text, vector_text } from './format';

export class BodyPanel {
  readonly element = h('section');

  constructor() {
    this.clear();
  }

  clear(): void {
    this.element.replaceChildren(h('p', { class: 'hint' }, 'Click a body, or tap it, and its numbers are shown here. Pull it to drag it by a spring.'));
  }

  show(message: BodyMessage): void {
    const speed = Math.hypot(...message.velocity);
    const rows: [string, string, string][] = [
      ['Mass', number_text(message.mass), 'kg'],
      ['Position', vector_text(message.position), 'm'],
      ['Velocity', vector_text(message.velocity), 'm/s'],
      ['Speed', number_text(speed), 'm/s'],
      ['Angular velocity', vector_text(message.angular_velocity), 'rad/s'],
      ['Orientation', vector_text(message.orientation), ''],
      ['Energy', number_text(message.energy), 'J'],
      ['Contacts', String(message.contacts), ''],
      ['Force on it', vector_text(message.force), 'N'],
    ];
    const list = h('dl', { class: 'numbers' });
    for (const [label, value, unit] of rows) list.append(h('dt', {}, label), h('dd', {}, value, h('span', { class: 'unit' }, unit)));
    this.element.replaceChildren(h('h2', { id: 'body_name' }, message.name), list);
  }
}
