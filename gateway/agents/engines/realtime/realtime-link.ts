import type { AgentMessage } from '../../../../handlers/verbs.ts'
import type { Timer } from '../../../core/clock.ts'
import type { EngineAbilities, EngineCall, EngineChange, EngineHeard } from '../../engine.ts'
import type { EngineTarget, WireMessage } from '../session/engine-socket.ts'
import { SessionLink, type SessionOpening } from '../session/session-link.ts'
import { numberAt, objectAt, textAt } from '../session/wire-values.ts'
import {
  eventNameOf,
  firstUpdate,
  inputChange,
  itemsOf,
  kindOfErrorEvent,
  outputItem,
  settingsOf,
  toolsOf,
  transcriptionOf,
  turnDetectionOf,
  updateOf,
} from './realtime-messages.ts'
import type { RealtimeOptions } from './realtime-options.ts'
import { RealtimeResponses } from './realtime-responses.ts'

const defaultLongestMs = 60 * 60_000
/** Wait for `session.updated` after `session.created`, in ms; some compatible servers do not send it. */
const maxUpdateMs = 3_000
/** Number of items of the conversation whose ids are kept, to replace its history. */
const maxItems = 2_000

const sayExactly = (text: string): string =>
  `Say exactly the text between the marks, word for word, in its language, and nothing else.\n<<<${text}>>>`

/** Session with a server of OpenAI's Realtime protocol. */
export class RealtimeLink extends SessionLink {
  readonly abilities: EngineAbilities
  readonly #options: RealtimeOptions
  readonly #dialect: 'ga' | 'beta'
  readonly #responses: RealtimeResponses
  /** Text of the caller's items so far. */
  readonly #heard = new Map<string, string>()
  readonly #items = new Set<string>()
  #updateTimer: Timer | undefined
  #prompt: string
  #turns: Parameters<typeof turnDetectionOf>[1]

