// Lines that say what happened. They go by themselves, at a click, or when what they were about is past; but for those about a lost
// connection. While the pointer is on one it stays, to be read.

import { h } from './dom';

export type NoticeKind = 'error' | 'warning' | 'plain';

export class Notices {
  private readonly list: HTMLElement;
  private lasting: HTMLElement | null = null;

  constructor(parent: HTMLElement) {
    this.list = h('div', { id: 'notices', role: 'status', 'aria-live': 'polite' });
    parent.append(this.list);
  }

  show(text: string, kind: NoticeKind = 'plain'): void {
    const same = [...this.list.children].find((line) => line.textContent === text);
    same?.remove();
    const line = h('div', { class: `notice ${kind}`, title: 'Click to put it away' }, h('span', {}, text));
    this.list.append(line);
    // Long ones take longer to read.
    const stay = kind === 'plain' ? 3000 : Math.min(15000, 4000 + 40 * text.length);
    const leave = (): number => window.setTimeout(() => line.remove(), stay);
    let timer = leave();
    line.addEventListener('pointerenter', () => window.clearTimeout(timer));
    line.addEventListener('pointerleave', () => (timer = leave()));
    line.addEventListener('click', () => line.remove());
  }

  /** What was refused is past once something was accepted. */
  clear(kind: NoticeKind): void {
    for (const line of [...this.list.children]) if (line !== this.lasting && line.classList.contains(kind)) line.remove();
  }

  /** Stays until cleared by null. */
  keep(text: string | null): void {
    this.lasting?.remove();
    this.lasting = text === null ? null : h('div', { class: 'notice error', id: 'lost' }, text);
    if (this.lasting) this.list.prepend(this.lasting);
  }
}
