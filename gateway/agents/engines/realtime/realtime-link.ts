import type { AgentLanguage, AgentMessage } from '../../../../handlers/verbs.ts'
import type { Timer } from '../../../core/clock.ts'
import type { EngineAbilities, EngineCall, EngineChange, EngineHeard, EngineMessage } from '../../engine.ts'
import { SessionVoice, type VoiceChoices } from '../pipeline/session-voice.ts'
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
import { SpokenAnswers } from './spoken-answers.ts'

const defaultLongestMs = 60 * 60_000
/** Wait for `session.updated` after `session.created`, in ms; some compatible servers do not send it. */
const maxUpdateMs = 3_000
/** Format of the speech of a voice. */
const spokenFormat = 'pcm16000'
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
  /** Voice of a server that writes its answers. */
  readonly #voice: SessionVoice | undefined
  readonly #spoken: SpokenAnswers | undefined
  /** Text of the caller's items so far. */
  readonly #heard = new Map<string, string>()
  /** Items of the conversation, with the id of the call that each is. */
  readonly #items = new Map<string, string | undefined>()
  #updateTimer: Timer | undefined
  /** Number of texts that were spoken word for word. */
  #said = 0
  #prompt: string
  /** Language that the agent was asked to speak. */
  #language: AgentLanguage | undefined
  #turns: Parameters<typeof turnDetectionOf>[1]

  /** `speech`: the server writes its answers, and these voices speak them. */
  constructor(
    options: RealtimeOptions,
    target: EngineTarget,
    opening: SessionOpening,
    speech?: VoiceChoices,
  ) {
    const { format = 'pcmu', dialect = 'ga', longestMs = defaultLongestMs, canTruncate = true } = options
    super({ target, input: format, output: speech ? spokenFormat : format }, opening)
    this.#options = options
    this.#dialect = dialect
    this.abilities = {
      turns: 'its',
      cut: speech ? 'note' : canTruncate ? 'truncate' : 'none',
      pace: 'burst',
      isExact: speech !== undefined,
      changes: true,
      changesHistory: true,
      longestMs,
    }
    this.#prompt = this.request.prompt
    this.#turns = this.request
    this.#voice = speech && this.#makeVoice(speech)
    this.#spoken = this.#voice && this.#makeSpoken(this.#voice)
    this.#responses = this.#makeResponses()
    this.socket.connect()
  }

  #makeVoice(speech: VoiceChoices): SessionVoice {
    const { outputRate: rate, request, listener } = this
    return new SessionVoice(speech, { engine: this.#options.name, rate, request, listener })
  }

  #makeSpoken(voice: SessionVoice): SpokenAnswers {
    return new SpokenAnswers({
      listener: this.listener,
      clock: this.clock,
      rate: this.outputRate,
      speak: (text, listener) => voice.speak(text, listener),
      onFailure: ({ kind, message }) => this.socket.fail(kind, `the voice failed: ${message}`),
      onMissing: ({ kind, message }) => this.socket.fail(kind, message),
    })
  }

  #makeResponses(): RealtimeResponses {
    return new RealtimeResponses(
      { samplesPerMs: this.outputRate / 1000, cut: this.abilities.cut },
      {
        listener: this.#spoken ?? this.listener,
        clock: this.clock,
        send: (message) => this.put(message),
        samplesOf: (base64) => this.samplesOf(base64),
        onItem: () => this.decoder.reset(),
        onHeard: (content) => this.#addItems({ role: 'assistant', content }),
        onMissing: (error) => this.#onMissing(error),
      },
    )
  }

  onOpen(): void {
    this.socket.send(firstUpdate(this.#options, this.request, this.#voice !== undefined))
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
    this.#addItems(message)
    if (respond) this.#responses.create({})
  }

  answer(instruction: string | undefined): void {
    // The instructions of an answer replace those of the session.
    this.#responses.create(
      instruction === undefined ? {} : { instructions: `${this.#instructions}\n\n${instruction}` },
    )
  }

  say(text: string): void {
    if (this.#spoken) this.#speak(this.#spoken, text)
    else this.#responses.create({ instructions: sayExactly(text), tool_choice: 'none' })
  }

  interrupt(heard: EngineHeard | undefined, isForgotten: boolean): void {
    if (this.isOver) return
    const dropped = this.#spoken?.interrupt()
    this.#responses.interrupt(heard, isForgotten, dropped?.ids)
    // The server waits for a result of every call, also of those that are not made.
    for (const call of dropped?.calls ?? [])
      this.result(call, 'The caller interrupted; the function did not run.', false)
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
    if (change.language) this.#voice?.speakIn(change.language)
  }

  protected override ended(): void {
    this.#updateTimer?.cancel()
    this.#responses.close()
    this.#spoken?.close()
    this.#voice?.close()
  }

  #addItems(message: EngineMessage): void {
    for (const item of itemsOf(this.#dialect, message)) this.put(item)
  }

  /** Speaks a text word for word, and adds it to the conversation. Its id lets an interruption correct it. */
  #speak(spoken: SpokenAnswers, text: string): void {
    if (text.trim() === '') return
    const id = `said_${++this.#said}`
    this.#responses.said(spoken.say(text), id)
    for (const { item, ...event } of itemsOf(this.#dialect, { role: 'assistant', content: text }))
      this.put({ ...event, item: { ...(item as WireMessage), id } })
  }

  #sessionOf(change: EngineChange): WireMessage {
    const { prompt, functions, settings, hints, language, endOfSpeechMs } = change
    if (prompt !== undefined) this.#prompt = prompt
    if (language) this.#language = language
    if (endOfSpeechMs !== undefined) this.#turns = { ...this.#turns, endOfSpeechMs }
    const languages = this.#language ? [this.#language] : this.request.languages
    const transcription = transcriptionOf(this.#options, { languages, hints: hints ?? this.request.hints })
    const isHeard = (hints !== undefined || language !== undefined) && transcription !== null
    return {
      ...((prompt !== undefined || language) && { instructions: this.#instructions }),
      ...(functions && { tools: toolsOf(functions) }),
      ...(settings && settingsOf(this.#dialect, settings)),
      ...((isHeard || endOfSpeechMs !== undefined) &&
        inputChange(this.#dialect, {
          ...(isHeard && { transcription }),
          ...(endOfSpeechMs !== undefined && { turn_detection: turnDetectionOf(this.#options, this.#turns) }),
        })),
    }
  }

  get #instructions(): string {
    return this.#language ? `${this.#prompt}\n\nSpeak ${this.#language.name} from now on.` : this.#prompt
  }

  /** Replaces the items of the conversation. Calls without a result stay: the server rejects it otherwise. */
  #replaceHistory(history: EngineChange['history'] = []): void {
    const isKept = (callId: string | undefined) => callId !== undefined && this.#responses.isOpen(callId)
    for (const [id, callId] of this.#items) {
      if (isKept(callId)) continue
      this.put({ type: 'conversation.item.delete', item_id: id })
      this.#items.delete(id)
    }
    for (const message of history)
      for (const item of itemsOf(this.#dialect, message))
        if (!isKept(textAt(objectAt(item, 'item'), 'call_id'))) this.put(item)
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
    this.#voice?.speakIn(this.request.languages[0])
  }

  #onInput(name: string): void {
    if (name === 'input_audio_buffer.speech_started') this.listener.onTurn('began')
    else if (name === 'input_audio_buffer.speech_stopped') this.listener.onTurn('ended')
  }

  #onItem(name: string, message: WireMessage): void {
    const id = textAt(message, 'item_id') ?? textAt(objectAt(message, 'item'), 'id') ?? ''
    switch (name) {
      case 'conversation.item.added':
        if (this.#items.size < maxItems) this.#items.set(id, callIdOf(objectAt(message, 'item')))
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

  /** An answer does not come: another session may give it. */
  #onMissing(error: WireMessage): void {
    const kind = kindOfErrorEvent(error)
    this.socket.fail(kind === 'refused' ? 'server' : kind, this.#nameOf(error))
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

/** Returns the id of the call that an item is; undefined for another item. */
const callIdOf = (item: WireMessage): string | undefined =>
  textAt(item, 'type') === 'function_call' ? textAt(item, 'call_id') : undefined
