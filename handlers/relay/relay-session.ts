import { randomUUID } from 'node:crypto'
import { callTimers, type Timers, within } from '../common/timers.ts'
import { usualTurns } from '../common/usual-turns.ts'
import type { DocumentSocket, HandlerContext, SocketEnd } from '../handler.ts'
import type {
  AgentEnd,
  AgentEvent,
  AgentLanguage,
  AgentTurnSettings,
  CallAgent,
  CallControl,
} from '../verbs.ts'
import { CallEnded, VerbFailed } from '../verbs.ts'
import { RelayCommands } from './relay-commands.ts'
import { RelayDigits } from './relay-digits.ts'
import { type RelayMessage, type RelayReply, readRelayMessage } from './relay-messages.ts'
import { RelayReports } from './relay-reports.ts'
import { type RelayEnd, type RelayOptions, relayCodes } from './relay-types.ts'
import { interruptionRules, RelayVoice } from './relay-voice.ts'

/** Surroundings of a session. */
export interface RelayHost {
  readonly call: CallControl
  readonly context: Pick<HandlerContext, 'openSocket' | 'now'>
  /** Fields of the first message besides the id of the session. */
  readonly setup: Readonly<Record<string, unknown>>
  /** Logs a fault. */
  warn(code: string, message: string): void
}

/** Session with its end, and its duration in milliseconds. */
export interface RelayResult {
  readonly id: string
  readonly end: RelayEnd
  readonly durationMs: number
}

/** Maximum size of a message of the server, in bytes. */
const maxMessageBytes = 65_536
/** Maximum size of the messages together that the server sends before the conversation begins, in bytes. */
const maxEarlyBytes = 262_144
/** Maximum time for the last words of a session, in ms. */
const maxLastWordsMs = 10_000

/** Rules of turn-taking; attributes change some of them. */
const relayTurns: AgentTurnSettings = {
  ...usualTurns,
  confidence: 0,
  // The server has each prompt already; none may come again as a part of the next one.
  transparentBargeMs: 0,
  attentionMs: 0,
  answerMs: 0,
}

/** Session between a caller and a server: the gateway hears and speaks, and the server has the texts. */
export class RelaySession {
  readonly #id = randomUUID()
  readonly #options: RelayOptions
  readonly #host: RelayHost
  readonly #timers: Timers
  readonly #ended: Promise<RelayEnd>
  readonly #settle: (end: RelayEnd) => void
  readonly #reports: RelayReports
  readonly #commands: RelayCommands
  readonly #digits: RelayDigits
  #socket: DocumentSocket | undefined
  #agent: CallAgent | undefined
  #voice: RelayVoice | undefined
  /** Messages that came before the conversation began. */
  #early: RelayMessage[] = []
  #earlyBytes = 0
  #language: AgentLanguage
  #isOver = false

