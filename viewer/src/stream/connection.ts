// The socket: opens, hands messages on, and comes back by itself when it is lost.

import type { Command, ServerMessage } from './messages';

export interface ConnectionEvents {
  opened(): void;
  message(message: ServerMessage): void;
  frame(bytes: ArrayBuffer): void;
  /** The socket is gone; the next attempt follows after this many seconds. */
  lost(retry_seconds: number): void;
}

const subprotocol = 'rotule.1';
const shortest_wait = 0.4;
const longest_wait = 4;

export class Connection {
  private socket: WebSocket | null = null;
  private wait = shortest_wait;
  private timer = 0;

  constructor(
    private readonly address: string,
    private readonly events: ConnectionEvents,
  ) {
    this.open();
  }

  get connected(): boolean {
    return this.socket?.readyState === WebSocket.OPEN;
  }

  send(command: Command): void {
    if (this.connected) this.socket!.send(JSON.stringify(command));
  }

  send_bytes(bytes: ArrayBuffer): void {
    if (this.connected) this.socket!.send(bytes);
  }

  retry_now(): void {
    if (this.connected) return;
    window.clearTimeout(this.timer);
    this.open();
  }

  private open(): void {
    const socket = new WebSocket(this.address, subprotocol);
    socket.binaryType = 'arraybuffer';
    this.socket = socket;
    socket.onopen = () => {
      this.wait = shortest_wait;
      this.events.opened();
    };
    socket.onmessage = (event: MessageEvent<string | ArrayBuffer>) => {
      if (typeof event.data === 'string') this.events.message(JSON.parse(event.data) as ServerMessage);
      else this.events.frame(event.data);
    };
    socket.onclose = () => {
      if (this.socket !== socket) return;
      this.socket = null;
      this.events.lost(this.wait);
      this.timer = window.setTimeout(() => this.open(), 1000 * this.wait);
      this.wait = Math.min(longest_wait, 1.6 * this.wait);
    };
  }
}

/** Where the stream of the page at this address is; the token, where there is one, goes along. */
export function stream_address(page: Location): string {
  const token = new URLSearchParams(page.search).get('token');
  const query = token === null ? '' : `?token=${encodeURIComponent(token)}`;
  return `${page.protocol === 'https:' ? 'wss' : 'ws'}://${page.host}/stream${query}`;
}
