import { styleText } from 'node:util'
import type { Clock } from '../core/clock.ts'
import { SystemClock } from '../core/clock.ts'

/** Stream that shows progress; default the standard error output. */
export type ProgressStream = Pick<NodeJS.WriteStream, 'write' | 'isTTY'>

/** Minimum time between two updates of a terminal, in ms. */
const updateMs = 100

/**
 * Progress of long work. A terminal shows one line that changes. Any other stream gets one line when the work
 * begins.
 */
export class Progress {
  readonly #stream: ProgressStream
  readonly #clock: Pick<Clock, 'now'>
  readonly #label: string
  readonly #total: number
  #done = 0
  #shownAt = Number.NEGATIVE_INFINITY

  /** `label` is a phrase such as "Copying the recordings". `total` is the amount of work, in bytes. */
  constructor(
    label: string,
    total: number,
    stream: ProgressStream = process.stderr,
    clock: Pick<Clock, 'now'> = new SystemClock(),
  ) {
    this.#label = label
    this.#total = total
    this.#stream = stream
    this.#clock = clock
    if (stream.isTTY) this.#show()
    else stream.write(`${label} (${sizeText(total)})\n`)
  }

  /** Adds finished work, in bytes. */
  add(bytes: number): void {
    this.#done += bytes
    if (this.#stream.isTTY && this.#clock.now() - this.#shownAt >= updateMs) this.#show()
  }

  /** Removes the line from the terminal. */
  end(): void {
    if (this.#stream.isTTY) this.#stream.write('\r\u001b[K')
  }

  #show(): void {
    this.#shownAt = this.#clock.now()
    const percent = this.#total === 0 ? 100 : Math.min(100, Math.floor((100 * this.#done) / this.#total))
    const amount = styleText('dim', `${sizeText(this.#done)} of ${sizeText(this.#total)}`)
    this.#stream.write(`\r\u001b[K${this.#label} ${String(percent).padStart(3)} %  ${amount}`)
  }
}

/** Returns a number of bytes for a person, such as "1.4 MB". */
export const sizeText = (bytes: number): string => {
  const units = ['bytes', 'kB', 'MB', 'GB', 'TB'] as const
  let size = bytes
  let unit = 0
  for (; size >= 1000 && unit < units.length - 1; unit++) size /= 1000
  return `${unit === 0 ? size : size.toFixed(1)} ${units[unit]}`
}
