// The bar below: play, pause, step, restart, speed, the scrub bar over what is remembered, and what the program is busy with.

import type { Command, StateMessage } from '../stream/messages';
import { h, icon, icon_button } from './dom';
import { cut_text } from './format';
import { moment_text, speed_text, speeds_for } from './speeds';

const cut_meaning = 'Solvers ran out of the time that a step may take (budget_seconds of the recipe), and gave the best answer they had';
const busy_meaning = 'A step is being computed';
const slow_meaning = 'Steps take longer than they last: this is how fast it goes';
const quiet_ms = 350; // without a word from a program that is at work: longer than between two messages
const tick_ms = 100;
const cut_stays_ms = 2000;
const pace_ms = 1000;

export class Transport {
  readonly element: HTMLElement;
  private readonly play_button: HTMLButtonElement;
  private readonly step_button: HTMLButtonElement;
  private readonly restart_button: HTMLButtonElement;
  private readonly scrub: HTMLInputElement;
  private readonly clock: HTMLOutputElement;
  private readonly speed: HTMLSelectElement;
  private readonly cut: HTMLOutputElement;
  private readonly busy: HTMLOutputElement;
  private state: StateMessage | null = null;
  private scrubbing = false;
  private wanted: number | null = null;
  private speeds = speeds_for(1);
  private natural = 1;
  private dt = 0;
  private connected = true;
  private silent = 0; // ms, as far as the page itself was awake
  private ticked_at = performance.now();
  private step_asked = false;
  private cut_at = -Infinity;
  private readonly past: { clock: number; time: number }[] = [];

  constructor(private readonly send: (command: Command) => void) {
    this.play_button = h('button', { class: 'icon main', type: 'button', id: 'play', onclick: () => this.toggle() });
    this.step_button = icon_button('step', 'Single step', '.', () => this.step(1));
    this.step_button.id = 'step';
    this.restart_button = icon_button('restart', 'Restart', 'Home', () => this.send({ do: 'restart' }));
    this.restart_button.id = 'restart';
    this.scrub = h('input', { type: 'range', id: 'scrub', min: 0, max: 1, step: 'any', value: 0, 'aria-label': 'Time shown' });
    this.scrub.addEventListener('pointerdown', () => (this.scrubbing = true));
    this.scrub.addEventListener('change', () => (this.scrubbing = false));
    this.scrub.addEventListener('input', () => this.seek_soon());
    this.clock = h('output', { id: 'clock', 'aria-label': 'Time' });
    this.cut = h('output', { id: 'cut', hidden: true, title: cut_meaning, 'aria-label': 'Steps cut short' });
    this.busy = h('output', { id: 'busy', hidden: true, 'aria-label': 'What the program is busy with' });
    this.speed = h('select', { id: 'speed', 'aria-label': 'Speed', title: 'Speed ([ slower, ] faster)' });
    this.speed.addEventListener('change', () => this.send({ do: 'speed', factor: Number(this.speed.value) }));
    this.element = h('footer', { class: 'bar', id: 'transport' }, this.play_button, this.step_button, this.restart_button, this.scrub, this.busy, this.cut, this.clock, this.speed);
    this.list_speeds();
    this.draw_play();
    window.setInterval(() => {
      // A page that was busy drawing has heard nothing because it did not listen.
      const late = performance.now() - this.ticked_at;
      this.ticked_at = performance.now();
      this.silent = late < 2 * tick_ms ? this.silent + late : 0;
      this.show_busy();
    }, tick_ms);
  }

  /** Speeds and times in units that fit the scene. */
  show_scene(pace: number, dt: number): void {
    this.dt = dt;
    this.natural = pace;
    this.speeds = speeds_for(pace);
    this.past.length = 0;
    this.list_speeds();
  }

  private list_speeds(): void {
    const now = this.state?.speed ?? this.natural;
    const all = this.speeds.includes(now) ? this.speeds : [...this.speeds, now].sort((a, b) => a - b);
    this.speed.replaceChildren(...all.map((factor) => h('option', { value: factor }, speed_text(factor, this.natural))));
    this.speed.value = String(now);
  }

  toggle(): void {
    this.send({ do: this.state?.playing ? 'pause' : 'play' });
  }

  step(count: number): void {
    if (this.state?.playing) this.send({ do: 'pause' });
    this.send({ do: 'step', count });
    this.step_asked = true;
    this.silent = 0;
  }

