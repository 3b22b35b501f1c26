// Dark or light: as the system says, until switched by hand; that choice is kept.

import type { Theme } from '../scene/palette';

const key = 'rotule.theme';

function kept(): Theme | null {
  try {
    const value = localStorage.getItem(key);
    return value === 'dark' || value === 'light' ? value : null;
  } catch {
    return null; // storage can be switched off
  }
}

export class ThemeSwitch {
  current: Theme;

  constructor(forced: string | null, private readonly changed: (theme: Theme) => void) {
    const system = window.matchMedia('(prefers-color-scheme: dark)');
    const by_hand = forced === 'dark' || forced === 'light' ? forced : kept();
    this.current = by_hand ?? (system.matches ? 'dark' : 'light');
    if (by_hand === null)
      system.addEventListener('change', () => {
        if (kept() === null) this.set(system.matches ? 'dark' : 'light');
      });
    this.set(this.current);
  }

  toggle(): void {
    const theme = this.current === 'dark' ? 'light' : 'dark';
    try {
      localStorage.setItem(key, theme);
    } catch {
      // then it lasts as long as the page
    }
    this.set(theme);
  }

  private set(theme: Theme): void {
    this.current = theme;
    document.documentElement.dataset['theme'] = theme;
    this.changed(theme);
  }
}
