import { VoiceActivityDetector } from '../../media/rtp/voice-activity.ts'
import { speechText } from './dialogue.ts'
import type { SoundRate } from './sound-store.ts'

/** Length of a frame of the detection, in ms. */
const frameMs = 20
/** Voiced time that begins a turn, in ms. */
const startMs = 60

/** Turn that has ended. */
export interface HeardTurn {
  readonly text: string
  /** Length from the first to the last voiced frame, in ms. */
  readonly speechMs: number
  /** Position of its begin and of its end, with the silence after it, in ms of audio. */
  readonly startMs: number
  readonly endMs: number
}

/** Receives the events of a {@link Hearing}. */
export interface HearingListener {
  /** Speech began; the position is in ms of audio. */
  onStarted(atMs: number): void
  /** Speech goes on: the text so far, every 200 ms. */
  onPartial?(text: string): void
  /** The silence of `eagerMs` has passed: the turn has probably ended. */
  onEager?(text: string): void
  /** Speech goes on after {@link onEager}. */
  onResumed?(): void
  onStopped(turn: HeardTurn): void
}

/** Options of a {@link Hearing}. */
export interface HearingOptions {
  readonly rate: SoundRate
  /** Silence that ends a turn, in ms. */
  readonly silenceMs: number
  /** Silence after which the turn has probably ended, in ms; default never reported. */
  readonly eagerMs?: number
  /** Source of the texts of turns. */
  readonly texts: HeardTexts
}

/** Texts that a recogniser reports: those of the script, then the duration of the speech. */
export class HeardTexts {
  readonly #own: string[]
  readonly #shared: string[]

  /** `own` is for one connection; `shared` comes first, and serves every connection. */
  constructor(own: readonly string[], shared: string[]) {
    this.#own = [...own]
    this.#shared = shared
  }

  /** Returns the next scripted text, and keeps it. */
  peek(): string | undefined {
    return this.#shared[0] ?? this.#own[0]
  }

  /** Returns the text of a turn that has ended. */
  next(speechMs: number): string {
    return this.#shared.shift() ?? this.#own.shift() ?? speechText(speechMs)
  }
}

/**
 * Detection of the caller's turns by energy. Its only clock is the audio, so the result does not depend on
 * the time at which the audio arrives.
 */
export class Hearing {
  readonly rate: SoundRate
  silenceMs: number
  readonly #listener: HearingListener
  readonly #texts: HeardTexts
  readonly #detector = new VoiceActivityDetector()
  readonly #frame: Int16Array
  #filled = 0
  #nowMs = 0
  #voicedMs = 0
  #startMs = 0
  #lastVoicedMs = 0
  #isSpeaking = false
  #isEager = false
  readonly #eagerMs: number

  constructor(options: HearingOptions, listener: HearingListener) {
    const { rate, silenceMs, eagerMs = Number.POSITIVE_INFINITY, texts } = options
    this.rate = rate
    this.silenceMs = silenceMs
    this.#eagerMs = eagerMs
    this.#listener = listener
    this.#texts = texts
    this.#frame = new Int16Array((rate * frameMs) / 1000)
  }

  /** Whether the caller speaks, or the silence after the speech is still too short. */
  get isSpeaking(): boolean {
    return this.#isSpeaking
  }

  /** Duration of all audio so far, in ms. */
  get nowMs(): number {
    return this.#nowMs
  }

  /** Processes audio of any length. */
  feed(samples: Int16Array): void {
    for (let at = 0; at < samples.length; ) {
      const part = samples.subarray(at, at + this.#frame.length - this.#filled)
      this.#frame.set(part, this.#filled)
      this.#filled += part.length
      at += part.length
      if (this.#filled === this.#frame.length) this.#update()
    }
  }

  /** Ends a turn at once, as a client may ask for. Returns whether the caller had spoken. */
  end(): boolean {
    const wasSpeaking = this.#isSpeaking
    if (wasSpeaking) this.#stop()
    this.#voicedMs = 0
    return wasSpeaking
  }

  #update(): void {
    this.#filled = 0
    const isVoiced = this.#detector.update(this.#frame)
    this.#nowMs += frameMs
    if (isVoiced) this.#lastVoicedMs = this.#nowMs
    if (!this.#isSpeaking) {
      this.#awaitSpeech(isVoiced)
      return
    }
    if (this.#nowMs - this.#lastVoicedMs >= this.silenceMs) {
      this.#stop()
      return
    }
    this.#checkEager(isVoiced)
    const spokenMs = this.#nowMs - this.#startMs
    if (isVoiced && spokenMs % 200 === 0) this.#listener.onPartial?.(this.#partial(spokenMs))
  }

  #checkEager(isVoiced: boolean): void {
    if (this.#isEager && isVoiced) {
      this.#isEager = false
      this.#listener.onResumed?.()
    } else if (!this.#isEager && this.#nowMs - this.#lastVoicedMs >= this.#eagerMs) {
      this.#isEager = true
      this.#listener.onEager?.(this.#texts.peek() ?? speechText(this.#lastVoicedMs - this.#startMs))
    }
  }

  #awaitSpeech(isVoiced: boolean): void {
    this.#voicedMs = isVoiced ? this.#voicedMs + frameMs : 0
    if (this.#voicedMs < startMs) return
    this.#isSpeaking = true
    this.#startMs = this.#nowMs - this.#voicedMs
    this.#listener.onStarted(this.#startMs)
  }

  #stop(): void {
    this.#isSpeaking = false
    this.#isEager = false
    this.#voicedMs = 0
    const speechMs = this.#lastVoicedMs - this.#startMs
    const text = this.#texts.next(speechMs)
    this.#listener.onStopped({ text, speechMs, startMs: this.#startMs, endMs: this.#nowMs })
  }

  /** Returns the words so far: one for each 200 ms of a scripted text. */
  #partial(spokenMs: number): string {
    const words = this.#texts.peek()?.split(' ') ?? ['speech']
    return words.slice(0, Math.max(1, Math.floor(spokenMs / 200))).join(' ')
  }
}
