// All shipped scenes as cards.

import type { SceneEntry } from '../stream/messages';
import { h, icon_button } from './dom';
import { title_text } from './format';

export class ScenesDialog {
  readonly element: HTMLDialogElement;
  private readonly cards = h('div', { class: 'cards' });
  private readonly filter = h('input', { type: 'search', placeholder: 'Find a scene', 'aria-label': 'Find a scene' });
  private scenes: SceneEntry[] = [];
  private drawn = false;
  private current = '';

  constructor(private readonly open: (name: string) => void) {
    this.filter.addEventListener('input', () => this.sift());
    this.element = h(
      'dialog',
      { id: 'scenes', 'aria-label': 'Scenes' },
      h('header', {}, h('h1', {}, 'Scenes'), this.filter, icon_button('close', 'Close', 'Esc', () => this.element.close())),
      this.cards,
    );
    this.element.addEventListener('click', (event) => {
      if (event.target === this.element) this.element.close();
    });
  }

  set_scenes(scenes: SceneEntry[]): void {
    this.scenes = scenes;
    this.drawn = false;
  }

  show(current: string): void {
    if (!this.drawn || current !== this.current) {
      this.current = current;
      this.drawn = true;
      this.cards.replaceChildren(...this.scenes.map((scene) => this.card(scene)));
      this.sift();
    }
    this.element.showModal();
    if (window.matchMedia('(pointer: fine)').matches) this.filter.focus();
  }

  private card(scene: SceneEntry): HTMLElement {
    const picture = h('img', { src: `thumbnails/${scene.name}.webp`, alt: '', loading: 'lazy', width: 240, height: 150 });
    // Without a thumbnail the card is plain.
    picture.addEventListener('error', () => picture.replaceWith(h('div', { class: 'no_picture', 'aria-hidden': 'true' }, title_text(scene.name).charAt(0))));
    const onclick = (): void => {
      this.element.close();
      this.open(scene.name);
    };
    return h(
      'button',
      { class: 'card', type: 'button', 'data-scene': scene.name, 'aria-current': scene.name === this.current ? 'true' : undefined, onclick },
      picture,
      h('strong', {}, title_text(scene.name)),
      h('span', {}, scene.about),
    );
  }

  private sift(): void {
    const words = this.filter.value.toLowerCase().split(/\s+/);
    this.scenes.forEach((scene, k) => {
      const text = `${scene.name.replace(/_/g, ' ')} ${scene.about}`.toLowerCase();
      (this.cards.children[k] as HTMLElement).hidden = !words.every((word) => text.includes(word));
    });
  }
}
