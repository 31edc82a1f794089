import type { AgentEvent, AgentMessage } from '../verbs.ts'

type Of<K extends AgentEvent['kind']> = Extract<AgentEvent, { readonly kind: K }>

/**
 * Window over the latest turns of a conversation, for `conversation_sliding_window`. It moves in steps of
 * half its size, because some engines open a new session for another history.
 */
export class SlidingWindow {
  readonly #turns: number
  #messages: AgentMessage[]

  /** `turns`: number of the caller's turns that remain; `history`: messages before the conversation. */
  constructor(turns: number, history: readonly AgentMessage[]) {
    this.#turns = turns
    this.#messages = [...history]
  }

  /** Begins with another history, for instance after a change of the context. */
  replace(history: readonly AgentMessage[]): void {
    this.#messages = [...history]
  }

  /** Adds a message that no event reports. */
  add(message: AgentMessage): void {
    this.#messages.push(message)
  }

  /** Takes an event. Returns the history that the model sees from now on; undefined: no change. */
  event(event: AgentEvent): readonly AgentMessage[] | undefined {
    if (event.kind === 'user') this.#user(event)
    else if (event.kind === 'function') {
      const content = `Result of ${event.call.name}: ${event.result}`
      this.#messages.push({ role: 'system', content })
    } else if (event.kind === 'answer') return this.#answer(event)
    return undefined
  }

  /** Adds a turn, which replaces those that it contains and their answers. */
  #user({ text, merged, language }: Of<'user'>): void {
    if (merged > 0) {
      const from = this.#turnsAt.at(-merged) ?? this.#messages.length
      const dropped = this.#messages.splice(from)
      this.#messages.push(...dropped.filter(({ role }) => role === 'system'))
    }
    this.#messages.push({ role: 'user', content: text, ...(language !== undefined && { language }) })
  }

  /** Adds an answer. Only a complete one moves the window: nothing else is in progress then. */
  #answer({ heard, spoken, isBarged, calls }: Of<'answer'>): readonly AgentMessage[] | undefined {
    const content = isBarged ? heard : spoken
    if (content !== '') this.#messages.push({ role: 'assistant', content })
    const turns = this.#turnsAt
    const tooMany = turns.length - this.#turns
    if (isBarged || calls.length > 0 || tooMany < Math.max(1, this.#turns >> 1)) return undefined
    this.#messages = this.#messages.slice(turns[tooMany])
    return [...this.#messages]
  }

  /** Positions of the user's turns. */
  get #turnsAt(): readonly number[] {
    return this.#messages.flatMap(({ role }, i) => (role === 'user' ? i : []))
  }
}
