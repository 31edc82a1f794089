import type { AudioFormat } from '../audio-format.ts'
import { toSamples } from '../audio-format.ts'
import { type HeardTurn, Hearing } from '../hearing.ts'
import { type InjectedQuirk, type Performer, perform } from '../perform.ts'
import type { EngineName, ErrorKind, QuirkName } from '../script-types.ts'
import { soundRateOf } from '../sound-store.ts'
import { partAnswer, type SocketCall } from '../stand.ts'

/** Turn of a recogniser with its number from 0. */
export interface RecognisedTurn extends HeardTurn {
  readonly index: number
}

/** Protocol of a recogniser: its messages for the events of a turn. */
export interface RecogniserProtocol {
  onStarted?(atMs: number, index: number): void
  onPartial?(text: string, index: number): void
  onEager?(text: string, index: number): void
  onResumed?(index: number): void
  /** The turn has ended; `text` is what the script lets the recogniser understand. */
  onFinal(text: string, turn: RecognisedTurn): void
  error(kind: ErrorKind): void
}

/** Options of a {@link Recognition}. */
export interface RecognitionOptions {
  readonly engine: EngineName
  readonly format: AudioFormat
  readonly silenceMs: number
  readonly eagerMs?: number
}

/** Recognition of one connection: detects turns, and applies the script to each. */
export class Recognition {
  readonly hearing: Hearing
  readonly #format: AudioFormat
  readonly #closing = new AbortController()
  #turns = 0
  #done = Promise.resolve()

  constructor(call: SocketCall, options: RecognitionOptions, protocol: RecogniserProtocol) {
    const { format, silenceMs, eagerMs, engine } = options
    this.#format = format
    const timing = { rate: format.rate, silenceMs, ...(eagerMs !== undefined && { eagerMs }) }
    this.hearing = new Hearing(
      { ...timing, texts: call.stand.texts() },
      {
        onStarted: (atMs) => protocol.onStarted?.(atMs, this.#turns),
        onPartial: (text) => protocol.onPartial?.(text, this.#turns),
        onEager: (text) => protocol.onEager?.(text, this.#turns),
        onResumed: () => protocol.onResumed?.(this.#turns),
        onStopped: (heard) => {
          const turn = { ...heard, index: this.#turns++ }
          const { text, speechMs } = heard
          const answer = partAnswer(call.stand, engine, { turn: this.#turns, text, speechMs })
          const performer = performerOf(call, protocol, turn)
          this.#done = this.#done.then(() => perform(answer, performer, call.stand, this.#closing.signal))
        },
      },
    )
  }

  feed(bytes: Buffer): void {
    this.hearing.feed(toSamples(bytes, this.#format))
  }

  /** Ends the turn of the moment. Resolves after its text, and whether the caller had spoken. */
  async end(): Promise<boolean> {
    const wasSpeaking = this.hearing.end()
    await this.#done
    return wasSpeaking
  }

  close(): void {
    this.#closing.abort()
  }
}

const performerOf = (
  { socket }: SocketCall,
  protocol: RecogniserProtocol,
  turn: RecognisedTurn,
): Performer => ({
  quirks: new Set<QuirkName>(),
  say: async ({ text }) => protocol.onFinal(text, turn),
  call: () => {},
  inject: (quirk: InjectedQuirk) => {
    if (quirk === 'malformed') socket.sendText('{"type":"Results","channel":', quirk)
    if (quirk === 'unknown') socket.send({ type: 'stand_in.unknown' })
    if (quirk === 'huge') socket.send({ type: 'stand_in.huge', text: 'a'.repeat(10 * 1024 * 1024) })
  },
  error: (kind) => protocol.error(kind),
  close: (how) => socket.close(how),
  stall: () => socket.stall(),
})

/** Returns the words of a text with times that divide the speech evenly, in seconds. */
export const timedWords = (
  text: string,
  startMs: number,
  speechMs: number,
): readonly { readonly word: string; readonly start: number; readonly end: number }[] => {
  const words = text.split(/\s+/).filter((word) => word !== '')
  const each = speechMs / Math.max(1, words.length) / 1000
  return words.map((word, at) => ({
    word,
    start: startMs / 1000 + at * each,
    end: startMs / 1000 + (at + 1) * each,
  }))
}

const codings: Readonly<Record<string, AudioFormat['coding']>> = {
  linear16: 'pcm',
  mulaw: 'PCMU',
  alaw: 'PCMA',
}

/** Reads Deepgram's names of a format; undefined if the stand-in does not have it. Default 16-bit samples. */
export const deepgramFormat = (
  encoding: unknown,
  rate: unknown,
  presetRate = 16_000,
): AudioFormat | undefined => {
  const coding = codings[String(encoding ?? 'linear16')]
  const known = soundRateOf(Number(rate ?? presetRate))
  return coding && known && { coding, rate: known }
}
