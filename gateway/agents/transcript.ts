import type { AgentMessage } from '../../handlers/verbs.ts'
import type { EngineCall, EngineMessage } from './engine.ts'

/** Entry of an answer, which changes while the answer is spoken. */
interface AnswerEntry {
  readonly answer: string
  content: string
  readonly calls: EngineCall[]
}

/** Entry of a result. Its call is in the entry of an answer. */
interface ResultEntry {
  readonly callId: string
  readonly name: string
  readonly content: string
}

type Entry =
  | { readonly kind: 'message'; readonly message: AgentMessage }
  | { readonly kind: 'answer'; readonly entry: AnswerEntry }
  | { readonly kind: 'result'; readonly entry: ResultEntry }

/** Maximum number of entries; the oldest ones are dropped. A model would not read more. */
const maxEntries = 1_000

/**
 * History of a conversation, independent of the engine: a second session or another engine goes on with it.
 * An answer counts with the text that the caller heard. Each call has an id of its own in the history, since
 * engines count their calls anew in each session.
 */
export class Transcript {
  #entries: Entry[]
  /** Calls under their ids in the history. */
  readonly #calls = new WeakMap<EngineCall, EngineCall>()
  readonly #ids = new Set<string>()

  constructor(history: readonly AgentMessage[]) {
    this.#entries = history.map((message) => ({ kind: 'message', message }))
  }

  /** Adds a message. */
  add(message: AgentMessage): void {
    this.#push({ kind: 'message', message })
  }

  /** Sets the text of an answer: the text heard so far, or all of it. Adds the answer if it is new. */
  answer(answer: string, content: string): void {
    this.#entryOf(answer).content = content
  }

  /** Adds a call of a function to its answer. */
  call(answer: string, call: EngineCall): void {
    const kept = { ...call, id: this.#newId(call.id) }
    this.#calls.set(call, kept)
    this.#entryOf(answer).calls.push(kept)
  }

  /** Adds the result of a call, as a message if the history no longer has the call. */
  result(call: EngineCall, content: string): void {
    const kept = this.#calls.get(call)
    const { name } = call
    if (kept && this.#hasCall(kept.id))
      this.#push({ kind: 'result', entry: { callId: kept.id, name, content } })
    else this.add({ role: 'system', content: `Result of ${name}: ${content}` })
  }

  /** Removes an answer that never happened for the caller, unless it has called functions. */
  drop(answer: string): void {
    this.#entries = this.#entries.filter(
      (each) => !(each.kind === 'answer' && each.entry.answer === answer && each.entry.calls.length === 0),
    )
  }

  /** Removes the caller's last turn and returns it; undefined if an answer follows it. */
  dropTurn(): AgentMessage | undefined {
    const last = this.#entries.at(-1)
    if (last?.kind !== 'message' || last.message.role !== 'user') return undefined
    this.#entries.pop()
    return last.message
  }

  /** Replaces everything but the calls that run: their results follow. */
  replace(history: readonly AgentMessage[]): void {
    const answered = this.#answered
    const running = this.#entries.flatMap((each): Entry[] => {
      if (each.kind !== 'answer') return []
      const calls = each.entry.calls.filter(({ id }) => !answered.has(id))
      return calls.length > 0 ? [{ kind: 'answer', entry: { ...each.entry, content: '', calls } }] : []
    })
    this.#entries = [...history.map((message): Entry => ({ kind: 'message', message })), ...running]
  }

  /**
   * Messages for an engine. Calls without a result are left out: models reject them. Their results follow as
   * messages.
   */
  get messages(): readonly EngineMessage[] {
    const answered = this.#answered
    return this.#entries.flatMap((each): EngineMessage[] => {
      if (each.kind === 'message') return [each.message]
      if (each.kind === 'result') return [{ role: 'tool', ...each.entry }]
      const calls = each.entry.calls.filter(({ id }) => answered.has(id))
      if (each.entry.content === '' && calls.length === 0) return []
      return [{ role: 'assistant', content: each.entry.content, ...(calls.length > 0 && { calls }) }]
    })
  }

  /** Ids of the calls that have results. */
  get #answered(): ReadonlySet<string> {
    return new Set(this.#entries.flatMap((each) => (each.kind === 'result' ? each.entry.callId : [])))
  }

  #hasCall(id: string): boolean {
    return this.#entries.some(
      (each) => each.kind === 'answer' && each.entry.calls.some((call) => call.id === id),
    )
  }

  #newId(id: string): string {
    let unique = id
    for (let n = 2; this.#ids.has(unique); n++) unique = `${id}-${n}`
    this.#ids.add(unique)
    return unique
  }

  #entryOf(answer: string): AnswerEntry {
    const found = this.#entries.findLast((each) => each.kind === 'answer' && each.entry.answer === answer)
    if (found?.kind === 'answer') return found.entry
    const entry: AnswerEntry = { answer, content: '', calls: [] }
    this.#push({ kind: 'answer', entry })
    return entry
  }

  #push(entry: Entry): void {
    this.#entries.push(entry)
    if (this.#entries.length > maxEntries) this.#dropOldest()
  }

  /** Drops the oldest entry, and with an answer the results of its calls: models reject a result alone. */
  #dropOldest(): void {
    const oldest = this.#entries.shift()
    if (oldest?.kind !== 'answer' || oldest.entry.calls.length === 0) return
    const dropped = new Set(oldest.entry.calls.map(({ id }) => id))
    this.#entries = this.#entries.filter((each) => each.kind !== 'result' || !dropped.has(each.entry.callId))
  }
}
