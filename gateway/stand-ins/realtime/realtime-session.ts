import { isJsonObject } from '../../core/json.ts'
import { durationMs, toSamples } from '../audio-format.ts'
import { deltasOf } from '../deltas.ts'
import { Hearing } from '../hearing.ts'
import type { QuirkName } from '../script-types.ts'
import type { SocketCall } from '../stand.ts'
import { sessionFromBeta, sessionToBeta, toBeta } from './beta-names.ts'
import { type ConversationItem, ConversationItems, messageText } from './conversation-items.ts'
import { idOf } from './realtime-answer.ts'
import { RealtimeAnswers } from './realtime-answers.ts'
import { SessionSettings, type TurnDetection } from './session-settings.ts'

/** Longest session, in ms. */
const longestMs = 60 * 60_000
/** Least audio of a commit, in ms. */
const minCommitMs = 100

/** Event of a client. */
type ClientEvent = Readonly<Record<string, unknown>>

/** One connection to OpenAI Realtime: reads the events of the client, and detects turns. */
export class RealtimeSession {
  readonly #call: SocketCall
  readonly #isBeta: boolean
  readonly #settings: SessionSettings
  readonly #items = new ConversationItems()
  readonly #answers: RealtimeAnswers
  readonly #quirks = new Set<QuirkName>()
  #hearing: Hearing | undefined
  /** Audio since the last commit or clear, in ms. */
  #bufferedMs = 0
  /** Id of the message that the speech of the moment becomes. */
  #itemId = ''
  #isInterruption = false
  #eventId: unknown

