import type { AgentLanguage, AgentMessage } from '../../../../handlers/verbs.ts'
import type { Timer } from '../../../core/clock.ts'
import type {
  EngineAbilities,
  EngineCall,
  EngineChange,
  EngineFailureKind,
  EngineHeard,
  EngineMessage,
} from '../../engine.ts'
import type { EngineTarget, WireMessage } from '../session/engine-socket.ts'
import { kindOfCode } from '../session/failures.ts'
import { Answers } from '../session/session-answers.ts'
import { SessionLink, type SessionOpening } from '../session/session-link.ts'
import { voiceNameOf } from '../session/voice-name.ts'
import { numberAt, objectAt, textAt } from '../session/wire-values.ts'
import { type BackendSettings, LiveBackend, type LiveModel } from './live-backend.ts'
import type { LiveOptions } from './live-options.ts'
import { SoundSegments } from './sound-segments.ts'
import { Transcript } from './transcript.ts'

/** Interval of the check for missing audio of the caller, in ms. */
const checkMs = 100
/** Longest gap in the caller's audio that is not filled, in ms. */
const maxGapMs = 200
/** Maximum number of messages that a session begins with. */
const maxInput = 128
/** Maximum length of a text to speak: some 500 tokens. */
const maxSpokenLength = 1_500

const formats = {
  pcmu: { type: 'audio/pcmu', rate: 8000 },
  pcma: { type: 'audio/pcma', rate: 8000 },
  pcm16000: { type: 'audio/pcm', rate: 16_000 },
  pcm24000: { type: 'audio/pcm', rate: 24_000 },
} as const

const kindsOfEnds: Readonly<Record<string, EngineFailureKind>> = {
  content: 'refused',
  expired: 'connection',
  connection_lost: 'connection',
}

/** Session with a model that hears while it speaks, and decides by itself when to do either. */
export class LiveLink extends SessionLink {
  readonly abilities: EngineAbilities
  readonly #options: LiveOptions
  readonly #answers: Answers
  readonly #segments: SoundSegments
  readonly #backend: LiveBackend | undefined
  readonly #settings: BackendSettings
  readonly #transcript: Transcript
  /** Language that the agent was asked to speak. */
  #language: AgentLanguage | undefined
  /** Text whose sound has not begun. */
  #early = ''
  /** Audio of the model so far, and its position at the end of the last sound, in ms: the session's clock. */
  #playedMs = 0
  #soundEndMs = 0
  #heardAt: number
  #check: Timer
  #usedSeconds = 0

