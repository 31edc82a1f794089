import type { EngineCall, EngineMessage } from '../../engine.ts'

interface Entry {
  readonly message: EngineMessage
  /** Answer whose message it is. */
  readonly answer?: string
}

/** Messages of a conversation as the model sees them, corrected by what the caller heard. */
export class History {
  #entries: Entry[]

  constructor(messages: readonly EngineMessage[]) {
    this.#entries = messages.map((message) => ({ message }))
  }

  /** Messages in order. */
  get messages(): readonly EngineMessage[] {
    return this.#entries.map(({ message }) => message)
  }

  /** Replaces all messages. */
  replace(messages: readonly EngineMessage[]): void {
    this.#entries = messages.map((message) => ({ message }))
  }

  add(message: EngineMessage): void {
    this.#entries.push({ message })
  }

  /** Adds the message of an answer, if it has text or calls. */
  addAnswer(answer: string, content: string, calls: readonly EngineCall[]): void {
    if (content === '' && calls.length === 0) return
    this.#entries.push({ answer, message: assistant(content, calls) })
  }

  /**
   * Adds the result of a call. The call is added, too, if its message is gone: its function may have replaced
   * the history.
   */
  addResult(call: EngineCall, content: string): void {
    const isKnown = this.#entries.some(({ message }) => callsOf(message).some(({ id }) => id === call.id))
    if (!isKnown) this.add(assistant('', [call]))
    this.add({ role: 'tool', callId: call.id, name: call.name, content })
  }

  /** Corrects the text of an answer to what was heard. An answer without text and calls is removed. */
  correct(answer: string, heard: string): void {
    this.#entries = this.#entries.flatMap((entry) => {
      if (entry.answer !== answer) return [entry]
      const calls = callsOf(entry.message)
      return heard === '' && calls.length === 0 ? [] : [{ answer, message: assistant(heard, calls) }]
    })
  }

  /** Removes the text of the answers after the last one with the id `answer`. */
  removeAfter(answer: string): void {
    const last = this.#entries.findLastIndex((entry) => entry.answer === answer)
    for (const later of this.#entries.slice(last + 1)) if (later.answer) this.correct(later.answer, '')
  }

  /** Removes an answer that never happened. */
  remove(answer: string): void {
    this.#entries = this.#entries.filter((entry) => entry.answer !== answer)
  }

  /** Removes the last turn of the caller, and the text of the answers after it. */
  removeTurn(): void {
    const last = this.#entries.findLastIndex(({ message }) => message.role === 'user')
    const turn = this.#entries[last]
    if (!turn) return
    for (const { answer } of this.#entries.slice(last + 1)) if (answer) this.correct(answer, '')
    this.#entries.splice(this.#entries.indexOf(turn), 1)
  }

  /** Removes the text of the last answer, unless the caller has spoken since. */
  removeLastAnswer(): void {
    const last = this.#entries.findLast(({ message, answer }) => answer || message.role === 'user')
    if (last?.answer) this.correct(last.answer, '')
  }
}

const assistant = (content: string, calls: readonly EngineCall[]): EngineMessage => ({
  role: 'assistant',
  content,
  ...(calls.length > 0 && { calls }),
})

const callsOf = (message: EngineMessage): readonly EngineCall[] =>
  message.role === 'assistant' ? (message.calls ?? []) : []
