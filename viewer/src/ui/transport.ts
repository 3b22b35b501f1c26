// The bar below: play, pause, step, restart, speed, and the scrub bar over what is remembered.

import type { Command, StateMessage } from '../stream/messages';
import { h, icon, icon_button } from './dom';
import { cut_text, time_text } from './format';

const cut_meaning = 'Solvers ran out of the time that a step may take (budget_seconds of the recipe), and gave the best answer they had';
export const speeds = [0.05, 0.1, 0.25, 0.5, 1, 2, 4, 10];

export class Transport {
  readonly element: HTMLElement;
  private readonly play_button: HTMLButtonElement;
  private readonly scrub: HTMLInputElement;
  private readonly clock: HTMLOutputElement;
  private readonly speed: HTMLSelectElement;
  private readonly cut: HTMLOutputElement;
  private state: StateMessage | null = null;
  private scrubbing = false;
  private wanted: number | null = null;

  constructor(private readonly send: (command: Command) => void) {
    this.play_button = h('button', { class: 'icon main', type: 'button', id: 'play', onclick: () => this.toggle() });
    const step = icon_button('step', 'Single step', '.', () => this.step(1));
    step.id = 'step';
    const restart = icon_button('restart', 'Restart', 'Home', () => this.send({ do: 'restart' }));
    restart.id = 'restart';
    this.scrub = h('input', { type: 'range', id: 'scrub', min: 0, max: 1, step: 'any', value: 0, 'aria-label': 'Time shown' });
    this.scrub.addEventListener('pointerdown', () => (this.scrubbing = true));
    this.scrub.addEventListener('change', () => (this.scrubbing = false));
    this.scrub.addEventListener('input', () => this.seek_soon());
    this.clock = h('output', { id: 'clock', 'aria-label': 'Time' });
    this.cut = h('output', { id: 'cut', hidden: true, title: cut_meaning, 'aria-label': 'Steps cut short' });
    this.speed = h('select', { id: 'speed', 'aria-label': 'Speed', title: 'Speed ([ slower, ] faster)' });
    for (const factor of speeds) this.speed.append(h('option', { value: factor }, `${factor}×`));
    this.speed.value = '1';
    this.speed.addEventListener('change', () => this.send({ do: 'speed', factor: Number(this.speed.value) }));
    this.element = h('footer', { class: 'bar', id: 'transport' }, this.play_button, step, restart, this.scrub, this.clock, this.cut, this.speed);
    this.draw_play();
  }

  toggle(): void {
    this.send({ do: this.state?.playing ? 'pause' : 'play' });
  }

  step(count: number): void {
    if (this.state?.playing) this.send({ do: 'pause' });
    this.send({ do: 'step', count });
  }

  /** Goes through the list of speeds by so many places. */
  change_speed(places: number): void {
    const now = this.state?.speed ?? 1;
    const nearest = speeds.reduce((best, s, k) => (Math.abs(Math.log(s / now)) < Math.abs(Math.log(speeds[best]! / now)) ? k : best), 0);
    const factor = speeds[Math.min(speeds.length - 1, Math.max(0, nearest + places))]!;
    this.send({ do: 'speed', factor });
  }

  /** Goes back or forth in what is remembered, by a share of it. */
  jump(share: number): void {
    if (!this.state) return;
    const { history_start, live_end, time } = this.state;
    const target = time + share * (live_end - history_start);
    this.send({ do: 'seek', time: Math.min(live_end, Math.max(history_start, target)) });
  }

  /** At most one seek per picture, however fast the pointer. */
  private seek_soon(): void {
    const waiting = this.wanted !== null;
    this.wanted = Number(this.scrub.value);
    if (waiting) return;
    requestAnimationFrame(() => {
      this.send({ do: 'seek', time: this.wanted! });
      this.wanted = null;
    });
  }

  private draw_play(): void {
    const playing = this.state?.playing ?? false;
    const label = playing ? 'Pause' : 'Play';
    if (this.play_button.getAttribute('aria-label') === label) return;
    this.play_button.replaceChildren(icon(playing ? 'pause' : 'play'));
    this.play_button.setAttribute('aria-label', label);
    this.play_button.title = `${label} (space)`;
  }

  show_state(state: StateMessage): void {
    this.state = state;
    this.draw_play();
    if (!speeds.includes(state.speed) && ![...this.speed.options].some((o) => Number(o.value) === state.speed))
      this.speed.append(h('option', { value: state.speed }, `${state.speed}×`));
    if (document.activeElement !== this.speed || Number(this.speed.value) !== state.speed) this.speed.value = String(state.speed);
    this.scrub.min = String(state.history_start);
    this.scrub.max = String(Math.max(state.live_end, state.history_start + 1e-9));
    this.cut.hidden = state.cut_steps === 0;
    this.cut.textContent = cut_text(state.cut_steps, state.cut_residual);
    this.show_time(state.time);
  }

  show_time(time: number): void {
    if (!this.scrubbing && this.wanted === null) this.scrub.value = String(time);
    const behind = this.state !== null && time < this.state.live_end - 1e-9;
    this.clock.textContent = behind ? `${time_text(time)} / ${time_text(this.state!.live_end)}` : time_text(time);
    this.clock.classList.toggle('past', behind);
    const low = Number(this.scrub.min);
    const share = (Number(this.scrub.value) - low) / (Number(this.scrub.max) - low);
    this.scrub.style.setProperty('--filled', `${(100 * Math.min(1, Math.max(0, share))).toFixed(1)}%`);
  }
}
