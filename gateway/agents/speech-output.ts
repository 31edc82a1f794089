import type { ItemPosition, PcmRate, Tap, TapEvent } from '../../media/types.ts'
import { RateConverter } from './engines/session/wire-audio.ts'
import { heardOfItem, heardText } from './text/heard-text.ts'

/** Receives the progress of the agent's speech. */
export interface SpeechListener {
  /** The first sound of an answer left, or the first one after {@link onPlayed}. */
  onBegan(answer: string): void
  /** Text of which the caller begins to hear the sound. `isMore`: it continues the text before. */
  onUtterance(answer: string, text: string, isMore: boolean): void
  /** Everything of an answer that was queued has left. */
  onEnded(answer: string): void
  /** Everything queued has left. */
  onPlayed(): void
}

/** Part of an answer: one item of the tap. */
interface SpokenItem {
  readonly answer: string
  readonly key: string
  text: string
  samples: number
  state: 'queued' | 'begun' | 'ended'
  /** Whether the engine has delivered all of it. */
  isComplete: boolean
  /** Position after a cut or the end, in ms. */
  heardMs: number
  /** Uptime of its begin, in ms. */
  beganAt: number
}

/** Text and audio of an answer that the caller heard. */
export interface Heard {
  /** Text that was given to the voice. */
  readonly spoken: string
  /** Text heard: whole words, by the share of each item's audio. */
  readonly text: string
  readonly ms: number
  /** Item that was being heard last, with its position; absent if none has begun. */
  readonly last?: { readonly item: string; readonly ms: number }
}

/** Maximum time by which audio of an engine with real-time pace is behind, in ms; more is dropped. */
const maxBehindMs = 200

/** Speech of an agent: gives items of answers to the tap, and knows what the caller heard of each. */
export class SpeechOutput {
  readonly #tap: Tap
  readonly #rate: PcmRate
  readonly #listener: SpeechListener
  readonly #uptime: () => number
  readonly #items = new Map<number, SpokenItem>()
  #number = 0
  /** Items that have not ended. */
  #open = 0
  /** Answer whose sound left last; undefined after a silence. */
  #speaking: string | undefined
  /** Uptime at which the queue of a real-time engine runs dry, in ms. */
  #dryAt = 0
  /** Uptime since which the tap is paused, in ms. */
  #pausedAt: number | undefined
  #converter: RateConverter

  /** `rate`: sample rate of the tap in Hz; `uptime`: see `SteadyClock`. */
  constructor(tap: Tap, rate: PcmRate, listener: SpeechListener, uptime: () => number) {
    this.#tap = tap
    this.#rate = rate
    this.#listener = listener
    this.#uptime = uptime
    this.#converter = new RateConverter(rate, rate)
  }

  /** Sets the sample rate in Hz of the audio of answers; default that of the tap. */
  set inputRate(rate: PcmRate) {
    this.#converter = new RateConverter(rate, this.#rate)
  }

  /** Whether something is queued or being heard. */
  get isBusy(): boolean {
    return this.#open > 0
  }

  /** Queues audio of an item. */
  audio(answer: string, key: string, samples: Int16Array): void {
    this.#speak(answer, key, this.#converter.convert(samples))
  }

