import type {
  BackgroundSound,
  ItemPosition,
  MediaPort,
  Tap,
  TapEvent,
  TapFrame,
} from '../../../media/types.ts'

/** Tap whose far end a test plays: it decides when items begin, end, and how far they were heard. */
export class FakeTap implements Tap {
  /** Commands in order. */
  readonly commands: unknown[][] = []
  /** Items that were spoken, with their number of samples. */
  readonly items = new Map<number, number>()
  /** Positions that the next cut reports. */
  positions: ItemPosition[] = []
  mayFade = true
  isClosed = false
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

  /** Everything that is queued leaves. */
  playsAll(): void {
    const numbers = [...this.items.keys()]
    this.items.clear()
    for (const item of numbers) {
      this.happens({ kind: 'item-began', item, atMs: 0 })
      this.happens({ kind: 'item-ended', item })
    }
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

  async spoken(): Promise<void> {}

  moveTo(port: MediaPort): void {
    this.commands.push(['moveTo', port.id])
  }

  close(): void {
    this.isClosed = true
  }
}
