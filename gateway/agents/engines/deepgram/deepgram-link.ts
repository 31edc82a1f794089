import type { AgentLanguage, AgentMessage } from '../../../../handlers/verbs.ts'
import type { Timer } from '../../../core/clock.ts'
import type { EngineAbilities, EngineCall, EngineChange } from '../../engine.ts'
import type { EngineTarget, WireMessage } from '../session/engine-socket.ts'
import { kindOfCode } from '../session/failures.ts'
import { OpenCalls } from '../session/open-calls.ts'
import { Answers } from '../session/session-answers.ts'
import { SessionLink, type SessionOpening } from '../session/session-link.ts'
import { voiceNameOf } from '../session/voice-name.ts'
import { objectsAt, textAt } from '../session/wire-values.ts'
import { settingsOf, type ThinkRequest, thinkOf } from './deepgram-messages.ts'
import type { DeepgramAgentOptions } from './deepgram-options.ts'

/** Interval of messages without audio, in ms; the server closes a silent connection. */
const keepAliveMs = 5_000
/** Maximum number of messages in the prompt; the oldest ones are dropped. */
const maxNotes = 50

/** Session with an agent of Deepgram: recogniser, model and voice are the server's. */
export class DeepgramAgentLink extends SessionLink {
  readonly abilities: EngineAbilities
  readonly #options: DeepgramAgentOptions
  readonly #answers: Answers
  readonly #calls = new OpenCalls()
  #think: ThinkRequest
  /** Messages without an answer, as they follow the prompt. */
  #notes: string[] = []
  /** Language that the agent was asked to speak. */
  #language: AgentLanguage | undefined
  #heardAt: number
  #keepAlive: Timer

  constructor(options: DeepgramAgentOptions, target: EngineTarget, opening: SessionOpening) {
    const { format = 'pcmu', longestMs } = options
    super({ target, input: format, output: format }, opening)
    this.#options = options
    this.abilities = {
      turns: 'its',
      cut: 'none',
      pace: 'burst',
      isExact: true,
      changes: true,
      changesHistory: false,
      ...(longestMs !== undefined && { longestMs }),
    }
    this.#think = this.request
    this.#answers = new Answers(this.listener)
    this.#heardAt = this.clock.uptime()
    this.#keepAlive = this.clock.after(keepAliveMs, () => this.#keep())
    this.socket.connect()
  }

