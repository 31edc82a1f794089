import { randomUUID } from 'node:crypto'
import { type AudioFormat, durationMs, toBytes } from '../audio-format.ts'
import { deltasOf } from '../deltas.ts'
import { sendPaced } from '../pace.ts'
import type { InjectedQuirk, Performer, ScriptedCall, Speech } from '../perform.ts'
import type { ErrorKind, QuirkName } from '../script-types.ts'
import { errorFacts, type SocketCall } from '../stand.ts'
import type { ConversationItem } from './conversation-items.ts'

/** Makes an id in the form of OpenAI's: a kind, and 21 characters. */
export const idOf = (kind: string): string => `${kind}_${randomUUID().replaceAll('-', '').slice(0, 21)}`

/** Parts of a session that an answer uses. */
export interface AnswerContext {
  readonly call: SocketCall
  readonly format: AudioFormat
  readonly isText: boolean
  /** Quirks of the connection. */
  readonly quirks: Set<QuirkName>
  readonly send: (message: Readonly<Record<string, unknown>> & { readonly type: string }) => void
  /** Adds an item to the conversation, and reports it; does neither for an answer outside of it. */
  readonly addItem: (item: ConversationItem) => void
  readonly itemDone: (item: ConversationItem) => void
}

/** Options of a response, as the client gave them. */
export interface AnswerOptions {
  readonly isInConversation: boolean
  readonly metadata: unknown
}

/** End of an answer before its time. */
export type Cancellation = 'turn_detected' | 'client_cancelled'

/** One response: sends its events, and collects its items. */
export class RealtimeAnswer implements Performer {
  readonly id = idOf('resp')
  readonly quirks: Set<QuirkName>
  readonly isInConversation: boolean
  readonly #context: AnswerContext
  readonly #metadata: unknown
  readonly #cancelling = new AbortController()
  #output: Record<string, unknown>[] = []
  /** Whether the script has cut an item: the answer then stays open. */
  isOpen = false
  #error: ErrorKind | undefined
  #cancellation: Cancellation | undefined
  #isHuge = false
  /** Duration of all audio so far, in ms. */
  audioMs = 0