  #speak(answer: string, key: string, samples: Int16Array): void {
    const [number, item] = this.#itemOf(answer, key)
    if (item.state === 'ended' || samples.length === 0) return
    // The queue may have run dry: that time was not heard.
    const dryMs = this.#now - item.beganAt - this.#msOf(item)
    if (item.state === 'begun' && dryMs > 0) item.beganAt += dryMs
    item.samples += samples.length
    this.#tap.speak(samples, number)
  }

  /**
   * Queues audio of an engine that speaks in real time. Audio that would be heard more than 200 ms late is
   * dropped, because each delay would last until the end of the call.
   */
  audioInRealTime(answer: string, key: string, samples: Int16Array): void {
    const now = this.#now
    const converted = this.#converter.convert(samples)
    if (this.#dryAt - now > maxBehindMs) return
    this.#dryAt = Math.max(now, this.#dryAt) + (converted.length * 1000) / this.#rate
    this.#speak(answer, key, converted)
  }

  /** Adds text of an item. */
  text(answer: string, key: string, text: string): void {
    const [, item] = this.#itemOf(answer, key)
    item.text += text
    if (item.state !== 'queued') this.#listener.onUtterance(answer, text, item.text !== text)
  }

  /** Ends an item: nothing follows. */
  end(answer: string, key: string): void {
    this.#complete(...this.#itemOf(answer, key))
  }

  /** Ends all items of an answer: nothing of it follows. */
  endAll(answer: string): void {
    for (const [number, item] of [...this.#items]) if (item.answer === answer) this.#complete(number, item)
  }

  /** The rest of an answer does not come: of its text, only that of its audio counts. */
  shorten(answer: string): void {
    for (const item of this.#items.values()) {
      if (item.answer !== answer || item.isComplete) continue
      const ms = this.#msOf(item)
      item.text = heardOfItem({ text: item.text, heardMs: ms, totalMs: ms, isComplete: false })
    }
  }

  #complete(number: number, item: SpokenItem): void {
    if (item.isComplete) return
    item.isComplete = true
    if (item.samples === 0) this.#ended(item)
    else this.#tap.finish(number)
  }

  /** Lowers the speech; the queue waits. */
  pause(): void {
    this.paused()
    this.#tap.pause()
  }

  /** The media thread has lowered the speech. */
  paused(): void {
    this.#pausedAt ??= this.#uptime()
  }

  /** Continues after a pause. */
  resume(): void {
    this.#resumed()
    this.#tap.resume()
  }

  #resumed(): void {
    if (this.#pausedAt === undefined) return
    const ms = this.#uptime() - this.#pausedAt
    if (this.#dryAt > this.#pausedAt) this.#dryAt += ms
    for (const item of this.#items.values()) if (item.state === 'begun') item.beganAt += ms
    this.#pausedAt = undefined
  }

  /** Queues a sound that belongs to no answer, such as a filler. */
  sound(samples: Int16Array): void {
    const number = this.#add({ answer: '', key: '', text: '' })
    this.#tap.speak(samples, number)
    this.#tap.finish(number)
  }

  /** Handles an event of the tap. */
  event(event: TapEvent): void {
    if (event.kind !== 'item-began' && event.kind !== 'item-ended') return
    const item = this.#items.get(event.item)
    if (!item) return
    if (event.kind === 'item-began') this.#began(item)
    else {
      if (item.answer === '') this.#items.delete(event.item)
      this.#ended(item)
    }
  }

  /** Drops everything that was not heard. Resolves when the positions are known. */
  async cut(): Promise<void> {
    const cutItems = [...this.#items.values()].filter(({ state }) => state !== 'ended')
    const now = this.#now
    this.#pausedAt = undefined
    for (const [number, item] of this.#items) if (item.answer === '') this.#items.delete(number)
    for (const item of cutItems) {
      if (item.state === 'begun') item.heardMs = Math.min(this.#msOf(item), now - item.beganAt)
      item.state = 'ended'
    }
    this.#open = 0
    this.#dryAt = 0
    this.#speaking = undefined
    this.#correct(await this.#tap.cut())
  }

  /** Returns the text and audio of an answer that the caller heard so far. */
  heardOf(answer: string): Heard {
    const items = [...this.#items.values()].filter((item) => item.answer === answer)
    const now = this.#now
    const played = items.map((item) => ({
      item,
      ms: item.state === 'begun' ? Math.min(this.#msOf(item), now - item.beganAt) : item.heardMs,
    }))
    const last = played.findLast(({ ms }) => ms > 0)
    return {
      spoken: joined(items.map(({ text }) => text)),
      text: heardText(
        played.map(({ item, ms }) => ({
          text: item.text,
          heardMs: ms,
          totalMs: this.#msOf(item),
          isComplete: item.isComplete,
        })),
      ),
      ms: Math.round(played.reduce((sum, { ms }) => sum + ms, 0)),
      ...(last && { last: { item: last.item.key, ms: Math.round(last.ms) } }),
    }
  }

  /** Forgets an answer that is over. */
  forget(answer: string): void {
    for (const [number, item] of this.#items) {
      if (item.answer !== answer) continue
      if (item.state !== 'ended') this.#open--
      this.#items.delete(number)
    }
  }

  /** Whether all items of an answer have ended. */
  isOver(answer: string): boolean {
    for (const item of this.#items.values())
      if (item.answer === answer && item.state !== 'ended') return false
    return true
  }

  /** Uptime in ms, which stands still during a pause. */
  get #now(): number {
    return this.#pausedAt ?? this.#uptime()
  }

  #correct(positions: readonly ItemPosition[]): void {
    for (const { item: number, heardMs } of positions) {
      const item = this.#items.get(number)
      if (item) item.heardMs = heardMs
    }
  }

  #began(item: SpokenItem): void {
    if (item.state !== 'queued') return
    const isNew = item.answer !== this.#speaking
    this.#speaking = item.answer
    item.state = 'begun'
    item.beganAt = this.#uptime()
    if (item.answer === '') return
    if (isNew) this.#listener.onBegan(item.answer)
    if (item.text !== '') this.#listener.onUtterance(item.answer, item.text, false)
  }

  #ended(item: SpokenItem): void {
    if (item.state === 'ended') return
    item.state = 'ended'
    item.heardMs = this.#msOf(item)
    this.#open--
    if (this.#open === 0) {
      this.#speaking = undefined
      this.#listener.onPlayed()
    }
    if (item.answer !== '' && this.isOver(item.answer)) this.#listener.onEnded(item.answer)
  }

  #itemOf(answer: string, key: string): [number, SpokenItem] {
    for (const [number, item] of this.#items)
      if (item.answer === answer && item.key === key) return [number, item]
    const number = this.#add({ answer, key, text: '' })
    return [number, this.#items.get(number)!]
  }

  #add(item: Pick<SpokenItem, 'answer' | 'key' | 'text'>): number {
    this.#number++
    this.#open++
    this.#items.set(this.#number, {
      ...item,
      samples: 0,
      state: 'queued',
      isComplete: false,
      heardMs: 0,
      beganAt: 0,
    })
    return this.#number
  }

  #msOf({ samples }: SpokenItem): number {
    return (samples * 1000) / this.#rate
  }
}

const joined = (texts: readonly string[]): string =>
  texts
    .map((text) => text.trim())
    .filter((text) => text !== '')
    .join(' ')
