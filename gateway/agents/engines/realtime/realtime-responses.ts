import type { SteadyClock } from '../../../core/clock.ts'
import type { EngineAbilities, EngineHeard, EngineListener } from '../../engine.ts'
import type { AnswerListener } from '../pipeline/answer.ts'
import type { WireMessage } from '../session/engine-socket.ts'
import { numberAt, objectAt, objectsAt, textAt } from '../session/wire-values.ts'
import { type BookedResponse, ResponseBook, type SpokenItem } from './response-book.ts'
import { ResponseQueue } from './response-queue.ts'

/** Facts of the session that answers depend on. */
export interface ResponsesOptions {
  /** Samples of decoded audio in a millisecond. */
  readonly samplesPerMs: number
  /**
   * Report of what was heard: the server forgets the rest of the audio, or the text that was heard replaces
   * the answer, or none.
   */
  readonly cut: EngineAbilities['cut']
}

/** Receives the events of answers. */
export type ResponseListener = AnswerListener & Pick<EngineListener, 'onAnswerEnd' | 'onInterrupted'>

/** Collaborators of {@link RealtimeResponses}. */
export interface ResponsesDeps {
  readonly listener: ResponseListener
  readonly clock: SteadyClock
  readonly send: (message: WireMessage) => void
  /** Decodes audio; undefined if the session has failed. */
  readonly samplesOf: (base64: string) => Int16Array | undefined
  /** Called when the audio of another item begins. */
  readonly onItem: () => void
  /** Adds the part of an answer that was heard to the conversation. */
  readonly onHeard: (text: string) => void
  /** Called if the server fails to give an answer, and has sent nothing of it to speak. */
  readonly onMissing: (error: WireMessage) => void
}

/** Answers of a Realtime session: events of the server, order, interruptions and calls. */
export class RealtimeResponses {
  readonly #options: ResponsesOptions
  readonly #deps: ResponsesDeps
  readonly #queue: ResponseQueue
  readonly #book = new ResponseBook()

  constructor(options: ResponsesOptions, deps: ResponsesDeps) {
    this.#options = options
    this.#deps = deps
    this.#queue = new ResponseQueue(deps.send, deps.clock)
  }

  /** Asks for an answer, after the one under way. */
  create(response: WireMessage): void {
    this.#queue.create(response)
  }

  /** See {@link ResponseQueue.refused}. */
  refused(eventId: string | undefined, isBusy: boolean): void {
    this.#queue.refused(eventId, isBusy)
  }

  /** See {@link ResponseBook.result}. */
  resultOf(callId: string, respond: boolean): boolean | undefined {
    return this.#book.result(callId, respond)
  }

  /** Notes a text that the agent speaks word for word, as the item of an answer of its own. */
  said(id: string, item: string): void {
    const response = this.#book.add(id)
    response.items.set(item, { id: item, contentIndex: 0, samples: 0, isEnded: true })
    response.isDone = true
  }

  /** See {@link ResponseBook.isOpen}. */
  isOpen(callId: string): boolean {
    return this.#book.isOpen(callId)
  }

  close(): void {
    this.#queue.close()
  }

