/** Time in ms over which lines are counted. */
const windowMs = 60_000
/** Maximum number of lines in that time, for one source and for all sources together. */
const maxLines = { source: 10, all: 600 }
/** Maximum number of remembered sources. */
const maxSources = 10_000

interface Window {
  readonly since: number
  lines: number
  /** Lines that were left out. */
  suppressed: number
}

/** Rejections without a separate log line. */
export interface SuppressedLines {
  readonly source: string
  readonly count: number
}

/**
 * Decides which rejections get a separate log line, so that rejected requests cannot fill a disk. Metrics
 * count all of them.
 */
export class RefusalLog {
  readonly #now: () => number
  readonly #report: (leftOut: SuppressedLines) => void
  /** Windows of the sources, the oldest one first. */
  readonly #windows = new Map<string, Window>()
  #all: Window

  /** `tell` is called with the number of suppressed lines of a source, at the end of its window. */
  constructor(now: () => number, tell: (leftOut: SuppressedLines) => void) {
    this.#now = now
    this.#report = tell
    this.#all = { since: now(), lines: 0, suppressed: 0 }
  }

  /** Number of remembered sources; bounded. */
  get size(): number {
    return this.#windows.size
  }

  /** Whether a rejection of this source gets a separate log line. If not, it is counted as suppressed. */
  shouldLog(source: string): boolean {
    const now = this.#now()
    this.#sweep(now)
    const window = this.#windows.get(source) ?? { since: now, lines: 0, suppressed: 0 }
    this.#windows.set(source, window)
    if (window.lines < maxLines.source && this.#all.lines < maxLines.all) {
      window.lines++
      this.#all.lines++
      return true
    }
    window.suppressed++
    return false
  }

  /** Reports the lines suppressed so far. */
  close(): void {
    for (const source of [...this.#windows.keys()]) this.#end(source)
  }

  #sweep(now: number): void {
    const isOver = ({ since }: Window) => now - since >= windowMs || now < since
    if (isOver(this.#all)) this.#all = { since: now, lines: 0, suppressed: 0 }
    for (const [source, window] of this.#windows) {
      if (!isOver(window) && this.#windows.size < maxSources) return
      this.#end(source)
    }
  }

  #end(source: string): void {
    const count = this.#windows.get(source)?.suppressed ?? 0
    this.#windows.delete(source)
    if (count > 0) this.#report({ source, count })
  }
}