  constructor(options: RealtimeOptions, target: EngineTarget, opening: SessionOpening) {
    const { format = 'pcmu', dialect = 'ga', longestMs = defaultLongestMs } = options
    super({ target, input: format, output: format }, opening)
    this.#options = options
    this.#dialect = dialect
    this.abilities = {
      turns: 'its',
      cut: (options.canTruncate ?? true) ? 'truncate' : 'none',
      pace: 'burst',
      isExact: false,
      changes: true,
      longestMs,
    }
    this.#prompt = this.request.prompt
    this.#turns = this.request
    this.#responses = new RealtimeResponses(
      { samplesPerMs: this.outputRate / 1000, canTruncate: options.canTruncate ?? true },
      {
        listener: this.listener,
        clock: this.clock,
        send: (message) => this.put(message),
        samplesOf: (base64) => this.samplesOf(base64),
        onItem: () => this.decoder.reset(),
      },
    )
    this.socket.connect()
  }

  onOpen(): void {
    this.socket.send(firstUpdate(this.#options, this.request))
  }

  audioMessage(audio: Buffer): WireMessage {
    return { type: 'input_audio_buffer.append', audio: audio.toString('base64') }
  }

  onMessage(message: WireMessage): void {
    const name = eventNameOf(message)
    if (name.startsWith('response.')) this.#responses.onEvent(name, message)
    else if (name.startsWith('session.')) this.#onSession(name, message)
    else if (name.startsWith('input_audio_buffer.')) this.#onInput(name)
    else if (name.startsWith('conversation.item.')) this.#onItem(name, message)
    else if (name === 'error') this.#onError(objectAt(message, 'error'))
    else if (name === 'rate_limits.updated') return
    else if (name === '') this.socket.badMessage('type: text expected')
  }

  /** The server ends turns and answers by itself. */
  commit(): void {}

  message(message: AgentMessage, respond: boolean): void {
    for (const item of itemsOf(this.#dialect, message)) this.put(item)
    if (respond) this.#responses.create({})
  }

  answer(instruction: string | undefined): void {
    // The instructions of an answer replace those of the session.
    this.#responses.create(
      instruction === undefined ? {} : { instructions: `${this.#prompt}\n\n${instruction}` },
    )
  }

  say(text: string): void {
    this.#responses.create({ instructions: sayExactly(text), tool_choice: 'none' })
  }

  interrupt(heard: EngineHeard | undefined, isForgotten: boolean): void {
    if (!this.isOver) this.#responses.interrupt(heard, isForgotten)
  }

  result(call: EngineCall, text: string, respond: boolean): void {
    const isAnswerWanted = this.#responses.resultOf(call.id, respond)
    if (isAnswerWanted === undefined) return
    this.put(outputItem(call.id, text))
    if (isAnswerWanted) this.#responses.create({})
  }

  change(change: EngineChange): void {
    const session = this.#sessionOf(change)
    if (Object.keys(session).length > 0) this.put(updateOf(this.#dialect, session))
    if (change.history) this.#replaceHistory(change.history)
  }

  protected override ended(): void {
    this.#updateTimer?.cancel()
    this.#responses.close()
  }

  #sessionOf(change: EngineChange): WireMessage {
    const { prompt, functions, settings, hints, language, endOfSpeechMs } = change
    if (prompt !== undefined) this.#prompt = prompt
    if (language) this.#prompt = `${this.#prompt}\n\nSpeak ${language.name} from now on.`
    if (endOfSpeechMs !== undefined) this.#turns = { ...this.#turns, endOfSpeechMs }
    const languages = language ? [language] : this.request.languages
    const transcription = transcriptionOf(this.#options, { languages, hints: hints ?? this.request.hints })
    const isHeard = (hints !== undefined || language !== undefined) && transcription !== null
    return {
      ...((prompt !== undefined || language) && { instructions: this.#prompt }),
      ...(functions && { tools: toolsOf(functions) }),
      ...(settings && settingsOf(this.#dialect, settings)),
      ...((isHeard || endOfSpeechMs !== undefined) &&
        inputChange(this.#dialect, {
          ...(isHeard && { transcription }),
          ...(endOfSpeechMs !== undefined && { turn_detection: turnDetectionOf(this.#options, this.#turns) }),
        })),
    }
  }

  #replaceHistory(history: EngineChange['history'] = []): void {
    for (const id of this.#items) this.put({ type: 'conversation.item.delete', item_id: id })
    this.#items.clear()
    for (const message of history) for (const item of itemsOf(this.#dialect, message)) this.put(item)
  }

  #onSession(name: string, message: WireMessage): void {
    const expiresAt = numberAt(objectAt(message, 'session'), 'expires_at')
    if (expiresAt !== undefined && expiresAt > 0) this.closesIn(expiresAt * 1000 - this.clock.now())
    if (name === 'session.created' && !this.socket.isReady) {
      this.#updateTimer?.cancel()
      this.#updateTimer = this.clock.after(maxUpdateMs, () => this.#begin())
    } else if (name === 'session.updated') this.#begin()
  }

  #begin(): void {
    this.#updateTimer?.cancel()
    if (!this.socket.isOpen || this.socket.isReady) return
    for (const message of this.request.history)
      for (const item of itemsOf(this.#dialect, message)) this.socket.send(item)
    this.started()
  }

  #onInput(name: string): void {
    if (name === 'input_audio_buffer.speech_started') this.listener.onTurn('began')
    else if (name === 'input_audio_buffer.speech_stopped') this.listener.onTurn('ended')
  }

  #onItem(name: string, message: WireMessage): void {
    const id = textAt(message, 'item_id') ?? textAt(objectAt(message, 'item'), 'id') ?? ''
    switch (name) {
      case 'conversation.item.added':
        if (this.#items.size < maxItems) this.#items.add(id)
        break
      case 'conversation.item.deleted':
        this.#items.delete(id)
        break
      case 'conversation.item.input_audio_transcription.delta': {
        const text = (this.#heard.get(id) ?? '') + (textAt(message, 'delta') ?? '')
        this.#heard.set(id, text)
        if (text !== '') this.listener.onHeard({ text, isFinal: false })
        break
      }
      case 'conversation.item.input_audio_transcription.completed':
        this.#heard.delete(id)
        this.listener.onHeard({ text: (textAt(message, 'transcript') ?? '').trim(), isFinal: true })
        break
      case 'conversation.item.input_audio_transcription.failed':
        this.#heard.delete(id)
        this.onWarning('engine_transcription_failed', this.#nameOf(objectAt(message, 'error')))
    }
  }

  /** Until the session is ready, an error is about its configuration, and the server's words help. */
  #onError(error: WireMessage): void {
    const kind = kindOfErrorEvent(error)
    const name = this.#nameOf(error)
    if (!this.socket.isReady) {
      const text = kind === 'unauthorised' ? '' : this.socket.publicText(error.message)
      this.socket.fail(kind, text === '' ? name : `${name}: ${text}`)
    } else if (kind === 'unauthorised' || kind === 'connection' || name.includes('quota')) {
      this.socket.fail(kind, name)
    } else this.#warn(error, name)
  }

  /** The session goes on: errors of cancelling and truncating, for instance, are races with the server. */
  #warn(error: WireMessage, name: string): void {
    const isBusy = textAt(error, 'code') === 'conversation_already_has_active_response'
    this.#responses.refused(textAt(error, 'event_id'), isBusy)
    this.onWarning('engine_error', name)
  }

  #nameOf(error: WireMessage): string {
    const parts = [textAt(error, 'code') ?? textAt(error, 'type') ?? 'unknown error', textAt(error, 'param')]
    return this.socket.publicText(parts.filter((part) => part !== undefined).join(', '))
  }
}