  onOpen(): void {
    this.socket.send(settingsOf(this.#options, this.request))
  }

  audioMessage(audio: Buffer): Buffer {
    return audio
  }

  override hear(samples: Int16Array): void {
    this.#heardAt = this.clock.uptime()
    super.hear(samples)
  }

  onBinary(bytes: Buffer): void {
    this.#answers.audio(this.decoder.decode(bytes))
  }

  onMessage(message: WireMessage): void {
    switch (textAt(message, 'type')) {
      case 'SettingsApplied':
        this.started()
        break
      case 'UserStartedSpeaking':
        this.#onInterrupted()
        break
      case 'ConversationText':
        this.#onText(textAt(message, 'role'), textAt(message, 'content') ?? '')
        break
      case 'AgentStartedSpeaking':
        this.#answers.accept()
        this.#answers.begin()
        break
      case 'AgentAudioDone':
        this.#answers.end('completed')
        this.#answers.accept()
        this.decoder.reset()
        break
      case 'FunctionCallRequest':
        this.#onCalls(objectsAt(message, 'functions'))
        break
      case 'FunctionCallCancelled':
        this.#onCallsCancelled(message)
        break
      case 'InjectionRefused':
        this.onWarning('engine_text_refused', 'a text was not spoken: the caller or the agent speaks')
        break
      case 'Warning':
        this.onWarning('engine_warning', this.socket.publicText(textAt(message, 'code') ?? 'unknown warning'))
        break
      case 'Error':
        this.#onError(message)
    }
  }

  /** The server ends turns and answers by itself. */
  commit(): void {}

  /** A message without an answer joins the prompt: the server has no other place for it. */
  message({ role, content }: AgentMessage, respond: boolean): void {
    if (respond) this.put({ type: 'InjectUserMessage', content })
    else {
      this.#notes = [...this.#notes, `(${role}: ${content})`].slice(-maxNotes)
      this.put({ type: 'UpdatePrompt', prompt: this.#fullPrompt })
    }
  }

  answer(instruction: string | undefined): void {
    this.put({ type: 'InjectUserMessage', content: instruction ?? '(The call has begun. Speak first.)' })
  }

  say(text: string): void {
    this.put({ type: 'InjectAgentMessage', message: text, behavior: 'queue' })
  }

  /** The server stops by itself; the rest of an answer that it goes on with is dropped. */
  interrupt(): void {
    this.#answers.discard()
  }

  /** The server answers by itself when it has a result; `respond` has no effect. */
  result({ id, name }: EngineCall, text: string): void {
    if (this.#calls.close(id)) this.put({ type: 'FunctionCallResponse', id, name, content: text })
  }

  /** The history cannot change: the conversation opens another session. */
  change({ prompt = this.#think.prompt, functions, settings, language }: EngineChange): void {
    if (language) this.#speakIn(language)
    const isPrompt = language !== undefined || prompt !== this.#think.prompt
    this.#think = {
      prompt,
      functions: functions ?? this.#think.functions,
      settings: settings ?? this.#think.settings,
    }
    if (functions || settings)
      this.put({
        type: 'UpdateThink',
        think: thinkOf(this.#options, { ...this.#think, prompt: this.#fullPrompt }),
      })
    else if (isPrompt) this.put({ type: 'UpdatePrompt', prompt: this.#fullPrompt })
  }

  protected override ended(): void {
    this.#keepAlive.cancel()
  }

  #speakIn(language: AgentLanguage): void {
    this.#language = language
    const model = voiceNameOf(language, 'deepgram')
    if (model !== undefined)
      this.put({ type: 'UpdateSpeak', speak: { provider: { type: 'deepgram', model } } })
  }

  get #fullPrompt(): string {
    const spoken = this.#language ? [`Speak ${this.#language.name} from now on.`] : []
    return [this.#think.prompt, ...this.#notes, ...spoken].filter((part) => part !== '').join('\n\n')
  }

  #keep(): void {
    this.#keepAlive = this.clock.after(keepAliveMs, () => this.#keep())
    if (this.clock.uptime() - this.#heardAt >= keepAliveMs) this.socket.send({ type: 'KeepAlive' })
  }

  #onInterrupted(): void {
    this.listener.onTurn('began')
    this.#answers.end('cancelled')
    this.#answers.accept()
    this.decoder.reset()
    this.listener.onInterrupted()
  }

  #onText(role: string | undefined, text: string): void {
    if (role === 'user') {
      this.listener.onHeard({ text, isFinal: true })
      this.listener.onTurn('ended')
    } else if (role === 'assistant') this.#answers.text(this.#answers.current ? ` ${text}` : text)
  }

  /** The answer ends with its calls; the next one follows their results. */
  #onCalls(functions: readonly WireMessage[]): void {
    const fresh = functions.filter(
      ({ id, client_side }) => client_side !== false && typeof id === 'string' && this.#calls.open(id),
    )
    if (fresh.length === 0) return
    if (this.#answers.isDiscarding) {
      // The server waits for a result of every call, also of those that are not made.
      for (const { id, name } of fresh)
        if (this.#calls.close(String(id)))
          this.put({ type: 'FunctionCallResponse', id, name, content: 'cancelled' })
      return
    }
    const answer = this.#answers.begin()
    for (const each of fresh) {
      const call = {
        id: String(each.id),
        name: textAt(each, 'name') ?? '',
        args: textAt(each, 'arguments') ?? '',
      }
      this.listener.onCall(answer, call)
    }
    this.#answers.end('completed')
  }

  #onCallsCancelled(message: WireMessage): void {
    const ids = [textAt(message, 'id'), ...objectsAt(message, 'functions').map((each) => textAt(each, 'id'))]
    const cancelled = ids.filter((id) => id !== undefined && this.#calls.close(id)) as readonly string[]
    if (cancelled.length > 0) this.listener.onCallsCancelled(cancelled)
  }

  #onError(message: WireMessage): void {
    const code = textAt(message, 'code') ?? 'unknown error'
    const { isReady } = this.socket
    const named = kindOfCode(code, isReady ? 'server' : 'refused')
    // The server has accepted the configuration: another session may go on.
    const kind = isReady && named === 'refused' ? 'server' : named
    // Until the session is ready, an error is about its configuration, and the server's words help.
    const text = isReady || kind === 'unauthorised' ? '' : this.socket.publicText(message.description)
    this.socket.fail(kind, this.socket.publicText(text === '' ? code : `${code}: ${text}`))
  }
}
