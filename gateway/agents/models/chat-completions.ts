import type { Clock } from '../../core/clock.ts'
import { isJsonObject } from '../../core/json.ts'
import { Deadline } from '../streaming/deadline.ts'
import { EngineError, engineErrorOf } from '../streaming/engine-error.ts'
import { ServerSentEvents } from '../streaming/server-sent-events.ts'
import {
  HttpRejection,
  readAll,
  type StreamingHttp,
  type StreamingResponse,
} from '../streaming/streaming-http.ts'
import { chatMessages, chatTools } from './chat-messages.ts'
import { ChatStream } from './chat-stream.ts'
import type { Model, ModelAnswer, ModelListener, ModelRequest } from './model.ts'

/** Options of {@link ChatCompletions}. */
export interface ChatCompletionsOptions {
  /** Name in the configuration. */
  readonly name: string
  /** Base URL, for instance `https://api.openai.com/v1`; a query is kept. */
  readonly url: string
  readonly model: string
  /** Key, sent as a bearer token. Never logged. */
  readonly key?: string
  /** Further headers, for instance `api-key`. Never logged. */
  readonly headers?: Readonly<Record<string, string>>
  /** Temperature of requests that name none; default the server's. */
  readonly temperature?: number
  /** Name of the limit of tokens; default `max_completion_tokens`, and the other one if that is rejected. */
  readonly limitName?: LimitName
  /** Role of system messages after the first; default `system`, which some templates reject. */
  readonly laterRole?: 'system' | 'developer' | 'user'
  /** Maximum wait for the first token, in ms; default 10,000. */
  readonly firstTokenMs?: number
  /** Maximum wait between tokens, in ms; default 5000. */
  readonly tokenMs?: number
}

type LimitName = 'max_completion_tokens' | 'max_tokens'

/** Maximum number of characters of an event of the stream. */
const maxEventLength = 1_048_576
/** Maximum number of bytes of a stream: thoughts and comments count. */
const maxStreamBytes = 33_554_432
/** Wait for usage and the mark of the end, after the reason for the end, in ms. */
const maxRestMs = 1000
/** Maximum number of requests for one answer: each but the first leaves out a rejected parameter. */
const maxTries = 4
/** Parameters that servers may reject, and that an answer does not depend on. */
const dispensable = [
  'stream_options',
  'temperature',
  'top_p',
  'presence_penalty',
  'frequency_penalty',
  'tool_choice',
] as const

/**
 * Model behind the interface of OpenAI's chat completions, with streaming: hosted ones, vLLM, llama.cpp,
 * Ollama and others. Parameters that the server rejects are left out from then on.
 */
export class ChatCompletions implements Model {
  readonly name: string
  readonly #options: ChatCompletionsOptions
  readonly #http: StreamingHttp
  readonly #clock: Clock
  readonly #url: string
  readonly #rejected = new Set<string>()
  readonly #answers = new Set<ChatAnswer>()

  constructor(options: ChatCompletionsOptions, http: StreamingHttp, clock: Clock) {
    this.name = options.name
    this.#options = options
    this.#http = http
    this.#clock = clock
    const url = new URL(options.url)
    url.pathname = `${url.pathname.replace(/\/$/, '')}/chat/completions`
    this.#url = url.href
  }

