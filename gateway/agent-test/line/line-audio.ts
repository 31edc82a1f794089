import { ComfortNoise } from '../../../media/rtp/comfort-noise.ts'
import { levelDb } from '../../../media/rtp/voice-activity.ts'
import type { LineChange } from '../scenario/scenario.ts'
import type { Span } from '../scores/activity.ts'
import { BackgroundNoise, clipped } from '../sound/background-noise.ts'
import { randomOf } from '../sound/signals.ts'

/** Samples and ms of a packet. */
export const frameSamples = 160
/** Length of a packet, in ms. */
export const packetMs = 20
/** Level of a line without speech, in dBov. */
const lineDb = -68

/** Sound that the caller makes. */
interface Speaking {
  readonly samples: Int16Array
  at: number
  readonly fromMs: number
  readonly done: (span: Span) => void
}

/** Received packet, as far as an echo needs it. */
interface EchoSource {
  readonly atMs: number
  readonly samples: Int16Array
}

/** Sound of a caller's telephone, frame by frame: speech, noise behind it and the echo of the agent. */
export class CallerAudio {
  readonly #line = new ComfortNoise(7)
  readonly #frames: Int16Array[] = []
  readonly #random: () => number
  readonly #seed: number
  #speaking: Speaking | undefined
  #noise: BackgroundNoise | undefined
  #echo: { readonly gain: number; readonly delayMs: number; readonly sinceMs: number } | undefined
  #lossShare = 0
  readonly #echoes: Span[] = []

  /** `seed`: the same seed gives the same noise and the same losses. */
  constructor(seed = 1) {
    this.#seed = seed
    this.#random = randomOf(seed)
  }

  /** Duration of the sound so far, in ms: the time at which the next frame begins. */
  get ms(): number {
    return this.#frames.length * packetMs
  }

  /** Makes a sound at 8 kHz from the next frame on. Resolves with its place when it has ended. */
  say(samples: Int16Array): Promise<Span> {
    const { promise, resolve } = Promise.withResolvers<Span>()
    this.#speaking = { samples, at: 0, fromMs: this.ms, done: resolve }
    return promise
  }

  /** Changes the line from the next frame on. */
  change(change: LineChange): void {
    if (change.kind === 'loss') this.#lossShare = change.share
    else if (change.kind === 'noise')
      this.#noise = change.noise && new BackgroundNoise(change.noise.type, change.noise.db, this.#seed)
    else {
      this.#endEcho()
      const { echo } = change
      this.#echo = echo && { gain: 10 ** (echo.db / 20), delayMs: echo.delayMs, sinceMs: this.ms }
    }
  }

  /** Returns the next frame of 20 ms, and whether it is lost on the way. `heard`: packets of the agent. */
  next(heard: readonly EchoSource[]): { readonly samples: Int16Array; readonly isLost: boolean } {
    const frame = new Int16Array(frameSamples)
    this.#line.fill(lineDb, frame)
    this.#noise?.addTo(frame)
    this.#addEcho(frame, heard)
    this.#addSpeech(frame)
    this.#frames.push(frame)
    return { samples: frame, isLost: this.#random() * 0.5 + 0.5 < this.#lossShare }
  }

  /** Returns everything so far as one recording, and the times with an echo. */
  recording(): { readonly caller: Int16Array; readonly echoes: readonly Span[] } {
    const caller = new Int16Array(this.#frames.length * frameSamples)
    for (const [index, frame] of this.#frames.entries()) caller.set(frame, index * frameSamples)
    this.#endEcho()
    return { caller, echoes: this.#echoes }
  }

  #endEcho(): void {
    if (this.#echo) this.#echoes.push({ fromMs: this.#echo.sinceMs, toMs: this.ms })
    this.#echo = undefined
  }

  #addEcho(frame: Int16Array, heard: readonly EchoSource[]): void {
    if (!this.#echo) return
    const { delayMs, gain } = this.#echo
    const then = this.ms - delayMs
    const source = heard.findLast(({ atMs }) => atMs <= then)
    if (!source || then - source.atMs > 2 * packetMs) return
    for (let at = 0; at < frameSamples; at++)
      frame[at] = clipped(frame[at]! + (source.samples[at] ?? 0) * gain)
  }

  #addSpeech(frame: Int16Array): void {
    const speaking = this.#speaking
    if (!speaking) return
    const part = speaking.samples.subarray(speaking.at, speaking.at + frameSamples)
    for (const [at, sample] of part.entries()) frame[at] = clipped(frame[at]! + sample)
    speaking.at += frameSamples
    if (speaking.at < speaking.samples.length) return
    this.#speaking = undefined
    speaking.done({ fromMs: speaking.fromMs, toMs: this.ms + packetMs })
  }
}

/** Voice of the agent as the caller hears it during the call, by which the caller decides when to speak. */
export class AgentVoice {
  readonly #silenceDb: number
  #lastMs = Number.NEGATIVE_INFINITY
  #onsetMs = Number.NEGATIVE_INFINITY

  /** Packets up to `silenceDb` (dBov) are silent. */
  constructor(silenceDb: number) {
    this.#silenceDb = silenceDb
  }

  /** Time of the last packet with voice, in ms from the answer; negative infinity before the first. */
  get lastMs(): number {
    return this.#lastMs
  }

  /** Processes a packet that arrived at a time. */
  hear(atMs: number, samples: Int16Array): void {
    if (levelDb(samples) <= this.#silenceDb) return
    if (atMs - this.#lastMs > pauseMs) this.#onsetMs = atMs
    this.#lastMs = atMs
  }

  /** Returns for how long the agent has been speaking, in ms; 0 if it is silent. */
  spokenMs(nowMs: number): number {
    return nowMs - this.#lastMs > 3 * packetMs ? 0 : nowMs - this.#onsetMs
  }
}

/** Silence of the agent after which it has finished, in ms: longer than a pause between sentences. */
export const pauseMs = 1000
