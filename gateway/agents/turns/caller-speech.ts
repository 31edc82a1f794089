import { wordsOf } from '../text/words.ts'
import type { CallerTurn } from './turn-types.ts'

/** Recognition, as engines report it. */
export interface Heard {
  readonly text: string
  readonly isFinal: boolean
  readonly confidence?: number
  readonly language?: string
  /** Whether the words are mostly those that the agent said lately. */
  readonly isEcho?: boolean
}

const joined = (parts: readonly string[]): string => parts.filter((part) => part !== '').join(' ')

const tokensOf = (text: string): string[] => text.split(/\s/).filter((token) => token !== '')

const normal = (token: string): string => wordsOf(token).join('')

/** Whether the tokens begin with the others, apart from case and punctuation. */
const beginsWith = (tokens: readonly string[], begin: readonly string[]): boolean =>
  begin.every((token, i) => normal(tokens[i] ?? '') === normal(token))

/** Words of the caller's turn in progress. Times are uptimes in ms. */
export class CallerSpeech {
  #finals: string[] = []
  #partial = ''
  #merged = 0
  #startedAt: number | undefined
  #lowest: number | undefined
  /** Words of a partial recognition that the turn before took as they were; its final comes late. */
  #taken: readonly string[] | undefined
  /** Whether new voice began since then. */
  #hasNewVoice = false
  language: string | undefined
  /** Time of the last recognition of this turn. */
  recognisedAt: number | undefined
  /** Turn of the engine: it has begun, or it has ended and waits for its text. */
  engine: 'none' | 'began' | 'ended' = 'none'
  /** Whether the turn interrupted the agent. */
  isInterruption = false

  /** Everything said so far. */
  get text(): string {
    return joined([...this.#finals, this.#partial])
  }

  /** Whether all of the text is final. */
  get isFinal(): boolean {
    return this.#partial === ''
  }

  /** Lowest confidence of its recognitions. */
  get confidence(): number | undefined {
    return this.#lowest
  }

  get startedAt(): number | undefined {
    return this.#startedAt
  }

  /** Voice or words began, if they had not. */
  begin(at: number): void {
    this.#startedAt ??= at
  }

  /**
   * Adds a recognition; a partial one replaces the one before. Returns false if it has nothing new: the turn
   * before took its words as they were.
   */
  add(heard: Heard, now: number): boolean {
    const text = this.#newText(heard.text.trim(), heard.isFinal)
    if (text === undefined) return false
    this.#partial = heard.isFinal ? '' : text
    if (text === '') return true
    if (heard.isFinal) this.#finals.push(text)
    this.begin(now)
    this.recognisedAt = now
    this.language = heard.language ?? this.language
    if (heard.isFinal && heard.confidence !== undefined)
      this.#lowest = Math.min(this.#lowest ?? 1, heard.confidence)
    return true
  }

  /** Returns the part of a recognition that the turn before did not contain; undefined if nothing is new. */
  #newText(text: string, isFinal: boolean): string | undefined {
    const taken = this.#taken
    if (!taken) return text
    const tokens = tokensOf(text)
    const isSame = beginsWith(tokens, taken)
    // A recogniser may repeat a shorter form; after new voice, the same first words begin new speech.
    if (!isFinal && !this.#hasNewVoice && beginsWith(taken, tokens)) return undefined
    // A partial recognition of other words is new speech; a final one corrects the words that were taken.
    if (isFinal || !isSame) this.#taken = undefined
    if (!isFinal && !isSame) return text
    if (!isSame && this.#hasNewVoice && !tokens.some((token) => taken.includes(token))) return text
    if (tokens.length <= taken.length + (isSame ? 0 : 1)) return undefined
    return tokens.slice(taken.length).join(' ')
  }

  /** Voice began: recognitions may be of new speech. */
  voiceBegan(): void {
    this.#hasNewVoice = true
  }

  /** Continues the turn before: its text comes first. */
  prepend(turn: CallerTurn): void {
    this.#finals = [turn.text, ...this.#finals]
    this.#merged = turn.merged + 1
    this.#startedAt = turn.startedAt ?? this.#startedAt
    if (turn.confidence !== undefined) this.#lowest = Math.min(this.#lowest ?? 1, turn.confidence)
  }

  /** Number of earlier turns in it. */
  get merged(): number {
    return this.#merged
  }

  /** Removes everything: the turn is complete, or was an acknowledgement. */
  clear(): void {
    if (this.#partial !== '') {
      this.#taken = [...(this.#taken ?? []), ...tokensOf(this.#partial)]
      this.#hasNewVoice = false
    }
    this.#finals = []
    this.#partial = ''
    this.#merged = 0
    this.#startedAt = undefined
    this.#lowest = undefined
    this.recognisedAt = undefined
    this.engine = 'none'
    this.isInterruption = false
  }
}
