// Elements without ceremony.

type Properties = Record<string, string | number | boolean | ((event: Event) => void) | undefined>;

/** h('button', {class: 'x', onclick: f}, 'text'): functions become listeners, everything else an attribute. */
export function h<K extends keyof HTMLElementTagNameMap>(tag: K, properties: Properties = {}, ...children: (Node | string)[]): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === false) continue;
    if (typeof value === 'function') element.addEventListener(name.replace(/^on/, ''), value);
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  element.append(...children);
  return element;
}

const icons = {
  play: '<path d="M7 4.5v15l12.5-7.5z" fill="currentColor"/>',
  pause: '<path d="M7 5h3.5v14H7zM13.5 5H17v14h-3.5z" fill="currentColor"/>',
  step: '<path d="M5 4.5v15l9.5-7.5zM16.5 5H19v14h-2.5z" fill="currentColor"/>',
  restart: '<path d="M5.5 12a6.7 6.7 0 1 0 2.2-5M8 3v4.4h4.4"/>',
  scenes: '<path d="M4 4h7v7H4zM13 4h7v7h-7zM4 13h7v7H4zM13 13h7v7h-7z"/>',
  ball: '<circle cx="15" cy="9" r="5"/><path d="M3 20l5-5M3 15.5l3-3M7.5 20l3-3"/>',
  follow: '<circle cx="12" cy="12" r="3"/><path d="M12 3v4M12 17v4M3 12h4M17 12h4"/>',
  home: '<path d="M4 9V4h5M20 9V4h-5M4 15v5h5M20 15v5h-5"/>',
  panel: '<path d="M4 7h9M17 7h3M4 17h3M11 17h9"/><circle cx="15" cy="7" r="2"/><circle cx="9" cy="17" r="2"/>',
  theme: '<circle cx="12" cy="12" r="8"/><path d="M12 4a8 8 0 0 1 0 16z" fill="currentColor"/>',
  help: '<path d="M9 9a3 3 0 1 1 4.6 2.6c-1 .6-1.6 1.2-1.6 2.4M12 17.5v.6"/>',
  close: '<path d="M6 6l12 12M18 6L6 18"/>',
} as const;

export type IconName = keyof typeof icons;

export function icon(name: IconName): SVGSVGElement {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  svg.setAttribute('viewBox', '0 0 24 24');
  svg.setAttribute('aria-hidden', 'true');
  svg.innerHTML = icons[name];
  return svg;
}

export function icon_button(name: IconName, label: string, key: string, onclick: () => void): HTMLButtonElement {
  const title = key ? `${label} (${key})` : label;
  return h('button', { class: 'icon', type: 'button', 'aria-label': label, title, onclick }, icon(name));
}

/** A name that lets tests and styles find an element. */
export function find<T extends HTMLElement>(id: string): T {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`the page has no element "${id}"`);
  return element as T;
}
