// Lines that say what happened: they go by themselves, but for those about a lost connection.

import { h } from './dom';

export class Notices {
  private readonly list: HTMLElement;
  private lasting: HTMLElement | null = null;

  constructor(parent: HTMLElement) {
    this.list = h('div', { id: 'notices', role: 'status', 'aria-live': 'polite' });
    parent.append(this.list);
  }

  show(text: string, kind: 'error' | 'warning' | 'plain' = 'plain'): void {
    const same = [...this.list.children].find((line) => line.textContent === text);
    same?.remove();
    const line = h('div', { class: `notice ${kind}`, title: text }, h('span', {}, text));
    this.list.append(line);
    window.setTimeout(() => line.remove(), kind === 'plain' ? 3000 : 7000);
  }

  /** Stays until cleared by null. */
  keep(text: string | null): void {
    this.lasting?.remove();
    this.lasting = text === null ? null : h('div', { class: 'notice error', id: 'lost' }, text);
    if (this.lasting) this.list.prepend(this.lasting);
  }
}
