import { wordsOf } from './words.ts'

/** Usual duration of one spoken word, in ms, for the time at which a text has been heard. */
const wordMs = 400
/** Time after the end of a text in which a recogniser may still report its echo, in ms. */
const memoryMs = 6_000
/** Most words of the agent and of a recognition that are compared. */
const maxOwnWords = 400
const maxHeardWords = 60
/** Least share of the words of a recognition that makes it an echo. */
const echoShare = 0.7

interface Spoken {
  readonly text: string
  /** Time at which it has probably been heard to its end, in ms. */
  readonly until: number
}

/** Length of the longest sequence of words that both texts have in the same order. */
const commonLength = (heard: readonly string[], own: readonly string[]): number => {
  let row = new Uint16Array(own.length + 1)
  for (const word of heard) {
    const next = new Uint16Array(own.length + 1)
    for (const [at, each] of own.entries())
      next[at + 1] = word === each ? row[at]! + 1 : Math.max(row[at + 1]!, next[at]!)
    row = next
  }
  return row[own.length]!
}

/**
 * Words that the agent said in the last seconds. A recogniser may understand their echo although no voice
 * was detected. Times are uptimes in ms.
 */
export class OwnWords {
  #spoken: Spoken[] = []

  /** The caller begins to hear a text. `isMore`: it continues the text before, perhaps within a word. */
  add(text: string, now: number, isMore = false): void {
    const from = Math.max(now, this.#spoken.at(-1)?.until ?? 0)
    this.#forget(now)
    this.#spoken.push({ text: isMore ? text : ` ${text}`, until: from + wordsOf(text).length * wordMs })
  }

  /** Whether a recognition consists mostly of the agent's own words, in their order. */
  isEcho(text: string, now: number): boolean {
    this.#forget(now)
    const heard = wordsOf(text).slice(-maxHeardWords)
    if (heard.length === 0) return false
    const own = wordsOf(this.#spoken.map((each) => each.text).join('')).slice(-maxOwnWords)
    return commonLength(heard, own) >= echoShare * heard.length
  }

  /** Nothing more of the texts is heard: the caller interrupted. */
  stop(now: number): void {
    this.#spoken = this.#spoken.map(({ text, until }) => ({ text, until: Math.min(until, now) }))
  }

  #forget(now: number): void {
    this.#spoken = this.#spoken.filter(({ until }) => now - until <= memoryMs)
  }
}
