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
    // Space presses the button that has the focus, and arrows move the scrub bar.
    if (key === ' ' && target instanceof HTMLButtonElement) return;
    if (target instanceof HTMLInputElement && (key.startsWith('Arrow') || key === ' ' || key === 'Home')) return;
    const shortcut = shortcuts.find((s) => s.keys.includes(key));
    if (!shortcut) return;
    event.preventDefault();
    shortcut.run();
  });
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
    ['Click a body', 'pick it: its numbers are shown'],
    ['Drag a body', 'pull it by a spring'],
    ['Double click', 'turn about the point clicked'],
  ];
  for (const [what, label] of hand) mouse.append(h('dt', {}, h('kbd', {}, what)), h('dd', {}, label));
  const dialog = h(
    'dialog',
    { id: 'help', 'aria-label': 'Help' },
    h('header', {}, h('h1', {}, 'Keys and pointer'), icon_button('close', 'Close', 'Esc', () => dialog.close())),
    h('div', { class: 'columns' }, h('div', {}, h('h2', {}, 'Pointer'), mouse), h('div', {}, h('h2', {}, 'Keys'), list)),
  );
  dialog.addEventListener('click', (event) => {
    if (event.target === dialog) dialog.close();
  });
  return dialog;
}

export function layer_shortcuts(toggle: (id: string) => void): Shortcut[] {
  return layers.map((layer) => ({ keys: [layer.key], label: layer.label.toLowerCase(), run: () => toggle(layer.id) }));
}