  /**
   * Cancels the answer under way, and tells the server the position that was heard of it. `dropped`: ids of
   * answers that a voice was still speaking, in order. Without `heard`, the conversation loses them.
   */
  interrupt(heard: EngineHeard | undefined, isForgotten: boolean, dropped: readonly string[] = []): void {
    const active = this.#queue.cancel()
    const cancelled = active === undefined ? undefined : this.#book.get(active)
    // Of a complete answer whose audio is not over, nothing was heard, either.
    const unheard = heard ? undefined : this.#book.lastingAt(this.#deps.clock.uptime())
    if (cancelled) cancelled.isDiscarded = true
    if (this.#options.cut === 'none') return
    const known = heard && this.#book.get(heard.answer)
    const target = known ?? this.#book.get(dropped[0] ?? '') ?? unheard ?? cancelled
    if (!target) return
    target.isDiscarded = true
    const kept = isForgotten || !known ? undefined : heard
    if (this.#options.cut === 'note') this.#rewrite(target, kept)
    else this.#shorten(target, kept)
    // The answers behind the one that the caller heard were not heard at all, also those that are complete.
    for (const later of this.#book.after(target)) {
      later.isDiscarded = true
      this.#shorten(later, undefined)
    }
  }

  onEvent(name: string, message: WireMessage): void {
    switch (name) {
      case 'response.created':
        this.#created(textAt(objectAt(message, 'response'), 'id'))
        break
      case 'response.output_audio.delta':
        this.#audio(message)
        break
      case 'response.output_audio_transcript.delta':
      case 'response.output_text.delta':
        this.#text(message)
        break
      case 'response.output_item.added':
        this.#itemAdded(message)
        break
      case 'response.output_item.done':
        this.#itemDone(message)
        break
      case 'response.function_call_arguments.done':
        this.#callDone(this.#responseOf(message), message)
        break
      case 'response.done':
        this.#done(objectAt(message, 'response'))
    }
  }

  /** Puts the text that was heard in the place of an answer. */
  #rewrite(response: BookedResponse, heard: EngineHeard | undefined): void {
    this.#shorten(response, undefined)
    const content = heard?.text.trim() ?? ''
    if (content !== '') this.#deps.onHeard(content)
  }

  /** Deletes what was not heard: with `heard` the rest of an item and the items after it, else everything. */
  #shorten(response: BookedResponse, heard: EngineHeard | undefined): void {
    let isAfter = heard === undefined || !response.items.has(heard.item)
    for (const item of response.items.values()) {
      const ms = Math.min(Math.floor(heard?.ms ?? 0), Math.floor(item.samples / this.#options.samplesPerMs))
      if (item.id === heard?.item && ms > 0) {
        this.#deps.send({
          type: 'conversation.item.truncate',
          item_id: item.id,
          content_index: item.contentIndex,
          audio_end_ms: ms,
        })
        isAfter = true
      } else if (isAfter || item.id === heard?.item) {
        this.#deps.send({ type: 'conversation.item.delete', item_id: item.id })
        response.items.delete(item.id)
        isAfter = true
      }
    }
  }

  #created(id: string | undefined): void {
    if (id === undefined || this.#book.get(id)) return
    const response = this.#book.add(id)
    if (this.#queue.created(id)) this.#deps.listener.onAnswer(id)
    else response.isDiscarded = true
  }

  /** Returns the answer of an event. Some compatible servers begin one without `response.created`. */
  #responseOf(message: WireMessage): BookedResponse | undefined {
    const id = textAt(message, 'response_id') ?? this.#queue.active
    if (id === undefined) return undefined
    if (!this.#book.get(id)) this.#created(id)
    return this.#book.get(id)
  }

  /** Returns the answer and the item of a piece; undefined if it is void. */
  #pieceOf(message: WireMessage): { response: BookedResponse; item: SpokenItem } | undefined {
    const response = this.#responseOf(message)
    if (!response || response.isDiscarded || response.isDone) return undefined
    const id = textAt(message, 'item_id') ?? `${response.id}-item`
    let item = response.items.get(id)
    if (!item) {
      item = { id, contentIndex: numberAt(message, 'content_index') ?? 0, samples: 0, isEnded: false }
      response.items.set(id, item)
      this.#deps.onItem()
    }
    return { response, item }
  }

  #audio(message: WireMessage): void {
    const base64 = textAt(message, 'delta')
    const piece = this.#pieceOf(message)
    if (base64 === undefined || !piece) return
    const samples = this.#deps.samplesOf(base64)
    if (!samples) return
    const { response, item } = piece
    item.samples += samples.length
    response.isSpoken ||= samples.length > 0
    const ms = samples.length / this.#options.samplesPerMs
    response.lastsUntil = Math.max(this.#deps.clock.uptime(), response.lastsUntil) + ms
    this.#content(response)
    if (samples.length > 0) this.#deps.listener.onAudio(response.id, item.id, samples)
  }