  constructor(options: RelayOptions, host: RelayHost) {
    this.#options = options
    this.#host = host
    this.#timers = callTimers(host.call)
    this.#language = options.language
    const { promise, resolve } = Promise.withResolvers<RelayEnd>()
    this.#ended = promise
    this.#settle = resolve
    this.#reports = new RelayReports(
      options,
      (reply) => this.#send(reply),
      () => this.#voice,
    )
    this.#commands = this.#makeCommands()
    this.#digits = new RelayDigits(host.call, (error) => this.#failed(error))
  }

  /** Runs the session to its end. */
  async run(): Promise<RelayResult> {
    const startedAt = this.#host.context.now()
    const unsubscribe = this.#host.call.onDigit((digit) => this.#digit(digit))
    try {
      const end = await this.#run()
      return { id: this.#id, end, durationMs: this.#host.context.now() - startedAt }
    } finally {
      this.#isOver = true
      this.#commands.close()
      this.#digits.close()
      unsubscribe()
      this.#socket?.close()
    }
  }

  async #run(): Promise<RelayEnd> {
    try {
      return (await this.#connect()) ? await this.#converse() : await this.#ended
    } catch (error) {
      if (error instanceof CallEnded) return { status: 'completed' }
      throw error
    }
  }

  /** Connects the server. Returns whether that succeeded. */
  #connect(): Promise<boolean> {
    const { context, call } = this.#host
    const { promise, resolve, reject } = Promise.withResolvers<boolean>()
    this.#socket = context.openSocket(
      { url: this.#options.url, maxMessageBytes },
      {
        onOpen: () => resolve(true),
        onMessage: (text) => this.#received(text),
        onRoundTrip: (ms) => this.#reports.roundTrip(ms),
        onEnd: (end) => {
          this.#lost(end)
          resolve(false)
        },
      },
    )
    const over = () => reject(new CallEnded())
    call.signal.addEventListener('abort', over, { once: true })
    return promise.finally(() => call.signal.removeEventListener('abort', over))
  }

  async #converse(): Promise<RelayEnd> {
    const { setup, call } = this.#host
    this.#send({ type: 'setup', sessionId: this.#id, ...setup, customParameters: this.#options.parameters })
    try {
      this.#agent = await this.#start()
    } catch (error) {
      if (!(error instanceof VerbFailed)) throw error
      this.#send({ type: 'error', description: error.message })
      return { status: 'failed', code: error.code, reason: error.message }
    }
    const agent = this.#agent
    void agent.ended.then((end) => this.#over(endOf(end)))
    const voice = this.#speech(agent)
    const end = await this.#ended
    this.#isOver = true
    // A caller on hold would not hear the last words.
    this.#commands.close()
    // Last words are heard to their end; those of a faulty server are not.
    const isFaulty = end.status === 'failed' && end.code !== relayCodes.closed
    if (isFaulty) voice.stop()
    else if (!call.signal.aborted) await this.#lastWords(voice, agent)
    agent.stop()
    await agent.ended
    return end
  }

  /** Begins to speak: the greeting, and what the server has sent already. */
  #speech(agent: CallAgent): RelayVoice {
    const { context } = this.#host
    const languageOf = (code: string) => this.#languageOf(code)
    const deps = { agent, options: this.#options, languageOf, now: () => context.now() }
    const voice = new RelayVoice(deps, this.#options.sensitivity)
    this.#voice = voice
    voice.greet()
    for (const message of this.#early.splice(0)) this.#checked(() => this.#obey(message))
    return voice
  }

  async #lastWords(voice: RelayVoice, agent: CallAgent): Promise<void> {
    const done = Promise.all([voice.finish(), this.#digits.sent()])
    await within(this.#timers, maxLastWordsMs, Promise.race([done, agent.ended]))
  }

  #start(): Promise<CallAgent> {
    const { interruptible, greeting, sensitivity, silenceMs, hints, recogniser } = this.#options
    const { isBackchannelIgnored } = this.#options
    return this.#host.call.startAgent({
      answers: 'handler',
      prompt: '',
      functions: [],
      // The server decides about the others.
      languages: [this.#language],
      hints,
      ...(recogniser !== undefined && { recogniser }),
      pronounce: [],
      corrections: [],
      modelSettings: {},
      turns: {
        ...relayTurns,
        ...(silenceMs !== undefined && { endOfSpeechMs: silenceMs, isSemantic: false }),
        bargeAcknowledgements: !isBackchannelIgnored,
        ...interruptionRules(greeting?.interruptible ?? interruptible, sensitivity),
      },
      waitForUser: true,
      history: [],
      runFunction: async () => ({ text: '' }),
      onEvent: (event) => this.#event(event),
      commands: this.#commands,
    })
  }

  #makeCommands(): RelayCommands {
    return new RelayCommands({
      call: this.#host.call,
      timers: this.#timers,
      agent: () => this.#agent,
      say: async (text, signal) => this.#voice?.say(text, signal),
      prompt: (text) => this.#reports.prompt(text, this.#heard),
      end: () => this.#over({ status: 'ended' }),
      onError: (error) => this.#failed(error),
    })
  }

  /** A verb of the call has failed. */
  #failed(error: unknown): void {
    if (error instanceof VerbFailed) this.#host.warn(error.code, error.message)
  }

  /** Language of the caller. */
  get #heard(): string {
    return this.#language.heard ?? this.#language.code
  }

  /** Handles a message of the server. */
  #received(text: string | undefined): void {
    this.#checked(() => {
      if (text === undefined) throw new Error('a text message expected')
      const message = readRelayMessage(text)
      if (this.#voice) this.#obey(message)
      else this.#keep(message, Buffer.byteLength(text))
    })
  }

  /** Keeps a message until the conversation begins. Throws an Error if there are too many. */
  #keep(message: RelayMessage, bytes: number): void {
    this.#earlyBytes += bytes
    if (this.#earlyBytes > maxEarlyBytes) throw new Error('too many messages before the conversation')
    this.#early.push(message)
  }

  /** Does what a message wants, unless the session is over; an Error ends the session. */
  #checked(run: () => void): void {
    if (this.#isOver) return
    try {
      run()
    } catch (error) {
      const reason = (error as Error).message
      this.#send({ type: 'error', description: `Invalid message received: ${reason}` })
      this.#over({ status: 'failed', code: relayCodes.message, reason: `Invalid message: ${reason}.` })
    }
  }

  #obey(message: RelayMessage): void {
    switch (message.type) {
      case 'text':
        this.#voice?.write(message)
        break
      case 'play':
        this.#voice?.play(message)
        break
      case 'sendDigits':
        this.#digits.send(message.digits)
        break
      case 'language':
        this.#speak(message)
        break
      case 'end': {
        const { handoffData } = message
        this.#over({ status: 'ended', ...(handoffData !== undefined && { handoffData }) })
      }
    }
  }

  /** Changes the language of the voice, of the recogniser, or of both. */
  #speak({ spoken, heard }: Extract<RelayMessage, { type: 'language' }>): void {
    const before = this.#language
    this.#language = {
      ...(spoken === undefined ? before : this.#languageOf(spoken)),
      heard: heard ?? before.heard ?? before.code,
    }
    this.#agent?.change({ language: this.#language })
  }

  /** Returns the language of a tag, with the voice that the document has for it. */
  #languageOf(code: string): AgentLanguage {
    const { language, languages } = this.#options
    const isSame = (each: AgentLanguage) => each.code.toLowerCase() === code.toLowerCase()
    return [language, ...languages].find(isSame) ?? { name: code, code }
  }

  #digit(digit: string): void {
    if (!this.#options.hasKeys || !this.#voice) return
    this.#reports.digit(digit)
  }

  #event(event: AgentEvent): void {
    if (event.kind === 'warning') this.#host.warn(event.code, event.message)
    // The caller interrupts last words, too.
    if (event.kind === 'barge' && event.text !== '')
      this.#voice?.interrupted(event.by === 'keys' && this.#options.hasKeys)
    if (this.#isOver) return
    const isPrompt = this.#reports.take(event, this.#heard)
    if (isPrompt) this.#voice?.prompted()
  }

  #lost({ kind, reason }: SocketEnd): void {
    const code =
      kind === 'unreachable'
        ? relayCodes.connection
        : kind === 'too-large'
          ? relayCodes.message
          : relayCodes.closed
    const what =
      kind === 'unreachable' ? 'The server cannot be reached' : 'The connection to the server ended'
    this.#over({ status: 'failed', code, reason: `${what}: ${reason}.` })
  }

  /** Ends the session; only the first end counts. */
  #over(end: RelayEnd): void {
    const isFault = end.status === 'failed' && end.code !== 'inactive' && end.code !== 'limit'
    if (isFault && !this.#isOver) this.#host.warn(end.code, end.reason)
    this.#isOver = true
    this.#settle(end)
  }

  #send(reply: RelayReply): void {
    if (!this.#isOver) this.#socket?.send(JSON.stringify(reply))
  }
}

/** Returns the end of a session whose conversation has ended by itself. */
const endOf = (end: AgentEnd): RelayEnd => {
  if (end.kind === 'hangup') return { status: 'completed' }
  if (end.kind === 'stopped') return { status: 'ended' }
  if (end.kind === 'failed') return { status: 'failed', code: end.code, reason: end.reason }
  const reason = end.kind === 'inactive' ? 'The caller was silent for too long.' : 'The session was too long.'
  return { status: 'failed', code: end.kind, reason }
}
