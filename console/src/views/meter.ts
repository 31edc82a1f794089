import { type LevelMeter, levels, meterOf } from '@trunkline/client'
import { element } from '../dom.ts'

/** Level meter of a stream. */
export class Meter {
  readonly element: HTMLElement
  readonly #bar: HTMLElement
  readonly #audio: () => AudioContext
  #stream: MediaStream | undefined
  #meter: LevelMeter | undefined

  constructor(label: string, testId: string, audio: () => AudioContext) {
    this.#audio = audio
    this.#bar = element('span', { class: 'bar' })
    this.element = element(
      'div',
      {
        class: 'meter',
        role: 'meter',
        'aria-label': label,
        'aria-valuemin': '0',
        'aria-valuemax': '100',
        'aria-valuenow': '0',
        'data-testid': testId,
        'data-level': '0',
      },
      this.#bar,
    )
  }

  /** Follows a stream; undefined for none. A stream without audio is tried again with the next call. */
  follow(stream: MediaStream | undefined): void {
    const usable = stream?.getAudioTracks().length ? stream : undefined
    if (usable === this.#stream) return
    this.#meter?.close()
    this.#stream = usable
    this.#meter = usable && levels(usable, this.#audio())
    this.draw()
  }

  /**
   * Reads and shows the level: `data-level` is linear (0 to 1), the bar and `aria-valuenow` are logarithmic.
   */
  draw(): void {
    const level = this.#meter?.level() ?? 0
    const seen = meterOf(level)
    this.#bar.style.transform = `scaleX(${seen.toFixed(3)})`
    this.element.dataset.level = level.toFixed(4)
    this.element.setAttribute('aria-valuenow', String(Math.round(seen * 100)))
  }
}
