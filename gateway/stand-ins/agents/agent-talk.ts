import { type AudioFormat, toSamples } from '../audio-format.ts'
import type { ChosenAnswer, OfferedFunction, Trigger } from '../dialogue.ts'
import { Hearing } from '../hearing.ts'
import { sendPaced } from '../pace.ts'
import {
  type InjectedQuirk,
  type Performer,
  perform,
  type ScriptedCall,
  type Speech,
  wait,
} from '../perform.ts'
import { quotedText } from '../quoted-text.ts'
import type { EngineName, ErrorKind, QuirkName } from '../script-types.ts'
import type { SocketCall } from '../stand.ts'

/** Protocol of an agent engine: its messages for the events of a conversation. */
export interface AgentProtocol {
  /** The caller has begun to speak. */
  onStarted?(): void
  /** The caller's turn has ended, with this text. */
  onHeard(text: string): void
  /** An answer begins. */
  onAnswer?(): void
  /** Everything of an answer was sent. */
  onSent?(): void
  /** An answer has ended: its audio would have been played, or it was interrupted. */
  onAnswerEnd?(isInterrupted: boolean): void
  /** A text begins, whose audio follows. */
  onSpeech(text: string): void
  /** Audio of the text. */
  onAudio(samples: Int16Array): void
  call(call: ScriptedCall): void
  error(kind: ErrorKind): void
}

/** Options of an {@link AgentTalk}. */
export interface AgentTalkOptions {
  readonly engine: EngineName
  readonly input: AudioFormat
  readonly output: AudioFormat
  readonly silenceMs: number
  /** Whether the server detects turns. Default: true. */
  readonly detects?: boolean
}

/** Conversation of one connection to an agent engine, whose server decides about turns. */
export class AgentTalk {
  functions: readonly OfferedFunction[] = []
  readonly #call: SocketCall
  readonly #options: AgentTalkOptions
  readonly #protocol: AgentProtocol
  readonly #hearing: Hearing
  readonly #quirks = new Set<QuirkName>()
  readonly #calls = new Map<string, string>()
  #answering = new AbortController()
  #isAnswering = false
  #isInterruption = false
  #run = Promise.resolve()
  #turn = 0

