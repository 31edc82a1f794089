import { isJsonObject } from '../../core/json.ts'
import { type AudioFormat, durationMs, toBytes, toSamples } from '../audio-format.ts'
import { delegated } from '../dialogue.ts'
import { idOf } from '../realtime/realtime-answer.ts'
import { functionsOf } from '../realtime/session-settings.ts'
import type { SocketCall, SocketEngine } from '../stand.ts'
import { LiveSpeaker } from './live-speaker.ts'

/** Longest session, in seconds. */
const longestSeconds = 7200

/** OpenAI Live: full duplex, at the pace of the audio that it receives. */
export const live: SocketEngine = {
  name: 'live',
  serves: (path) => path === '/v1/live/sessions' || path === '/openai/v1/live/sessions',
  open: (call) => new LiveSession(call),
}

type Message = Readonly<Record<string, unknown>>

const knownFields = [
  'model',
  'instructions',
  'audio',
  'input',
  'delegation',
  'triggers',
  'store',
  'client',
  'safety_identifier',
]

class LiveSession {
  readonly #call: SocketCall
  #session: Record<string, unknown> | undefined
  #format: AudioFormat = { coding: 'pcm', rate: 24_000 }
  #speaker: LiveSpeaker | undefined
  #isMuted = false
  #eventId: unknown

  constructor(call: SocketCall) {
    this.#call = call
    const expiry = call.stand.clock.after(longestSeconds * 1000, () => this.#close('expired'))
    call.socket.listen({
      onMessage: (message) => {
        this.#eventId = message.event_id
        this.#read(message)
        this.#eventId = undefined
      },
      onFaulty: () => this.#fail('invalid_json', 'The event is no JSON object.'),
      onClosed: () => {
        expiry.cancel()
        this.#speaker?.end()
      },
    })
  }

  #read(message: Message): void {
    const type = String(message.type)
    const speaker = this.#speaker
    if (type === 'session.start') this.#start(message.session)
    else if (!speaker) this.#fail('session_not_started', 'session.start must be the first event.')
    else if (type === 'session.input_audio.append') this.#hear(speaker, message.audio)
    else if (type === 'session.update') this.#update(message.session)
    else if (type === 'session.close') this.#close('close_requested')
    else if (type === 'session.input_audio.mute' || type === 'session.input_audio.unmute') {
      this.#isMuted = type.endsWith('.mute')
      this.#send({ type: `${type}d` })
    } else if (type.endsWith('.append')) this.#append(speaker, type, message)
    else if (type === 'response.item.create') speaker.readItem(message.item)
    else if (type === 'response.create') speaker.answerResults()
    else this.#fail('invalid_value', `Unknown event type '${type}'.`, 'type')
  }

  #start(session: unknown): void {
    if (this.#session) {
      this.#fail('session_already_started', 'The session has started.')
      return
    }
    if (!isJsonObject(session) || typeof session.model !== 'string') {
      this.#fail('missing_required_parameter', "Missing 'session.model'.", 'session.model')
      return
    }
    const unknown = Object.keys(session).find((name) => !knownFields.includes(name))
    if (unknown !== undefined) {
      this.#fail(
        'unknown_parameter',
        `Unknown parameter 'session.${unknown}'; known: ${knownFields.join(', ')}.`,
      )
      return
    }
    const format = formatOf(isJsonObject(session.audio) ? session.audio.format : undefined)
    if (!format) {
      this.#fail('invalid_value', 'Invalid audio format.', 'session.audio.format')
      return
    }
    this.#format = format
    const expires = Math.floor(this.#call.stand.clock.now() / 1000) + longestSeconds
    this.#session = { ...session, id: idOf('lsess'), status: 'active', expires_at: expires }
    this.#speaker = new LiveSpeaker(this.#call, format, (message) => this.#send(message))
    this.#setDelegation(session.delegation)
    this.#send({ type: 'session.started', session: this.#session })
  }

  #update(session: unknown): void {
    const change = isJsonObject(session) ? session : {}
    const fixed = Object.keys(change).find((name) => name !== 'delegation' && name !== 'triggers')
    if (fixed !== undefined) {
      this.#fail('invalid_value', `'session.${fixed}' cannot change.`, `session.${fixed}`)
      return
    }
    this.#session = { ...this.#session, ...change }
    this.#setDelegation(change.delegation)
    this.#send({ type: 'session.updated', session: this.#session })
  }

  #setDelegation(delegation: unknown): void {
    if (!this.#speaker || !isJsonObject(delegation)) return
    const { type, responses } = delegation
    this.#speaker.target = type === 'responses' ? 'responses' : 'client'
    const tools = isJsonObject(responses) ? responses.tools : []
    // The model of the client has the functions; the voice delegates whatever the script calls.
    this.#speaker.functions = type === 'client' ? [delegated] : functionsOf(tools)
  }

  #hear(speaker: LiveSpeaker, audio: unknown): void {
    if (typeof audio !== 'string') {
      this.#fail('missing_required_parameter', "Missing 'audio'.", 'audio')
      return
    }
    const bytes = Buffer.from(audio, 'base64')
    const samples = toSamples(bytes, this.#format)
    speaker.hear(this.#isMuted ? new Int16Array(samples.length) : samples)
    const spoken = speaker.take(samples.length)
    this.#send({
      type: 'session.output_audio.delta',
      delta: toBytes(spoken, this.#format).toString('base64'),
    })
    speaker.elapsed(durationMs(bytes.length, this.#format))
  }

  #append(speaker: LiveSpeaker, type: string, { content, delegation_id: id }: Message): void {
    if (typeof content !== 'string') {
      this.#fail('missing_required_parameter', "Missing 'content'.", 'content')
      return
    }
    if (id === undefined) {
      this.#fail('missing_required_parameter', "Missing 'delegation_id'.", 'delegation_id')
      return
    }
    const now = speaker.nowMs
    this.#send({ type: `${type}ed`, start_ms: now, end_ms: now })
    if (type === 'session.commentary.append') speaker.comment(content)
  }

  #close(reason: string): void {
    const usage = { seconds: Math.round((this.#speaker?.nowMs ?? 0) / 1000) }
    this.#send({ type: 'session.closed', reason, usage, session: this.#session ?? {} })
    this.#call.socket.close(1000)
  }

  #fail(code: string, message: string, param: string | null = null): void {
    this.#send({ type: 'error', error: { type: 'invalid_request_error', code, message, param } })
  }

  #send(message: Message & { readonly type: string }): void {
    const id = this.#eventId === undefined ? {} : { client_event_id: this.#eventId }
    this.#call.socket.send({ event_id: idOf('event'), ...id, ...message })
  }
}

const formatOf = (format: unknown): AudioFormat | undefined => {
  if (format === undefined) return { coding: 'pcm', rate: 24_000 }
  if (!isJsonObject(format)) return undefined
  const { type, rate } = format
  if (type === 'audio/pcmu') return { coding: 'PCMU', rate: 8000 }
  if (type === 'audio/pcma') return { coding: 'PCMA', rate: 8000 }
  if (type !== 'audio/pcm') return undefined
  return rate === 16_000 || rate === 24_000 ? { coding: 'pcm', rate } : undefined
}
