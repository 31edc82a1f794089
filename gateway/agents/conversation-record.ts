import type { AgentEvent, AgentOptions } from '../../handlers/verbs.ts'
import type { SteadyClock } from '../core/clock.ts'
import type { Rewriter } from './text/pronounce.ts'
import { Transcript } from './transcript.ts'
import { TurnStamps } from './turn-stamps.ts'
import type { CallerTurn } from './turns/turn-types.ts'

/** Event without its time. */
export type Happening = AgentEvent extends infer E ? (E extends AgentEvent ? Omit<E, 'at'> : never) : never

type Usage = Extract<AgentEvent, { kind: 'usage' }>

/** Options of a {@link ConversationRecord}. */
export interface RecordOptions extends Pick<AgentOptions, 'history' | 'onEvent'> {
  /** Rewrites recognised text. */
  readonly correct: Rewriter
  /** Most tokens of language models; absent: no limit. */
  readonly maxTokens?: number
}

/** Record of a conversation: the history for engines, the times, and the events for the document. */
export class ConversationRecord {
  readonly transcript: Transcript
  readonly stamps: TurnStamps
  readonly clock: SteadyClock
  readonly #correct: Rewriter
  readonly #onEvent: AgentOptions['onEvent']
  readonly #maxTokens: number
  readonly #onError: (error: unknown) => void
  #tokens = 0
  #hasSkippedCorrections = false
  #isOver = false

  /** `onError`: receives what the listener of the events throws. */
  constructor(
    { history, onEvent, correct, maxTokens = Infinity }: RecordOptions,
    clock: SteadyClock,
    onError: (error: unknown) => void,
  ) {
    this.transcript = new Transcript(history)
    this.stamps = new TurnStamps(clock)
    this.clock = clock
    this.#correct = correct
    this.#maxTokens = maxTokens
    this.#onEvent = onEvent
    this.#onError = onError
  }

  /** Reports an event. Nothing is reported after the end. */
  emit(event: Happening): void {
    if (this.#isOver) return
    this.#isOver = event.kind === 'ended'
    try {
      this.#onEvent({ at: this.clock.now(), ...event } as AgentEvent)
    } catch (error) {
      this.#onError(error)
    }
  }

  warn(code: string, message: string): void {
    this.emit({ kind: 'warning', code, message })
  }

  /** Rewrites recognised text by the document's rules. Warns once if they are too much work for a text. */
  correct(text: string): string {
    return this.#correct(text, () => {
      if (this.#hasSkippedCorrections) return
      this.#hasSkippedCorrections = true
      this.warn('corrections-limit', 'Corrections of a text were skipped: all of them are too much work.')
    })
  }

  /** Adds use of the engines. Returns whether it exceeds the limit of tokens, once. */
  usage(usage: Partial<Omit<Usage, 'kind' | 'at'>>): boolean {
    const { inputTokens = 0, outputTokens = 0, voiceCharacters = 0, recognisedMs = 0 } = usage
    const before = this.#tokens
    this.#tokens += inputTokens + outputTokens
    this.emit({ kind: 'usage', inputTokens, outputTokens, voiceCharacters, recognisedMs })
    if (before > this.#maxTokens || this.#tokens <= this.#maxTokens) return false
    this.warn('token-limit', `The conversation has used more than ${this.#maxTokens} tokens.`)
    return true
  }

  /** Adds a complete turn of the caller. */
  userTurn(turn: CallerTurn): void {
    const { text, by, confidence, language, merged, endedBy } = turn
    this.transcript.add({ role: 'user', content: text, ...(language !== undefined && { language }) })
    this.emit({
      kind: 'user',
      text,
      by,
      merged,
      endedBy,
      ...(confidence !== undefined && { confidence }),
      ...(language !== undefined && { language }),
      ...this.stamps.timesOf(turn),
    })
  }
}
