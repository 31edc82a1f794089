import { isJsonObject } from '../../core/json.ts'
import type { EngineCall } from '../engine.ts'
import { kindOfCode } from '../engines/session/failures.ts'
import { EngineError } from '../streaming/engine-error.ts'
import { CallCollector } from './call-collector.ts'
import type { ModelUsage } from './model.ts'
import { SpokenText } from './spoken-text.ts'

/** Maximum number of characters of an answer: over two hours of speech. */
const maxTextLength = 100_000

/** End of an answer that was read. */
export interface ChatEnd {
  readonly how: 'completed' | 'incomplete'
  readonly calls: readonly EngineCall[]
  /** Text that was held back, as it might have begun a tag. */
  readonly rest: string
}

/**
 * Reader of the chunks of a chat completion. Usage may be in any chunk, or in none. Thoughts are in fields of
 * their own, or in tags. Calls have all shapes of {@link CallCollector}, and errors are part of the stream.
 */
export class ChatStream {
  readonly #calls = new CallCollector()
  readonly #spoken = new SpokenText()
  #finish: string | undefined
  #length = 0
  #isAnything = false
  #isDone = false
  usage: ModelUsage | undefined

  /** Whether the server named a reason for the end; only usage may follow. */
  get isFinished(): boolean {
    return this.#finish !== undefined || this.#isDone
  }

  /** Whether the server marked the end of the stream. */
  get isDone(): boolean {
    return this.#isDone
  }

  /**
   * Reads the data of an event. Returns the text to speak, and whether the model wrote anything, be it a
   * thought. Throws an {@link EngineError} for errors of the server and for what cannot be read.
   */
  read(data: string): { readonly text: string; readonly isToken: boolean } {
    const nothing = { text: '', isToken: false }
    if (data.trim() === '[DONE]') {
      this.#isDone = true
      return nothing
    }
    const chunk = parsed(data)
    const error = errorIn(chunk)
    if (error) throw error
    this.#readUsage(chunk.usage)
    const choice = Array.isArray(chunk.choices) ? chunk.choices[0] : undefined
    if (!isJsonObject(choice)) return nothing
    if (typeof choice.finish_reason === 'string' && choice.finish_reason !== '')
      this.#finish = choice.finish_reason
    const delta = choice.delta ?? choice.message
    return isJsonObject(delta) ? this.#readDelta(delta) : nothing
  }

  /** Ends the stream. Throws an {@link EngineError} if the server sent no answer. */
  end(): ChatEnd {
    if (!this.#isAnything && !this.isFinished)
      throw new EngineError('protocol', 'the stream ended without an answer')
    const isCut = this.#finish === undefined ? !this.#isDone : cutReasons.has(this.#finish)
    const how = this.#finish !== undefined && isCut ? 'incomplete' : 'completed'
    return { how, calls: this.#calls.take(isCut), rest: this.#spoken.end() }
  }

  #readDelta(delta: Record<string, unknown>): { readonly text: string; readonly isToken: boolean } {
    const content = textOf(delta.content) + (typeof delta.refusal === 'string' ? delta.refusal : '')
    this.#length += content.length
    if (this.#length > maxTextLength)
      throw new EngineError('protocol', `the answer is longer than ${maxTextLength} characters`)
    this.#calls.push(delta.tool_calls)
    // The older form, before calls could be several.
    if (isJsonObject(delta.function_call)) this.#calls.push([{ index: 0, function: delta.function_call }])
    const isToken =
      content !== '' || thoughtFields.some((name) => Boolean(delta[name])) || Boolean(delta.tool_calls)
    this.#isAnything ||= isToken
    return { text: this.#spoken.push(content), isToken }
  }

  #readUsage(usage: unknown): void {
    if (!isJsonObject(usage)) return
    const inputTokens = countOf(usage.prompt_tokens ?? usage.input_tokens)
    const outputTokens = countOf(usage.completion_tokens ?? usage.output_tokens)
    if (inputTokens === undefined && outputTokens === undefined) return
    this.usage = {
      ...(inputTokens !== undefined && { inputTokens }),
      ...(outputTokens !== undefined && { outputTokens }),
    }
  }
}

const cutReasons: ReadonlySet<string> = new Set(['length', 'max_tokens', 'content_filter'])

/** Fields in which servers send thoughts of the model. */
const thoughtFields = ['reasoning_content', 'reasoning', 'reasoning_details', 'thinking']

const countOf = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined

/** Returns the text of a content, which is a string or a list of parts. */
const textOf = (content: unknown): string => {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content
    .map((part) => (isJsonObject(part) && typeof part.text === 'string' ? part.text : ''))
    .join('')
}

const parsed = (data: string): Record<string, unknown> => {
  let chunk: unknown
  try {
    chunk = JSON.parse(data)
  } catch {
    chunk = undefined
  }
  if (!isJsonObject(chunk)) throw new EngineError('protocol', 'a JSON object expected in the stream')
  return chunk
}

/** Returns the error in a chunk, of the forms `{error: {…}}`, `{error: "…"}` and `{object: "error"}`. */
const errorIn = (chunk: Record<string, unknown>): EngineError | undefined => {
  const error = chunk.object === 'error' ? chunk : chunk.error
  if (error === undefined || error === null) return undefined
  const details = isJsonObject(error) ? error : {}
  const code = details.code ?? details.status ?? details.type
  return new EngineError(kindOfCode(code, 'server'), `the server reported an error${namedCode(code)}`)
}

/** Returns a code for a message; other values could contain text of the conversation. */
const namedCode = (code: unknown): string =>
  typeof code === 'number' || (typeof code === 'string' && /^[\w.-]{1,40}$/.test(code)) ? ` (${code})` : ''