  /** Goes through the list of speeds by so many places. */
  change_speed(places: number): void {
    const now = this.state?.speed ?? 1;
    const { speeds } = this;
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
    const playing = this.connected && (this.state?.playing ?? false);
    const label = playing ? 'Pause' : 'Play';
    for (const button of [this.play_button, this.step_button, this.restart_button]) button.disabled = !this.connected;
    this.scrub.disabled = this.speed.disabled = !this.connected;
    if (this.play_button.getAttribute('aria-label') === label) return;
    this.play_button.replaceChildren(icon(playing ? 'pause' : 'play'));
    this.play_button.setAttribute('aria-label', label);
    this.play_button.title = `${label} (space)`;
  }

  /** Nothing plays where there is no program. */
  set_connected(connected: boolean): void {
    this.connected = connected;
    this.silent = 0;
    this.past.length = 0;
    this.step_asked = false;
    this.draw_play();
    this.show_busy();
  }

  /** The program has said something: it is between two steps. */
  heard(frame: boolean): void {
    this.silent = 0;
    if (frame) this.step_asked = false;
  }

  show_state(state: StateMessage): void {
    const jumped = this.state === null || this.state.playing !== state.playing || this.state.speed !== state.speed;
    this.state = state;
    if (jumped) this.past.length = 0;
    this.draw_play();
    if (![...this.speed.options].some((o) => Number(o.value) === state.speed)) this.list_speeds();
    if (document.activeElement !== this.speed || Number(this.speed.value) !== state.speed) this.speed.value = String(state.speed);
    this.scrub.min = String(state.history_start);
    this.scrub.max = String(Math.max(state.live_end, state.history_start + 1e-9));
    // Cuts come in bursts: the last word on them stays long enough to be read.
    if (state.cut_steps > 0) {
      this.cut.textContent = cut_text(state.cut_steps, state.cut_residual);
      this.cut_at = performance.now();
    }
    this.cut.hidden = performance.now() - this.cut_at > cut_stays_ms;
    this.show_time(state.time);
  }

  show_time(time: number): void {
    this.note_pace(time);
    if (!this.scrubbing && this.wanted === null) this.scrub.value = String(time);
    const behind = this.state !== null && time < this.state.live_end - 1e-9;
    const text = (moment: number): string => moment_text(moment, this.dt);
    this.clock.textContent = behind ? `${text(time)} / ${text(this.state!.live_end)}` : text(time);
    this.clock.classList.toggle('past', behind);
    const low = Number(this.scrub.min);
    const share = (Number(this.scrub.value) - low) / (Number(this.scrub.max) - low);
    this.scrub.style.setProperty('--filled', `${(100 * Math.min(1, Math.max(0, share))).toFixed(1)}%`);
  }

  private note_pace(time: number): void {
    const now = performance.now();
    const last = this.past[this.past.length - 1];
    if (last && time < last.time) this.past.length = 0;
    if (!last || time > last.time) this.past.push({ clock: now, time });
    while (this.past.length > 2 && now - this.past[1]!.clock > pace_ms) this.past.shift();
  }

  /** Seconds of the run per second of the clock, over the last second; null until that is known. */
  get pace(): number | null {
    const first = this.past[0];
    const last = this.past[this.past.length - 1];
    const seconds = first ? (performance.now() - first.clock) / 1000 : 0;
    return first && last && seconds > 0.7 ? (last.time - first.time) / seconds : null;
  }

  /** That a step is being computed, or that all of them together are slower than the clock. */
  private show_busy(): void {
    const playing = this.connected && (this.state?.playing ?? false);
    const { silent } = this;
    const computing = this.connected && (playing || this.step_asked) && silent > quiet_ms;
    const { pace } = this;
    const slow = playing && pace !== null && this.dt > 0 && pace < 0.7 * this.state!.speed;
    this.busy.hidden = !computing && !slow;
    this.busy.classList.toggle('turning', computing);
    if (computing) {
      this.busy.textContent = `computing a step, ${(silent / 1000).toFixed(1)} s`;
      this.busy.title = busy_meaning;
    } else if (slow) {
      this.busy.textContent = `at ${speed_text(Number(pace.toPrecision(2)), this.natural)}`;
      this.busy.title = slow_meaning;
    }
  }
}
