import { dominant } from '../../../media/codecs/tone.ts'
import type { ItemPosition, MediaPort, PcmRate, Tap, TapEvent, TapFrame } from '../../../media/types.ts'

/** Length of a frame, in ms. */
const frameMs = 20

/** Amplitude from which a sample counts as sound. */
const audible = 300

interface Queued {
  readonly item: number
  samples: Int16Array
}

/**
 * Tap that plays in the time of a test, as the media thread does: 20 ms of the queue with each frame. Its
 * events come when the test delivers them. Its reflex lowers the speech at the caller's voice.
 */
export class PlayingTap implements Tap {
  readonly rate: PcmRate
  /** Frames that left. */
  readonly played: Int16Array[] = []
  /** Samples of each item that left, and that were queued. */
  readonly heard = new Map<number, number>()
  readonly sent = new Map<number, number>()
  /** Commands of the owner that concern a person at the far end, in order. */
  readonly commands: string[] = []
  mayFade = true
  isClosed = false
  isPaused = false
  #queue: Queued[] = []
  readonly #finished = new Set<number>()
  /** Numbers of all frames with sound, because tests ask for them at each frame. */
  readonly #audible: number[] = []
  /** Items whose rest was dropped. */
  readonly #dropped = new Set<number>()
  #events: TapEvent[] = []
  #marks: { readonly items: Set<number>; readonly done: () => void }[] = []
  #onEvent: (event: TapEvent) => void = () => {}
  #onFrame: (frame: TapFrame) => void = () => {}
  #onClosed: () => void = () => {}

  /** `rate`: sample rate in Hz that the owner asked for. */
  constructor(rate: PcmRate = 8000) {
    this.rate = rate
  }

  /** Queued speech, in ms. */
  get queuedMs(): number {
    return (this.#queue.reduce((sum, { samples }) => sum + samples.length, 0) * 1000) / this.rate
  }

  /** Numbers of the frames with sound, from a frame on. */
  sounds(from = 0): readonly number[] {
    return this.#audible.filter((at) => at >= from)
  }

  /** Strongest frequency of the frames with sound from a frame on, in Hz; 0 for silence. */
  pitch(from = 0): number {
    const frames = this.sounds(from).map((at) => this.played[at]!)
    const samples = new Int16Array(frames.length * this.#frameSamples)
    for (const [at, frame] of frames.entries()) samples.set(frame, at * frame.length)
    return samples.length === 0 ? 0 : dominant(samples, this.rate)
  }

  /** The next frame leaves, and one of the caller arrives: by default silence. `atMs`: its position. */
  frame(samples: Int16Array = new Int16Array(this.#frameSamples), atMs = 0): void {
    if (this.isClosed) return
    this.#play(atMs)
    this.#settleMarks()
    this.#onFrame({ track: 'in', atMs, samples })
  }

  /** Delivers the events so far. */
  deliver(): void {
    for (const event of this.#events.splice(0)) if (!this.isClosed) this.#onEvent(event)
  }

  /** The caller's voice begins or ends. */
  voice(isVoiced: boolean, atMs: number): void {
    const isFaded = isVoiced && this.mayFade && !this.isPaused && this.#queue.length > 0
    if (isFaded) this.isPaused = true
    this.#events.push(isVoiced ? { kind: 'voice-began', atMs, isFaded } : { kind: 'voice-ended', atMs })
  }

  /** The port is closed: the far end is gone. */
  dies(): void {
    this.#onClosed()
  }

  get #frameSamples(): number {
    return (this.rate * frameMs) / 1000
  }

  #play(atMs: number): void {
    const frame = new Int16Array(this.#frameSamples)
    let filled = 0
    while (!this.isPaused && filled < frame.length) {
      const [head] = this.#queue
      if (!head) break
      const { item } = head
      if (!this.heard.has(item)) this.#events.push({ kind: 'item-began', item, atMs })
      const part = head.samples.subarray(0, frame.length - filled)
      frame.set(part, filled)
      filled += part.length
      this.heard.set(item, (this.heard.get(item) ?? 0) + part.length)
      head.samples = head.samples.subarray(part.length)
      if (head.samples.length > 0) continue
      this.#queue.shift()
      this.#endIfOver(item)
    }
    if (isAudible(frame)) this.#audible.push(this.played.length)
    this.played.push(frame)
  }

  onFrame(listener: (frame: TapFrame) => void): void {
    this.#onFrame = listener
  }

  onEvent(listener: (event: TapEvent) => void): void {
    this.#onEvent = listener
  }

  onClosed(listener: () => void): void {
    this.#onClosed = listener
  }

  speak(samples: Int16Array, item = 0): void {
    if (samples.length === 0) return
    this.sent.set(item, (this.sent.get(item) ?? 0) + samples.length)
    this.#queue.push({ item, samples })
  }

  finish(item: number): void {
    this.#finished.add(item)
    this.#endIfOver(item)
  }

  pause(): void {
    this.isPaused = true
  }

  resume(): void {
    this.isPaused = false
  }

  async cut(): Promise<readonly ItemPosition[]> {
    const items = [...this.sent.keys()].filter((item) => !this.#dropped.has(item) && !this.#isEnded(item))
    const positions = items.map((item) => ({
      item,
      heardMs: ((this.heard.get(item) ?? 0) * 1000) / this.rate,
    }))
    for (const item of items) this.#dropped.add(item)
    this.#queue = []
    this.isPaused = false
    this.#settleMarks()
    return positions
  }

  clear(): void {
    this.#queue = []
    for (const item of this.sent.keys()) this.#dropped.add(item)
    this.#settleMarks()
  }

  spoken(): Promise<void> {
    const items = this.#waiting
    if (items.size === 0 || this.isClosed) return Promise.resolve()
    return new Promise((done) => this.#marks.push({ items, done }))
  }

  setReflex(): void {}

  allowFade(isAllowed: boolean): void {
    this.mayFade = isAllowed
  }

  background(): void {}

  moveTo(port: MediaPort): void {
    this.commands.push(`moveTo ${port.id}`)
  }

  close(): void {
    this.isClosed = true
    for (const { done } of this.#marks.splice(0)) done()
  }

  /** Items that wait or are being heard. */
  get #waiting(): Set<number> {
    return new Set(this.#queue.map(({ item }) => item))
  }

  #isEnded(item: number): boolean {
    return this.#finished.has(item) && !this.#waiting.has(item)
  }

  #endIfOver(item: number): void {
    if (this.#isEnded(item) && !this.#dropped.has(item)) this.#events.push({ kind: 'item-ended', item })
  }

  #settleMarks(): void {
    const waiting = this.#waiting
    this.#marks = this.#marks.filter(({ items, done }) => {
      if ([...items].some((item) => waiting.has(item))) return true
      done()
      return false
    })
  }
}

const isAudible = (frame: Int16Array): boolean => frame.some((sample) => Math.abs(sample) > audible)