  constructor(call: SocketCall) {
    this.#call = call
    this.#isBeta = call.headers['openai-beta'] === 'realtime=v1'
    const { searchParams } = call.url
    const isTranscription = searchParams.get('intent') === 'transcription'
    this.#settings = new SessionSettings(
      searchParams.get('model') ?? 'gpt-realtime',
      idOf('sess'),
      isTranscription,
    )
    this.#answers = new RealtimeAnswers({
      call,
      settings: this.#settings,
      items: this.#items,
      quirks: this.#quirks,
      send: (message) => this.#send(message),
      isHearing: () => this.#hearing?.isSpeaking === true,
      idle: () => this.#idle(),
    })
    const expiry = call.stand.clock.after(longestMs, () => this.#expire())
    call.socket.listen({
      onMessage: (message) => this.#read(message),
      onFaulty: () => this.#fail('invalid_json', 'The event is no JSON object.'),
      onClosed: () => {
        expiry.cancel()
        this.#answers.close()
      },
    })
    this.#reportSession('created')
  }

  #read(event: ClientEvent): void {
    this.#eventId = event.event_id
    const reader = readers[String(event.type)]
    if (!reader) {
      this.#fail('invalid_value', `Invalid value: '${String(event.type)}'.`, 'type')
      return
    }
    this[reader](event)
    this.#eventId = undefined
  }

  /** Changes the session. */
  update({ session }: ClientEvent): void {
    if (!isJsonObject(session)) {
      this.#fail('missing_required_parameter', "Missing 'session'.", 'session')
      return
    }
    const before = JSON.stringify([this.#settings.input, this.#settings.turnDetection])
    const fault = this.#settings.update(this.#isBeta ? sessionFromBeta(session) : session)
    if (fault) {
      this.#fail('invalid_value', fault.message, fault.param)
      return
    }
    if (JSON.stringify([this.#settings.input, this.#settings.turnDetection]) !== before) this.#changeHearing()
    this.#reportSession('updated')
  }

  #reportSession(what: 'created' | 'updated'): void {
    const { shown, isTranscription } = this.#settings
    const prefix = this.#isBeta && isTranscription ? 'transcription_session' : 'session'
    this.#send({ type: `${prefix}.${what}`, session: this.#isBeta ? sessionToBeta(shown) : shown })
  }

  #changeHearing(): void {
    const detection = this.#settings.turnDetection
    if (this.#hearing && this.#hearing.rate === this.#settings.input.rate)
      this.#hearing.silenceMs = detection?.silenceMs ?? Number.POSITIVE_INFINITY
    else this.#hearing = undefined
  }

  /** Hears audio. */
  append({ audio }: ClientEvent): void {
    if (typeof audio !== 'string') {
      this.#fail('missing_required_parameter', "Missing 'audio'.", 'audio')
      return
    }
    const format = this.#settings.input
    const bytes = Buffer.from(audio, 'base64')
    this.#bufferedMs += durationMs(bytes.length, format)
    this.#hearing ??= this.#openHearing()
    this.#hearing.feed(toSamples(bytes, format))
  }

  #openHearing(): Hearing {
    const { input, turnDetection } = this.#settings
    const silenceMs = turnDetection?.silenceMs ?? Number.POSITIVE_INFINITY
    const texts = this.#call.stand.texts()
    return new Hearing(
      { rate: input.rate, silenceMs, texts },
      {
        onStarted: (atMs) => this.#onStarted(atMs),
        onStopped: ({ text, speechMs, endMs }) => {
          const detection = this.#settings.turnDetection
          if (!detection) this.#commit(text, speechMs)
          else this.#onStopped(detection, { text, speechMs, endMs })
        },
      },
    )
  }

  #onStarted(atMs: number): void {
    const detection = this.#settings.turnDetection
    if (!detection) return
    this.#itemId = idOf('item')
    this.#isInterruption = this.#answers.isHeard
    const start = Math.max(0, atMs - detection.prefixMs)
    this.#send({ type: 'input_audio_buffer.speech_started', audio_start_ms: start, item_id: this.#itemId })
    this.#answers.onSpeech()
    if (detection.interruptsResponse) this.#answers.cancel('turn_detected')
  }

  #onStopped(
    { createsResponse }: TurnDetection,
    { text, speechMs, endMs }: { readonly text: string; readonly speechMs: number; readonly endMs: number },
  ): void {
    this.#send({ type: 'input_audio_buffer.speech_stopped', audio_end_ms: endMs, item_id: this.#itemId })
    this.#commit(text, speechMs, createsResponse)
  }

  /** Ends the caller's turn at the wish of the client. */
  commit(_event?: ClientEvent): void {
    if (this.#bufferedMs < minCommitMs) {
      this.#fail(
        'input_audio_buffer_commit_empty',
        `Error committing input audio buffer: buffer too small. Expected at least ${minCommitMs}ms of audio.`,
      )
      return
    }
    if (this.#hearing?.end() !== true) this.#commit('', 0)
  }

  #commit(text: string, speechMs: number, answers = false): void {
    this.#bufferedMs = 0
    const id = this.#itemId === '' ? idOf('item') : this.#itemId
    this.#itemId = ''
    const content = [{ type: 'input_audio', transcript: this.#settings.transcribes ? text : null }]
    const value = { id, object: 'realtime.item', type: 'message', status: 'completed', role: 'user', content }
    this.#send({
      type: 'input_audio_buffer.committed',
      item_id: id,
      previous_item_id: this.#items.last?.id ?? null,
    })
    this.#addItem({ id, value })
    this.#answers.onTurn({ text, speechMs, isInterruption: this.#isInterruption })
    this.#isInterruption = false
    if (answers) this.#answers.answerTurn()
    if (this.#settings.transcribes) this.#transcribe(id, text, speechMs)
  }

  #transcribe(item_id: string, text: string, speechMs: number): void {
    const start = { item_id, content_index: 0 }
    const type = 'conversation.item.input_audio_transcription'
    for (const delta of deltasOf(text)) this.#send({ type: `${type}.delta`, ...start, delta })
    const usage = { type: 'duration', seconds: speechMs / 1000 }
    this.#send({ type: `${type}.completed`, ...start, transcript: text, usage })
  }

  /** Forgets audio that was not committed. */
  clear(_event?: ClientEvent): void {
    this.#bufferedMs = 0
    this.#hearing = undefined
    this.#send({ type: 'input_audio_buffer.cleared' })
  }

  /** Adds an item. */
  create({ item, previous_item_id: after }: ClientEvent): void {
    if (!isJsonObject(item) || typeof item.type !== 'string') {
      this.#fail('missing_required_parameter', "Missing 'item.type'.", 'item.type')
      return
    }
    if (item.type === 'function_call_output' && this.#items.nameOf(item.call_id) === undefined) {
      this.#fail(
        'invalid_value',
        `Tool call ID '${String(item.call_id)}' not found in conversation.`,
        'item.call_id',
      )
      return
    }
    const id = typeof item.id === 'string' ? item.id : idOf('item')
    const value = { object: 'realtime.item', status: 'completed', ...item, id }
    if (!this.#addItem({ id, value }, after)) {
      this.#fail('invalid_value', `Previous item '${String(after)}' not found.`, 'previous_item_id')
      return
    }
    if (item.type === 'function_call_output') this.#answers.onResult(item.call_id, String(item.output))
    if (item.role === 'user') this.#answers.onTurn({ text: messageText(item) })
  }

  #addItem(item: ConversationItem, after?: unknown): boolean {
    if (!this.#items.add(item, after)) return false
    const event = { previous_item_id: this.#items.before(item.id), item: item.value }
    this.#send({ type: 'conversation.item.added', ...event })
    this.#send({ type: 'conversation.item.done', ...event })
    return true
  }

  /** Cuts a message to what was heard. */
  truncate({ item_id, content_index = 0, audio_end_ms: end }: ClientEvent): void {
    const item = this.#items.find(item_id)
    if (this.#quirks.has('truncate-error')) {
      this.#fail('server_error', 'The server had an error.')
      return
    }
    if (!item) {
      this.#fail('invalid_value', `Item '${String(item_id)}' not found.`, 'item_id')
      return
    }
    const { audioMs } = item
    if (audioMs === undefined || audioMs === 0) {
      this.#fail('invalid_value', 'Only model output audio messages can be truncated.', 'item_id')
      return
    }
    if (typeof end !== 'number' || end < 0) {
      this.#fail('invalid_value', 'An integer of at least 0 expected.', 'audio_end_ms')
      return
    }
    if (end > audioMs) {
      this.#fail(
        'invalid_value',
        `Audio content of ${Math.floor(audioMs)}ms is already shorter than ${end}ms`,
        'audio_end_ms',
      )
      return
    }
    item.audioMs = end
    this.#send({ type: 'conversation.item.truncated', item_id, content_index, audio_end_ms: end })
  }

  /** Sends an item to the client. */
  retrieve({ item_id }: ClientEvent): void {
    const item = this.#items.find(item_id)
    if (!item) {
      this.#fail('invalid_value', `Item '${String(item_id)}' not found.`, 'item_id')
      return
    }
    this.#send({ type: 'conversation.item.retrieved', item: item.value })
  }

  /** Removes an item. */
  delete({ item_id }: ClientEvent): void {
    if (!this.#items.delete(item_id)) {
      this.#fail('invalid_value', `Item '${String(item_id)}' not found.`, 'item_id')
      return
    }
    this.#send({ type: 'conversation.item.deleted', item_id })
  }

  /** Begins an answer. */
  respond({ response }: ClientEvent): void {
    const options = isJsonObject(response) ? response : {}
    const active = this.#answers.create(options)
    if (active !== undefined)
      this.#fail(
        'conversation_already_has_active_response',
        `Conversation already has an active response in progress: ${active}. Wait until it is finished.`,
      )
  }

  /** Ends the answer of the moment. */
  cancel(_event?: ClientEvent): void {
    if (!this.#answers.cancel('client_cancelled'))
      this.#fail('response_cancel_not_active', 'Cancellation failed: no active response found')
  }

  /** The caller has said nothing after an answer, for `idle_timeout_ms`. */
  #idle(): void {
    const end = Math.round(this.#hearing?.nowMs ?? 0)
    const start = Math.max(0, end - (this.#settings.turnDetection?.idleMs ?? 0))
    const item_id = idOf('item')
    this.#send({
      type: 'input_audio_buffer.timeout_triggered',
      audio_start_ms: start,
      audio_end_ms: end,
      item_id,
    })
    this.#itemId = item_id
    this.#commit('', 0, true)
  }

  #expire(): void {
    this.#fail('session_expired', 'Your session hit the maximum duration of 60 minutes.')
    this.#call.socket.close(1001)
  }

  #fail(code: string, message: string, param: string | null = null): void {
    const type = code === 'server_error' ? code : 'invalid_request_error'
    this.#send({ type: 'error', error: { type, code, message, param, event_id: this.#eventId ?? null } })
  }

  #send(message: Readonly<Record<string, unknown>> & { readonly type: string }): void {
    const whole = { event_id: idOf('event'), ...message }
    const sent = this.#isBeta ? toBeta(whole) : whole
    if (sent) this.#call.socket.send(sent)
  }
}

/** Names of the methods that read events of clients. */
type Reader =
  | 'update'
  | 'append'
  | 'commit'
  | 'clear'
  | 'create'
  | 'truncate'
  | 'retrieve'
  | 'delete'
  | 'respond'
  | 'cancel'

/** Methods by the type of an event. */
const readers: Readonly<Record<string, Reader>> = {
  'session.update': 'update',
  'transcription_session.update': 'update',
  'input_audio_buffer.append': 'append',
  'input_audio_buffer.commit': 'commit',
  'input_audio_buffer.clear': 'clear',
  'conversation.item.create': 'create',
  'conversation.item.truncate': 'truncate',
  'conversation.item.retrieve': 'retrieve',
  'conversation.item.delete': 'delete',
  'response.create': 'respond',
  'response.cancel': 'cancel',
}