  constructor(context: AnswerContext, { isInConversation, metadata }: AnswerOptions) {
    this.#context = context
    this.isInConversation = isInConversation
    this.#metadata = metadata ?? null
    this.quirks = context.quirks
    context.send({ type: 'response.created', response: this.#shown('in_progress', null) })
  }

  get signal(): AbortSignal {
    return this.#cancelling.signal
  }

  /** Ends the answer; what is under way may still be sent. */
  cancel(reason: Cancellation): void {
    this.#cancellation ??= reason
    this.#cancelling.abort()
  }

  async say(speech: Speech, signal: AbortSignal): Promise<void> {
    const { isText, format } = this.#context
    const samples = isText ? new Int16Array(0) : await speech.samples(format.rate)
    if (signal.aborted) return
    const index = this.#output.length
    const value = messageOf(idOf('item'), [])
    const item: ConversationItem = { id: String(value.id), value, audioMs: 0 }
    this.#begin(item, index)
    const place = { response_id: this.id, item_id: item.id, output_index: index, content_index: 0 }
    const part = isText ? { type: 'output_text', text: '' } : { type: 'output_audio', transcript: '' }
    this.#send({ type: 'response.content_part.added', ...place, part })
    const spoken = isText
      ? this.#text(place, speech.text)
      : await this.#audio(place, item, { ...speech, content: samples }, signal)
    const isWhole = spoken === speech.text
    this.isOpen = !isWhole && !signal.aborted
    if (!this.isOpen) this.#finish(place, item, spoken, isWhole)
  }

  #begin(item: ConversationItem, index: number): void {
    this.#output.push(item.value)
    this.#send({
      type: 'response.output_item.added',
      response_id: this.id,
      output_index: index,
      item: { ...item.value },
    })
    if (this.isInConversation) this.#context.addItem(item)
  }

  #text(place: object, text: string): string {
    for (const delta of deltasOf(text)) this.#send({ type: 'response.output_text.delta', ...place, delta })
    return text
  }

  /** Sends audio and transcript mixed. Resolves with the part of the text that was spoken. */
  async #audio(
    place: object,
    item: ConversationItem,
    speech: Speech & { readonly content: Int16Array },
    signal: AbortSignal,
  ): Promise<string> {
    const { format, call } = this.#context
    const { content, text } = speech
    const words = deltasOf(text)
    let spoken = 0
    const paced = { samples: content, rate: format.rate, speech, clock: call.stand.clock, signal }
    const sent = await sendPaced(paced, (samples, share) => {
      for (; spoken < Math.ceil(words.length * share); spoken++)
        this.#send({ type: 'response.output_audio_transcript.delta', ...place, delta: words[spoken] })
      const bytes = this.#isHuge ? Buffer.alloc(10 * 1024 * 1024) : toBytes(samples, format)
      this.#isHuge = false
      item.audioMs = (item.audioMs ?? 0) + durationMs(bytes.length, format)
      this.audioMs += durationMs(bytes.length, format)
      this.#send({ type: 'response.output_audio.delta', ...place, delta: bytes.toString('base64') })
    })
    return sent === content.length ? text : words.slice(0, spoken).join('')
  }

  #finish(place: object, item: ConversationItem, text: string, isWhole: boolean): void {
    const { isText } = this.#context
    const part = isText ? { type: 'output_text', text } : { type: 'output_audio', transcript: text }
    if (isText) this.#send({ type: 'response.output_text.done', ...place, text })
    else {
      this.#send({ type: 'response.output_audio.done', ...place })
      this.#send({ type: 'response.output_audio_transcript.done', ...place, transcript: text })
    }
    this.#send({ type: 'response.content_part.done', ...place, part })
    Object.assign(item.value, { status: isWhole ? 'completed' : 'incomplete', content: [part] })
    this.#done(item)
  }

  #done(item: ConversationItem): void {
    const index = this.#output.indexOf(item.value)
    this.#send({
      type: 'response.output_item.done',
      response_id: this.id,
      output_index: index,
      item: item.value,
    })
    if (this.isInConversation) this.#context.itemDone(item)
  }

  call({ id, name, args, isCut }: ScriptedCall): void {
    const index = this.#output.length
    const value: Record<string, unknown> = {
      id: idOf('item'),
      object: 'realtime.item',
      type: 'function_call',
      status: 'in_progress',
      name,
      call_id: id,
      arguments: '',
    }
    const item = { id: String(value.id), value }
    this.#begin(item, index)
    const place = { response_id: this.id, item_id: item.id, output_index: index, call_id: id }
    const half = Math.ceil(args.length / 2)
    for (const delta of isCut ? [args.slice(0, half)] : [args.slice(0, half), args.slice(half)])
      this.#send({ type: 'response.function_call_arguments.delta', ...place, delta })
    this.isOpen = isCut
    if (isCut) return
    this.#send({ type: 'response.function_call_arguments.done', ...place, name, arguments: args })
    Object.assign(value, { status: 'completed', arguments: args })
    this.#done(item)
  }

  inject(quirk: InjectedQuirk): void {
    const { socket } = this.#context.call
    if (quirk === 'malformed') socket.sendText('{"type":"response.output_audio.delta","delta":', quirk)
    if (quirk === 'unknown')
      socket.send({ type: 'response.stand_in.unknown', event_id: idOf('event'), detail: {} })
    if (quirk === 'huge') this.#isHuge = true
  }

  error(kind: ErrorKind): void {
    this.#error = kind
  }

  close(how: number | 'abrupt'): void {
    this.#context.call.socket.close(how)
  }

  stall(): void {
    this.#context.call.socket.stall()
  }

  /** Reports the end, unless the script has cut an item: then the answer stays open until it is cancelled. */
  end(): boolean {
    if (this.isOpen && !this.#cancellation) return false
    if (this.#error) {
      const { code, text } = errorFacts[this.#error]
      const error = {
        type: this.#error === 'server' ? 'server_error' : 'invalid_request_error',
        code,
        message: text,
      }
      this.#send({ type: 'response.done', response: this.#shown('failed', { type: 'failed', error }) })
    } else if (this.#cancellation) {
      const details = { type: 'cancelled', reason: this.#cancellation }
      this.#send({ type: 'response.done', response: this.#shown('cancelled', details) })
    } else this.#send({ type: 'response.done', response: this.#shown('completed', null) })
    return true
  }

  #send(message: Readonly<Record<string, unknown>> & { readonly type: string }): void {
    this.#context.send(message)
  }

  #shown(status: string, details: object | null): object {
    return {
      object: 'realtime.response',
      id: this.id,
      status,
      status_details: details,
      output: this.#output,
      conversation_id: this.isInConversation ? 'conv_stand_in' : null,
      output_modalities: [this.#context.isText ? 'text' : 'audio'],
      max_output_tokens: 'inf',
      usage: status === 'in_progress' ? null : usageOf(JSON.stringify(this.#output).length, this.audioMs),
      metadata: this.#metadata,
    }
  }
}

const messageOf = (id: string, content: readonly object[]): Record<string, unknown> => ({
  id,
  object: 'realtime.item',
  type: 'message',
  status: 'in_progress',
  role: 'assistant',
  content,
})

/** Estimates tokens: a quarter of the characters, and 20 a second of audio. */
const usageOf = (characters: number, audioMs: number): object => {
  const text = Math.ceil(characters / 4)
  const audio = Math.ceil(audioMs / 50)
  return {
    total_tokens: text + audio + 10,
    input_tokens: 10,
    output_tokens: text + audio,
    input_token_details: { text_tokens: 10, audio_tokens: 0, image_tokens: 0, cached_tokens: 0 },
    output_token_details: { text_tokens: text, audio_tokens: audio },
  }
}
