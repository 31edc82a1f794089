import { randomUUID } from 'node:crypto'
import { deltasOf } from '../deltas.ts'
import type { InjectedQuirk, Performer, ScriptedCall, Speech } from '../perform.ts'
import type { ErrorKind, QuirkName } from '../script-types.ts'
import { errorFacts, type HttpCall, sendError, sendJson } from '../stand.ts'
import type { ChatRequest } from './chat.ts'

/** Length of a spoken word in ms, for the position of a cut in a text. */
const wordMs = 400

/** Carries out an answer as a chat completion. */
export class ChatPerformer implements Performer {
  readonly quirks = new Set<QuirkName>()
  readonly #call: HttpCall
  readonly #request: ChatRequest
  readonly #id = `chatcmpl-${randomUUID().replaceAll('-', '')}`
  readonly #calls: ScriptedCall[] = []
  #text = ''
  #isEnded = false

  constructor(call: HttpCall, request: ChatRequest) {
    this.#call = call
    this.#request = request
  }

  async say({ text, cutMs = Number.POSITIVE_INFINITY }: Speech): Promise<void> {
    const spoken = this.quirks.has('think-tags') ? `<think>The caller wants an answer.</think>${text}` : text
    if (this.quirks.has('reasoning')) this.#delta({ reasoning_content: 'The caller wants an answer.' })
    const words = deltasOf(spoken)
    const isFailing = this.quirks.has('stream-error')
    const count = isFailing ? Math.ceil(words.length / 2) : Math.ceil(cutMs / wordMs)
    for (const [at, word] of words.slice(0, count).entries()) {
      if (this.quirks.has('comments') && at % 3 === 0) this.#write(': keep-alive\n\n')
      const piece = at === 0 && this.#text !== '' ? ` ${word.trimStart()}` : word
      this.#text += piece
      this.#delta({ content: piece })
    }
    if (isFailing) this.error('server')
  }

  call(call: ScriptedCall): void {
    const index = this.#calls.push(call) - 1
    const { args } = call
    const half = args.slice(0, Math.ceil(args.length / 2))
    const isWhole = this.quirks.has('whole-call') || this.quirks.has('object-arguments')
    const pieces = isWhole ? [args] : call.isCut ? ['', half] : ['', half, args.slice(half.length)]
    for (const [at, piece] of pieces.entries())
      this.#delta({ tool_calls: [this.#piece(call, index, at, piece)] })
  }

  #piece(call: ScriptedCall, index: number, at: number, args: string): object {
    const { quirks } = this
    const isNamed = at === 0 || quirks.has('repeat-name')
    return {
      ...(!quirks.has('no-index') && { index }),
      ...(at === 0 && !quirks.has('no-id') && { id: call.id }),
      ...(at === 0 && { type: 'function' }),
      function: {
        ...(isNamed && { name: call.name }),
        arguments: quirks.has('object-arguments') ? parsed(args) : args,
      },
    }
  }

  inject(quirk: InjectedQuirk): void {
    if (quirk === 'malformed') this.#write('data: {"choices":[{"index":0,"delta":{"content":"\n\n')
    if (quirk === 'unknown') this.#write('data: {"object":"stand_in.unknown","choices":[]}\n\n')
    if (quirk === 'huge') this.#delta({ content: 'a'.repeat(10 * 1024 * 1024) })
  }

  error(kind: ErrorKind): void {
    if (!this.#call.response.headersSent) sendError(this.#call, kind)
    else {
      const { status, code, text } = errorFacts[kind]
      this.#event({ error: { message: text, type: code, code: status } })
      this.#call.response.end()
    }
    this.#isEnded = true
  }

  close(how: number | 'abrupt'): void {
    this.#isEnded = true
    if (how === 'abrupt') this.#call.response.destroy()
    else this.#call.response.end()
  }

  stall(): void {
    this.#isEnded = true
  }

  /** Ends the completion, unless the script has ended it. */
  end(): void {
    if (this.#isEnded || this.#call.signal.aborted) return
    if (!this.#request.isStreamed) {
      sendJson(this.#call, 200, this.#whole())
      return
    }
    const isInLast = this.quirks.has('usage-in-last')
    this.#chunk(
      [{ index: 0, delta: {}, finish_reason: this.#finishReason() }],
      isInLast ? this.#usage() : undefined,
    )
    if (this.#request.wantsUsage && !isInLast && !this.quirks.has('no-usage')) this.#chunk([], this.#usage())
    this.#write('data: [DONE]\n\n')
    this.#call.journal.sent('completion', this.#whole())
    this.#call.response.end()
  }

  #delta(delta: object): void {
    if (!this.#request.isStreamed || this.#isEnded) return
    if (!this.#call.response.headersSent) this.#chunk([choice({ role: 'assistant', content: '' })])
    this.#chunk([choice(delta)])
  }

  #chunk(choices: readonly object[], usage?: object): void {
    const { model } = this.#request
    const created = Math.floor(this.#call.stand.clock.now() / 1000)
    const rest = usage === undefined ? {} : { usage }
    this.#event({ id: this.#id, object: 'chat.completion.chunk', created, model, choices, ...rest })
  }

  #event(data: object): void {
    this.#write(`data: ${JSON.stringify(data)}\n\n`)
  }

  #write(text: string): void {
    if (!this.#request.isStreamed || this.#isEnded) return
    const { response, journal } = this.#call
    if (!response.headersSent) {
      const type = 'text/event-stream'
      journal.sent('200', { type })
      response.writeHead(200, { 'content-type': type, 'cache-control': 'no-cache' })
    }
    response.write(text)
  }

  #whole(): object {
    const calls = this.#calls.map(({ id, name, args }) => ({
      id,
      type: 'function',
      function: { name, arguments: args },
    }))
    const message = {
      role: 'assistant',
      content: this.#text === '' ? null : this.#text,
      refusal: null,
      ...(calls.length > 0 && { tool_calls: calls }),
    }
    return {
      id: this.#id,
      object: 'chat.completion',
      created: Math.floor(this.#call.stand.clock.now() / 1000),
      model: this.#request.model,
      choices: [{ index: 0, message, logprobs: null, finish_reason: this.#finishReason() }],
      usage: this.#usage(),
    }
  }

  #finishReason(): string {
    return this.#calls.length > 0 && !this.quirks.has('stop-finish') ? 'tool_calls' : 'stop'
  }

  /** Estimates tokens as a quarter of the characters. */
  #usage(): object {
    const prompt = Math.ceil(JSON.stringify(this.#request.messages).length / 4)
    const completion = Math.ceil(
      (this.#text.length + this.#calls.map(({ args }) => args).join('').length) / 4,
    )
    return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion }
  }
}

const choice = (delta: object): object => ({ index: 0, delta, finish_reason: null })

const parsed = (args: string): unknown => {
  try {
    return JSON.parse(args) as unknown
  } catch {
    return args
  }
}