  constructor(
    options: LiveOptions,
    target: EngineTarget,
    model: LiveModel | undefined,
    opening: SessionOpening,
  ) {
    const { format = 'pcmu', longestMs } = options
    super({ target, input: format, output: format }, opening)
    this.#options = options
    this.abilities = {
      turns: 'duplex',
      cut: 'none',
      pace: 'real',
      isExact: false,
      changes: true,
      changesHistory: false,
      ...(longestMs !== undefined && { longestMs }),
    }
    const { prompt, functions, settings, history } = this.request
    this.#settings = { prompt, functions, settings }
    this.#answers = new Answers(this.listener)
    this.#segments = new SoundSegments(this.outputRate)
    this.#transcript = new Transcript(history)
    if (model)
      this.#backend = new LiveBackend(this.#settings, {
        model,
        clock: this.clock,
        listener: this.listener,
        onResult: (id, text, isSpoken) => this.#onResult(id, text, isSpoken),
      })
    this.#heardAt = this.clock.uptime()
    this.#check = this.clock.after(checkMs, () => this.#fillGap())
    this.socket.connect()
  }

  onOpen(): void {
    const { format = 'pcmu', model = 'gpt-live-1' } = this.#options
    const voice = voiceNameOf(this.request.languages[0], 'openai') ?? this.#options.voice
    const input = this.#transcript.messages.flatMap(inputOf).slice(-maxInput)
    this.socket.send({
      type: 'session.start',
      session: {
        model,
        instructions: this.request.prompt,
        audio: { format: formats[format], ...(voice !== undefined && { output: { voice } }) },
        ...(input.length > 0 && { input }),
        delegation: this.#backend ? { type: 'client' } : null,
      },
    })
  }

  audioMessage(audio: Buffer): WireMessage {
    return { type: 'session.input_audio.append', audio: audio.toString('base64') }
  }

  override hear(samples: Int16Array): void {
    this.#heardAt = this.clock.uptime()
    super.hear(samples)
  }

  onMessage(message: WireMessage): void {
    switch (textAt(message, 'type')) {
      case 'session.started':
        this.#onSession(message)
        this.started()
        break
      case 'session.updated':
        this.#onSession(message)
        break
      case 'session.output_audio.delta':
        this.#onAudio(textAt(message, 'delta') ?? '')
        break
      case 'session.output_transcript.delta':
        this.#onSpoken(textAt(message, 'delta') ?? '', numberAt(message, 'start_ms'))
        break
      case 'session.input_transcript.delta':
        this.#onHeard(textAt(message, 'delta') ?? '')
        break
      case 'session.delegation.created':
        this.#onDelegation(objectAt(message, 'delegation'))
        break
      case 'session.usage.updated':
        this.#onUsage(numberAt(objectAt(message, 'usage'), 'seconds'))
        break
      case 'session.closed':
        this.#onClosed(textAt(message, 'reason') ?? 'unknown reason')
        break
      case 'error':
        this.#onError(objectAt(message, 'error'))
    }
  }

  /** The model decides about turns. */
  commit(): void {}

  message(message: AgentMessage, respond: boolean): void {
    this.#transcript.add(message)
    const said = message.role === 'user' ? `The caller wrote: ${message.content}` : message.content
    if (respond) this.#append('commentary', `Answer this now. ${said}`)
    else this.#append(message.role === 'system' ? 'instructions' : 'thinking', said)
  }

  answer(instruction: string | undefined): void {
    this.#append('commentary', instruction ?? 'Begin to speak, as your instructions say.')
  }

  say(text: string): void {
    this.#append('commentary', text)
  }

  /** The model cannot be stopped: the rest of its answer is dropped, up to its next silence. */
  interrupt(_heard: EngineHeard | undefined): void {
    this.#early = ''
    this.#answers.discard()
  }

  result(call: EngineCall, text: string, respond: boolean): void {
    this.#backend?.result(call, text, respond)
  }

  /** The history cannot change: the conversation opens another session. */
  change({ prompt, functions, settings, language }: EngineChange): void {
    if (functions) this.#settings.functions = functions
    if (settings) this.#settings.settings = settings
    if (language) this.#language = language
    const spoken = this.#language && `Speak ${this.#language.name} from now on.`
    if (prompt !== undefined) {
      this.#settings.prompt = prompt
      const all = [`These instructions replace all earlier ones:\n${prompt}`, spoken].filter(Boolean)
      this.#append('instructions', all.join('\n\n'))
    } else if (language && spoken) this.#append('instructions', spoken)
  }

  protected override farewell(): WireMessage {
    return { type: 'session.close' }
  }

  protected override ended(): void {
    this.#check.cancel()
    this.#backend?.close()
  }

  #append(kind: 'commentary' | 'thinking' | 'instructions', content: string, delegation?: string): void {
    this.put({
      type: `session.${kind}.append`,
      content: kind === 'commentary' ? content.slice(0, maxSpokenLength) : content,
      delegation_id: delegation ?? null,
    })
  }

  /** The clock of the model is the caller's audio: silence replaces what does not arrive. */
  #fillGap(): void {
    this.#check = this.clock.after(checkMs, () => this.#fillGap())
    const missing = this.clock.uptime() - this.#heardAt
    if (missing <= maxGapMs || !this.socket.isReady) return
    super.hear(new Int16Array((this.inputRate * checkMs) / 1000))
  }

  #onSession(message: WireMessage): void {
    const expiresAt = numberAt(objectAt(message, 'session'), 'expires_at')
    if (expiresAt !== undefined && expiresAt > 0) this.closesIn(expiresAt * 1000 - this.clock.now())
  }

  /** Silence between two answers is left out, so that a delay does not last beyond an answer. */
  #onAudio(base64: string): void {
    const samples = this.samplesOf(base64)
    if (!samples || samples.length === 0) return
    const segment = this.#segments.take(samples)
    this.#playedMs += (samples.length * 1000) / this.outputRate
    if (segment === 'silence') {
      this.#answers.accept()
      return
    }
    this.#soundEndMs = this.#playedMs
    if (segment === 'begin') {
      this.#callerEnded()
      this.#answers.text(this.#takeEarly())
    }
    this.#answers.audio(samples)
    if (segment !== 'end') return
    this.#answers.end('completed')
    this.#answers.accept()
  }

  /**
   * The protocol has no end of turns: the words of the caller are final when the model acts on them. Those
   * that it goes on speaking over wait for its next answer.
   */
  #callerEnded(): void {
    const text = this.#transcript.takeCaller()
    if (text !== '') this.listener.onHeard({ text, isFinal: true })
  }

  /** Text of a sound that has ended belongs to the answer before; that of one to come waits for it. */
  #onSpoken(text: string, startMs: number | undefined): void {
    const isLate = startMs !== undefined && startMs < this.#soundEndMs
    const isEarly = this.#answers.current === undefined && !isLate && !this.#answers.isDiscarding
    if (isEarly && text.trim() !== '') this.#callerEnded()
    this.#transcript.piece('assistant', text)
    if (this.#answers.current !== undefined) this.#answers.text(text)
    else if (isLate) this.#answers.lateText(text)
    else if (isEarly) this.#early += text
  }

  #takeEarly(): string {
    const text = this.#early
    this.#early = ''
    return text
  }

  #onHeard(text: string): void {
    const whole = this.#transcript.piece('user', text)
    if (text !== '') this.listener.onHeard({ text: whole, isFinal: false })
  }

  #onDelegation(delegation: WireMessage): void {
    const id = textAt(delegation, 'id')
    this.#callerEnded()
    if (id !== undefined) this.#backend?.begin({ id, messages: this.#transcript.messages })
  }

  #onResult(delegation: string, text: string, isSpoken: boolean): void {
    if (text === '') this.#append('thinking', 'The work is done.', delegation)
    else this.#append(isSpoken ? 'commentary' : 'thinking', text, delegation)
    this.#transcript.add({ role: 'system', content: `(Result of work: ${text})` })
  }

  #onUsage(seconds: number | undefined): void {
    if (seconds === undefined || seconds <= this.#usedSeconds) return
    this.listener.onUsage({ recognisedMs: Math.round((seconds - this.#usedSeconds) * 1000) })
    this.#usedSeconds = seconds
  }

  #onClosed(reason: string): void {
    const kind = kindsOfEnds[reason] ?? 'connection'
    this.socket.fail(kind, `the server closed the session: ${this.socket.publicText(reason)}`)
  }

  #onError(error: WireMessage): void {
    const name = this.socket.publicText(textAt(error, 'code') ?? textAt(error, 'type') ?? 'unknown error')
    const kind = kindOfCode(name, 'refused')
    if (!this.socket.isReady) {
      const text = kind === 'unauthorised' ? '' : this.socket.publicText(error.message)
      this.socket.fail(kind, text === '' ? name : `${name}: ${text}`)
    } else if (kind === 'refused') this.onWarning('engine_error', name)
    else this.socket.fail(kind, name)
  }
}

const inputOf = (message: EngineMessage): readonly WireMessage[] => {
  if (message.role === 'tool' || message.content === '') return []
  const role = message.role === 'assistant' ? 'assistant' : 'user'
  return [{ role, content: [{ text: message.content }] }]
}
