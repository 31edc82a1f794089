import { isJsonObject } from '../../core/json.ts'

/** Item of a conversation. */
export interface ConversationItem {
  readonly id: string
  readonly value: Record<string, unknown>
  /** Audio of an assistant's message that was sent, in ms; absent for other items. */
  audioMs?: number
}

/** Items of a conversation, in order. */
export class ConversationItems {
  #items: ConversationItem[] = []

  get last(): ConversationItem | undefined {
    return this.#items.at(-1)
  }

  find(id: unknown): ConversationItem | undefined {
    return this.#items.find((item) => item.id === id)
  }

  /** Returns the id of the item before an item. */
  before(id: string): string | null {
    const at = this.#items.findIndex((item) => item.id === id)
    return this.#items[at - 1]?.id ?? null
  }

  /**
   * Adds an item: at the end, at the begin (`root`), or after another. Returns false if that one is
   * missing.
   */
  add(item: ConversationItem, after?: unknown): boolean {
    if (after === undefined || after === null) this.#items.push(item)
    else if (after === 'root') this.#items.unshift(item)
    else {
      const at = this.#items.findIndex(({ id }) => id === after)
      if (at === -1) return false
      this.#items.splice(at + 1, 0, item)
    }
    return true
  }

  delete(id: unknown): boolean {
    const count = this.#items.length
    this.#items = this.#items.filter((item) => item.id !== id)
    return this.#items.length < count
  }

  /** Returns the function calls without a result. */
  get openCalls(): readonly string[] {
    const answered = new Set(this.#ofType('function_call_output').map(({ call_id }) => call_id))
    return this.#ofType('function_call')
      .map(({ call_id }) => String(call_id))
      .filter((id) => !answered.has(id))
  }

  /** Returns the name of the function of a call. */
  nameOf(callId: unknown): string | undefined {
    const call = this.#ofType('function_call').find(({ call_id }) => call_id === callId)
    return call && String(call.name)
  }

  #ofType(type: string): readonly Record<string, unknown>[] {
    return this.#items.map(({ value }) => value).filter((value) => value.type === type)
  }
}

/** Returns the text of a message. */
export const messageText = ({ content }: Readonly<Record<string, unknown>>): string =>
  (Array.isArray(content) ? content : [])
    .filter(isJsonObject)
    .map(({ text, transcript }) => String(text ?? transcript ?? ''))
    .join(' ')