  constructor(call: SocketCall, options: AgentTalkOptions, protocol: AgentProtocol) {
    this.#call = call
    this.#options = options
    this.#protocol = protocol
    const silenceMs = options.detects === false ? Number.POSITIVE_INFINITY : options.silenceMs
    this.#hearing = new Hearing(
      { rate: options.input.rate, silenceMs, texts: call.stand.texts() },
      {
        onStarted: () => {
          if (options.detects !== false) this.startTurn()
        },
        onStopped: ({ text, speechMs }) => this.#heard(text, speechMs),
      },
    )
  }

  /** Speaks first, by the script; `greeting` replaces what the script says. */
  begin(greeting?: string): void {
    if (greeting === undefined) this.#answer({ on: 'begin' })
    else this.speak(greeting)
  }

  /** Hears audio of the caller. */
  hear(bytes: Buffer): void {
    this.#hearing.feed(toSamples(bytes, this.#options.input))
  }

  /** The caller's turn has begun: interrupts the answer. */
  startTurn(): void {
    this.#isInterruption = this.interrupt()
    this.#protocol.onStarted?.()
  }

  /** Ends the caller's turn at once. */
  endTurn(): void {
    this.#hearing.end()
  }

  /** Takes a text in place of speech. Marked words are spoken as they are. */
  read(text: string): void {
    this.#isInterruption = this.interrupt()
    const quoted = quotedText(text)
    if (quoted === undefined) this.#answer({ on: 'turn', turn: ++this.#turn, text })
    else this.speak(quoted)
  }

  /** Speaks a text of the client, after the answer of the moment. */
  speak(text: string): void {
    const say = { kind: 'say', text: '{{text}}', sound: { kind: 'speech' } } as const
    this.#queue(() => ({ actions: [say], variables: { text }, functions: this.functions }))
  }

  /**
   * Takes the result of a function. Returns false if the id is unknown. The last result lets the engine
   * answer.
   */
  result(id: string, result: string): boolean {
    const name = this.#calls.get(id)
    if (name === undefined) return false
    this.#calls.delete(id)
    if (this.#calls.size === 0) this.#answer({ on: 'result', turn: this.#turn, name, result })
    return true
  }

  /** Whether the engine or the caller speaks. */
  get isBusy(): boolean {
    return this.#isAnswering || this.#hearing.isSpeaking
  }

  /** Ids of the calls without a result. */
  get openCalls(): readonly string[] {
    return [...this.#calls.keys()]
  }

  /** Forgets calls, whose results the engine no longer waits for. */
  forgetCalls(): void {
    this.#calls.clear()
  }

  /** Ends the answer of the moment. Returns whether there was one. */
  interrupt(): boolean {
    if (!this.#isAnswering) return false
    this.#answering.abort()
    this.#isAnswering = false
    this.#protocol.onAnswerEnd?.(true)
    return true
  }

  close(): void {
    this.#answering.abort()
  }

  #heard(text: string, speechMs: number): void {
    this.#protocol.onHeard(text)
    const isInterruption = this.#isInterruption
    this.#answer({ on: 'turn', turn: ++this.#turn, text, speechMs, isInterruption })
  }

  #answer(trigger: Trigger): void {
    this.#queue(() => this.#call.stand.dialogue.choose(this.#options.engine, trigger, this.functions))
  }

  /** Begins an answer after the one before it. */
  #queue(choose: () => ChosenAnswer | undefined): void {
    this.#run = this.#run.then(async () => {
      const chosen = choose()
      if (chosen) await this.#carryOut(chosen)
    })
  }

  async #carryOut(chosen: ChosenAnswer): Promise<void> {
    const { stand } = this.#call
    const answering = new AbortController()
    this.#answering = answering
    this.#isAnswering = true
    this.#protocol.onAnswer?.()
    const began = stand.clock.now()
    const performer = new TalkPerformer(this.#call, this.#options, this.#protocol, this.#quirks)
    performer.onCall = ({ id, name }) => this.#calls.set(id, name)
    try {
      await perform(chosen, performer, stand, answering.signal)
    } catch {
      this.#protocol.error('server')
    }
    if (answering.signal.aborted || performer.isCut) return
    this.#protocol.onSent?.()
    await wait(stand.clock, began + performer.audioMs - stand.clock.now(), answering.signal)
    if (answering.signal.aborted) return
    this.#isAnswering = false
    this.#protocol.onAnswerEnd?.(false)
  }
}

/** Carries out an answer by the messages of a protocol. */
class TalkPerformer implements Performer {
  readonly quirks: Set<QuirkName>
  readonly #call: SocketCall
  readonly #options: AgentTalkOptions
  readonly #protocol: AgentProtocol
  audioMs = 0
  isCut = false
  /** Called before a call is sent, because its result may follow at once. */
  onCall: (call: ScriptedCall) => void = () => {}

  constructor(call: SocketCall, options: AgentTalkOptions, protocol: AgentProtocol, quirks: Set<QuirkName>) {
    this.#call = call
    this.#options = options
    this.#protocol = protocol
    this.quirks = quirks
  }

  async say(speech: Speech, signal: AbortSignal): Promise<void> {
    const { rate } = this.#options.output
    const samples = await speech.samples(rate)
    if (signal.aborted) return
    this.#protocol.onSpeech(speech.text)
    const { clock } = this.#call.stand
    const sent = await sendPaced({ samples, rate, speech, clock, signal }, (part) => {
      this.audioMs += (part.length / rate) * 1000
      this.#protocol.onAudio(part)
    })
    this.isCut = sent < samples.length && !signal.aborted
  }

  call(call: ScriptedCall): void {
    // These engines send a call in one message: a cut call never arrives.
    if (call.isCut) return
    this.onCall(call)
    this.#protocol.call(call)
  }

  inject(quirk: InjectedQuirk): void {
    const { socket } = this.#call
    if (quirk === 'malformed') socket.sendText('{"type":"audio","audio_event":', quirk)
    if (quirk === 'unknown') socket.send({ type: 'stand_in.unknown' })
    if (quirk === 'huge') socket.send({ type: 'stand_in.huge', text: 'a'.repeat(10 * 1024 * 1024) })
  }

  error(kind: ErrorKind): void {
    this.#protocol.error(kind)
  }

  close(how: number | 'abrupt'): void {
    this.#call.socket.close(how)
  }

  stall(): void {
    this.#call.socket.stall()
  }
}
