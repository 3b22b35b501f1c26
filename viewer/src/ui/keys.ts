// Keyboard shortcuts, and the help overlay that is written from the same list.

import { layers } from '../scene/overlays';
import { h, icon_button } from './dom';

export interface Shortcut {
  keys: string[];
  label: string;
  run(): void;
}

const names: Record<string, string> = { ' ': 'Space', ArrowLeft: '←', ArrowRight: '→' };
const shown = (key: string): string => names[key] ?? (key.length === 1 ? key.toUpperCase() : key);

export function listen(shortcuts: Shortcut[]): void {
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const target = event.target as HTMLElement;
    const writes = target instanceof HTMLSelectElement || (target instanceof HTMLInputElement && target.type !== 'checkbox' && target.type !== 'range');
    if (writes || document.querySelector('dialog[open]')) return;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    // Space presses the button or box that somebody came to by the keyboard; arrows move a slider.
    if (key === ' ' && (target instanceof HTMLButtonElement || (target instanceof HTMLInputElement && target.type === 'checkbox'))) return;
    if (target instanceof HTMLInputElement && target.type === 'range' && (key.startsWith('Arrow') || key === 'Home')) return;
    const shortcut = shortcuts.find((s) => s.keys.includes(key));
    if (!shortcut) return;
    event.preventDefault();
    shortcut.run();
  });
}

/** What was clicked does not keep the keyboard: Space plays and pauses, and letters are shortcuts, whatever was clicked before. */
export function free_the_keys(): void {
  let by_pointer = false;
  document.addEventListener('pointerdown', () => (by_pointer = true), { capture: true });
  document.addEventListener('keydown', () => (by_pointer = false), { capture: true });
  const let_go = (event: Event): void => {
    const target = event.target as HTMLElement | null;
    const holder = target?.closest<HTMLElement>('button, select, input');
    const writes = holder instanceof HTMLInputElement && holder.type !== 'checkbox' && holder.type !== 'range';
    const opens = event.type === 'click' && holder instanceof HTMLSelectElement;
    if (by_pointer && holder && !writes && !opens && !holder.closest('dialog')) holder.blur();
  };
  document.addEventListener('click', let_go);
  document.addEventListener('change', let_go);
}

export function help_dialog(shortcuts: Shortcut[]): HTMLDialogElement {
  const list = h('dl', { class: 'keys' });
  const add = (keys: string[], label: string): void =>
    list.append(h('dt', {}, ...keys.map((key) => h('kbd', {}, key))), h('dd', {}, label));
  for (const { keys, label } of shortcuts) if (label) add(keys.map(shown), label);
  const mouse = h('dl', { class: 'keys' });
  const hand: [string, string][] = [
    ['Drag', 'turn the view'],
    ['Right drag', 'shift the view (two fingers on a touch screen)'],
    ['Wheel', 'nearer and farther (pinch)'],
    ['Hover', 'the name of a body'],
    ['Click a body', 'pick it: its numbers are shown'],
    ['Drag a body', 'pull it by a spring'],
    ['Shift, drag', 'pose it: joints hold, all stands still'],
    ['Double click', 'turn about the point clicked'],
  ];
  for (const [what, label] of hand) mouse.append(h('dt', {}, h('kbd', {}, what)), h('dd', {}, label));
  const dialog = h(
    'dialog',
    { id: 'help', 'aria-label': 'Help' },
    h('header', {}, h('h1', {}, 'Keys and pointer'), icon_button('close', 'Close', 'Esc', () => dialog.close())),
    h('div', { class: 'columns', tabindex: 0 }, h('div', {}, h('h2', {}, 'Pointer'), mouse), h('div', { class: 'wide' }, h('h2', {}, 'Keys'), list)),
  );
  dialog.addEventListener('click', (event) => {
    if (event.target === dialog) dialog.close();
  });
  return dialog;
}

export function layer_shortcuts(toggle: (id: string) => void): Shortcut[] {
  return layers.map((layer) => ({ keys: [layer.key], label: layer.label.toLowerCase(), run: () => toggle(layer.id) }));
}
