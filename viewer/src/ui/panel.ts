// The drawer with its tabs: beside the picture on a laptop, a sheet below it on a phone.

import { h, icon_button } from './dom';

export interface Tab {
  id: string;
  label: string;
  element: HTMLElement;
  shown?(): void;
}

export class Panel {
  readonly element: HTMLElement;
  private readonly buttons = new Map<string, HTMLButtonElement>();
  private current: string;

  constructor(private readonly tabs: Tab[]) {
    this.current = tabs[0]!.id;
    const bar = h('div', { class: 'tabs', role: 'tablist' });
    for (const tab of tabs) {
      const button = h('button', { type: 'button', role: 'tab', id: `tab_${tab.id}`, 'aria-controls': `page_${tab.id}`, onclick: () => this.open(tab.id) }, tab.label);
      this.buttons.set(tab.id, button);
      bar.append(button);
      tab.element.id = `page_${tab.id}`;
      tab.element.classList.add('page');
      tab.element.setAttribute('role', 'tabpanel');
      tab.element.setAttribute('aria-labelledby', `tab_${tab.id}`);
    }
    const close = icon_button('close', 'Close panel', 'P', () => this.close());
    close.classList.add('close');
    bar.append(close);
    this.element = h('aside', { id: 'panel', 'aria-label': 'Panel' }, bar, ...tabs.map((tab) => tab.element));
    this.close();
  }

  get is_open(): boolean {
    return !this.element.hidden;
  }

  shows(id: string): boolean {
    return this.is_open && this.current === id;
  }

  open(id: string = this.current): void {
    this.current = id;
    this.element.hidden = false;
    document.documentElement.classList.add('panel_open');
    for (const tab of this.tabs) {
      tab.element.hidden = tab.id !== id;
      this.buttons.get(tab.id)!.setAttribute('aria-selected', String(tab.id === id));
      if (tab.id === id) tab.shown?.();
    }
  }

  close(): void {
    this.element.hidden = true;
    document.documentElement.classList.remove('panel_open');
  }

  toggle(): void {
    if (this.is_open) this.close();
    else this.open();
  }
}