  #text(message: WireMessage): void {
    const text = textAt(message, 'delta') ?? ''
    const piece = this.#pieceOf(message)
    if (text === '' || !piece) return
    piece.response.isSpoken = true
    this.#content(piece.response)
    this.#deps.listener.onText(piece.response.id, piece.item.id, text)
  }

  #content(response: BookedResponse): void {
    if (response.hasContent) return
    response.hasContent = true
    this.#deps.listener.onFirstToken(response.id)
  }

  #itemAdded(message: WireMessage): void {
    const response = this.#responseOf(message)
    const item = objectAt(message, 'item')
    const callId = textAt(item, 'call_id')
    if (!response || callId === undefined || response.calls.has(callId)) return
    const call = { id: callId, name: textAt(item, 'name') ?? '', args: '' }
    response.calls.set(callId, { itemId: textAt(item, 'id'), call, isComplete: false })
  }

  #itemDone(message: WireMessage): void {
    const response = this.#responseOf(message)
    const item = objectAt(message, 'item')
    if (!response) return
    if (textAt(item, 'type') === 'function_call') this.#callDone(response, { item_id: item.id, ...item })
    else this.#endItem(response, response.items.get(textAt(item, 'id') ?? ''))
  }

  /** Notes a complete call. Before general availability, the name was in the item only. */
  #callDone(response: BookedResponse | undefined, message: WireMessage): void {
    const id = textAt(message, 'call_id')
    const args = textAt(message, 'arguments')
    if (!response || response.isDone || id === undefined || args === undefined) return
    const known = response.calls.get(id)
    if (known?.isComplete || textAt(message, 'status') === 'incomplete') return
    const name = textAt(message, 'name') ?? known?.call.name ?? ''
    const itemId = textAt(message, 'item_id') ?? known?.itemId
    response.calls.set(id, { itemId, call: { id, name, args }, isComplete: name !== '' })
    if (!response.isDiscarded) this.#content(response)
  }

  #endItem(response: BookedResponse, item: SpokenItem | undefined): void {
    if (!item || item.isEnded || response.isDiscarded) return
    item.isEnded = true
    this.#deps.listener.onItemEnd(response.id, item.id)
  }

  #done(message: WireMessage): void {
    const response = this.#responseOf({ response_id: message.id })
    if (!response || response.isDone) return
    for (const item of objectsAt(message, 'output'))
      if (textAt(item, 'type') === 'function_call') this.#callDone(response, { item_id: item.id, ...item })
    response.isDone = true
    this.#usage(objectAt(message, 'usage'))
    const status = textAt(message, 'status')
    if (response.isDiscarded || status === 'cancelled') this.#cancelled(response, message)
    else if (status === 'failed') this.#failed(response, message)
    else this.#completed(response, status === 'incomplete' ? 'incomplete' : 'completed')
    this.#queue.done(response.id)
  }

  /** Calls are made now only: those of a cancelled answer never are. */
  #completed(response: BookedResponse, how: 'completed' | 'incomplete'): void {
    const { listener } = this.#deps
    for (const item of response.items.values()) this.#endItem(response, item)
    for (const call of this.#book.takeCalls(response)) listener.onCall(response.id, call)
    listener.onAnswerEnd(response.id, how)
  }

  #cancelled(response: BookedResponse, message: WireMessage): void {
    this.#forgetCalls(response)
    const reason = textAt(objectAt(message, 'status_details'), 'reason')
    if (!response.isDiscarded && reason === 'turn_detected') this.#deps.listener.onInterrupted()
    this.#deps.listener.onAnswerEnd(response.id, 'cancelled')
  }

  #failed(response: BookedResponse, message: WireMessage): void {
    this.#forgetCalls(response)
    const error = objectAt(objectAt(message, 'status_details'), 'error')
    if (!response.isSpoken) {
      // The caller would wait in vain, also for the calls: they are not made.
      this.#deps.onMissing(error)
      return
    }
    const code = textAt(error, 'code') ?? textAt(error, 'type') ?? 'unknown error'
    this.#deps.listener.onWarning('engine_answer_failed', code.slice(0, 100))
    this.#deps.listener.onAnswerEnd(response.id, 'failed')
  }

  /** Deletes calls that are not made, as the server would wait for their results. */
  #forgetCalls({ calls }: BookedResponse): void {
    for (const { itemId } of calls.values())
      if (itemId !== undefined) this.#deps.send({ type: 'conversation.item.delete', item_id: itemId })
  }

  #usage(usage: WireMessage): void {
    const inputTokens = numberAt(usage, 'input_tokens')
    const outputTokens = numberAt(usage, 'output_tokens')
    if (inputTokens === undefined && outputTokens === undefined) return
    this.#deps.listener.onUsage({
      ...(inputTokens !== undefined && { inputTokens }),
      ...(outputTokens !== undefined && { outputTokens }),
    })
  }
}