  answer(request: ModelRequest, listener: ModelListener): ModelAnswer {
    const { firstTokenMs = 10_000, tokenMs = 5000 } = this.#options
    const deadline = new Deadline(this.#clock)
    deadline.set(firstTokenMs, 'no first token was received')
    const answer = new ChatAnswer({ listener, deadline, tokenMs }, () => this.#answers.delete(answer))
    this.#answers.add(answer)
    void answer.run(() => this.#send(request, deadline.signal))
    return answer
  }

  async close(): Promise<void> {
    for (const answer of this.#answers) answer.cancel()
  }

  async #send(request: ModelRequest, signal: AbortSignal): Promise<StreamingResponse> {
    const { key, headers } = this.#options
    for (let left = maxTries - 1; ; left--) {
      try {
        return await this.#http.post(
          {
            url: this.#url,
            headers: {
              accept: 'text/event-stream',
              'content-type': 'application/json',
              ...(key && { authorization: `Bearer ${key}` }),
              ...headers,
            },
            body: JSON.stringify(this.#body(request)),
          },
          signal,
        )
      } catch (error) {
        const name = left > 0 ? this.#rejectedName(error, request) : undefined
        if (name === undefined) throw error
        this.#rejected.add(name)
      }
    }
  }

  #body(request: ModelRequest): Readonly<Record<string, unknown>> {
    const { model, laterRole } = this.#options
    return {
      model,
      messages: chatMessages(request.messages, laterRole),
      ...(request.functions.length > 0 && { tools: chatTools(request.functions) }),
      stream: true,
      ...this.#parameters(request),
    }
  }

  /** Returns the parameters that the server has not rejected. */
  #parameters({ functions, settings }: ModelRequest): Readonly<Record<string, unknown>> {
    const all: Readonly<Record<string, unknown>> = {
      stream_options: { include_usage: true },
      tool_choice: functions.length > 0 ? 'auto' : undefined,
      temperature: settings.temperature ?? this.#options.temperature,
      top_p: settings.topP,
      presence_penalty: settings.presencePenalty,
      frequency_penalty: settings.frequencyPenalty,
      [this.#limitName]: settings.maxTokens,
    }
    return Object.fromEntries(
      Object.entries(all).filter(([name, value]) => value !== undefined && !this.#rejected.has(name)),
    )
  }

  /** Name of the limit of tokens that the server has not rejected. */
  get #limitName(): LimitName {
    const wanted = this.#options.limitName ?? 'max_completion_tokens'
    return this.#rejected.has(wanted) ? otherLimit[wanted] : wanted
  }

  /** Returns the parameter by which the server rejected the request, if the answer does not depend on it. */
  #rejectedName(error: unknown, request: ModelRequest): string | undefined {
    if (!(error instanceof HttpRejection) || (error.status !== 400 && error.status !== 422)) return undefined
    const sent = Object.keys(this.#parameters(request))
    const names = [this.#limitName, ...dispensable].filter((name) => sent.includes(name))
    const param = paramOf(error.body)
    return (
      names.find((name) => name === param) ??
      names.find((name) => new RegExp(`(?<![a-z_])${name}(?![a-z_])`).test(error.body))
    )
  }
}

const otherLimit: Readonly<Record<LimitName, LimitName>> = {
  max_completion_tokens: 'max_tokens',
  max_tokens: 'max_completion_tokens',
}

/** Returns the parameter that a rejection names. */
const paramOf = (body: string): unknown => {
  try {
    const read: unknown = JSON.parse(body)
    return isJsonObject(read) && isJsonObject(read.error) ? read.error.param : undefined
  } catch {
    return undefined
  }
}

/** Collaborators of a {@link ChatAnswer}. */
interface ChatAnswerDeps {
  readonly listener: ModelListener
  readonly deadline: Deadline
  readonly tokenMs: number
}

/** Answer in progress. */
class ChatAnswer implements ModelAnswer {
  readonly #deps: ChatAnswerDeps
  readonly #onOver: () => void
  readonly #stream = new ChatStream()
  #isOver = false

  constructor(deps: ChatAnswerDeps, onOver: () => void) {
    this.#deps = deps
    this.#onOver = onOver
  }

  /** Sends the request by `send`, and reads the answer. Never rejects. */
  async run(send: () => Promise<StreamingResponse>): Promise<void> {
    const { listener, deadline } = this.#deps
    try {
      const response = await send()
      if (/^application\/json/i.test(response.contentType)) await this.#readWhole(response)
      else await this.#readEvents(response)
      this.#end()
    } catch (error) {
      // The answer was complete. Only usage or the mark of the end did not arrive.
      if (!this.#isOver && this.#stream.isFinished) this.#end()
      else this.#over(() => listener.onFailure(engineErrorOf(error, deadline.signal)))
    }
    deadline.clear()
  }

  cancel(): void {
    this.#over(() => {})
    this.#deps.deadline.abort()
  }

  async #readEvents({ body }: StreamingResponse): Promise<void> {
    const events = new ServerSentEvents(maxEventLength)
    let bytes = 0
    for await (const piece of body) {
      bytes += piece.length
      if (bytes > maxStreamBytes)
        throw new EngineError('protocol', `the answer is longer than ${maxStreamBytes} bytes`)
      for (const { data } of events.push(piece)) this.#read(data)
    }
    for (const { data } of events.end()) this.#read(data)
  }

  /** Reads the answer of a server that does not stream. */
  async #readWhole({ body }: StreamingResponse): Promise<void> {
    this.#read((await readAll(body, maxEventLength)).toString('utf8'))
  }

  #read(data: string): void {
    if (this.#isOver || this.#stream.isDone) return
    const { deadline, tokenMs, listener } = this.#deps
    const { text, isToken } = this.#stream.read(data)
    if (this.#stream.isFinished) deadline.set(maxRestMs, 'the stream did not end')
    else if (isToken) deadline.set(tokenMs, 'no further token was received')
    if (text !== '') listener.onText(text)
    // The rest of the connection is still read, so that it can be used again.
    if (this.#stream.isDone) this.#end()
  }

  #end(): void {
    const { listener } = this.#deps
    if (this.#isOver) return
    const { how, calls, rest } = this.#stream.end()
    if (rest !== '') listener.onText(rest)
    if (this.#stream.usage) listener.onUsage(this.#stream.usage)
    this.#over(() => listener.onEnd(how, calls))
  }

  #over(report: () => void): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#onOver()
    report()
  }
}
