import type {
  BackgroundSound,
  ItemPosition,
  MediaPort,
  Tap,
  TapEvent,
  TapFrame,
} from '../../../media/types.ts'

/**
 * Tap whose far end a test plays: it decides when items begin, end, and how far they were heard. A
 * `PlayingTap` decides by itself, and cannot show a certain order of events.
 */
export class FakeTap implements Tap {
  /** Commands in order. */
  readonly commands: unknown[][] = []
  /** Items that were spoken, with their number of samples. */
  readonly items = new Map<number, number>()
  /** Positions that the next cut reports. */
  positions: ItemPosition[] = []
  mayFade = true
  isClosed = false
  readonly #waiting: (() => void)[] = []
  #event: (event: TapEvent) => void = () => {}
  #frame: (frame: TapFrame) => void = () => {}
  #closed: () => void = () => {}

  /** A frame of the caller arrives. */
  hears(samples: Int16Array = new Int16Array(160)): void {
    this.#frame({ track: 'in', atMs: 0, samples })
  }

  /** An event of the media thread arrives. */
  happens(event: TapEvent): void {
    this.#event(event)
  }

  /** The first sound of everything that is queued leaves. */
  plays(): void {
    for (const item of this.items.keys()) this.happens({ kind: 'item-began', item, atMs: 0 })
  }

  /** Everything that is queued leaves. */
  playsAll(): void {
    const numbers = [...this.items.keys()]
    this.items.clear()
    for (const item of numbers) {
      this.happens({ kind: 'item-began', item, atMs: 0 })
      this.happens({ kind: 'item-ended', item })
    }
    for (const resolve of this.#waiting.splice(0)) resolve()
  }

  /** Names of the commands so far; forgets them. */
  takeCommands(): string[] {
    return this.commands.splice(0).map(([name]) => String(name))
  }

  /** The port is closed. */
  dies(): void {
    this.#closed()
  }

  onFrame(listener: (frame: TapFrame) => void): void {
    this.#frame = listener
  }

  onEvent(listener: (event: TapEvent) => void): void {
    this.#event = listener
  }

  onClosed(listener: () => void): void {
    this.#closed = listener
  }

  speak(samples: Int16Array, item = 0): void {
    this.items.set(item, (this.items.get(item) ?? 0) + samples.length)
  }

  finish(item: number): void {
    this.commands.push(['finish', item])
  }

  pause(): void {
    this.commands.push(['pause'])
  }

  resume(): void {
    this.commands.push(['resume'])
  }

  async cut(): Promise<readonly ItemPosition[]> {
    this.commands.push(['cut'])
    this.items.clear()
    return this.positions
  }

  setReflex(): void {
    this.commands.push(['setReflex'])
  }

  allowFade(isAllowed: boolean): void {
    this.mayFade = isAllowed
  }

  background(sound: BackgroundSound | undefined): void {
    this.commands.push(['background', sound])
  }

  clear(): void {
    this.items.clear()
  }

  spoken(): Promise<void> {
    if (this.items.size === 0) return Promise.resolve()
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  moveTo(port: MediaPort): void {
    this.commands.push(['moveTo', port.id])
  }

  close(): void {
    this.isClosed = true
  }
}
