import type { EngineMessage } from '../../engine.ts'

/** Number of messages that are kept. */
const maxMessages = 200

/** Conversation as pieces of text arrive: pieces of one side in a row are one message. */
export class Transcript {
  #messages: EngineMessage[]
  /** Side of the last message, if pieces can still be added to it. */
  #open: 'user' | 'assistant' | undefined
  /** Text of the caller that was not taken yet. */
  #caller = ''

  constructor(history: readonly EngineMessage[]) {
    this.#messages = [...history]
  }

  get messages(): readonly EngineMessage[] {
    return this.#messages
  }

  add(message: EngineMessage): void {
    this.#open = undefined
    this.#push(message)
  }

  /** Adds a piece. Returns the whole text of the side's message so far. */
  piece(role: 'user' | 'assistant', text: string): string {
    if (role === 'user') this.#caller += text
    const last = this.#messages.at(-1)
    if (this.#open === role && last?.role === role) {
      const content = last.content + text
      this.#messages[this.#messages.length - 1] = { role, content }
      return content.trim()
    }
    if (text.trim() === '') return ''
    this.#open = role
    this.#push({ role, content: text })
    return text.trim()
  }

  /** Takes the text that the caller said since the last time. */
  takeCaller(): string {
    const text = this.#caller.trim()
    this.#caller = ''
    return text
  }

  #push(message: EngineMessage): void {
    this.#messages.push(message)
    if (this.#messages.length > maxMessages) this.#messages.shift()
  }
}
