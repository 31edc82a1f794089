import { levelDb, minLevelDb } from '../rtp/voice-activity.ts'
import type { PcmRate, ReflexRequest, TapEvent } from '../types.ts'
import { EchoGuard } from './echo-guard.ts'
import { VoiceMeter } from './voice-meter.ts'

const frameMs = 20
/** Defaults of a {@link ReflexRequest}. */
const defaults = { voicedMs: 60, fadeMs: 30, silentMs: 200 }
/**
 * Factor of the duration of voice that lowers speech which began during that voice. The owner knew the voice,
 * so only a caller who goes on is a reason.
 */
const overlapFactor = 3

/** Speech that a {@link VoiceReflex} lowers. */
export interface FadingSpeech {
  /** Number of waiting samples. */
  readonly queued: number
  /** Whether speech is waiting and not paused. */
  readonly isSpeaking: boolean
  pause(fadeMs: number): void
}

/** Collaborators of a {@link VoiceReflex}. */
export interface VoiceReflexOptions {
  /** Rate of the far end's frames, in Hz. */
  readonly rate: PcmRate
  readonly speech: FadingSpeech
  readonly onEvent: (event: TapEvent) => void
}

/**
 * Reports voice of the far end, and lowers the speech for it as soon as the voice has lasted long enough.
 *
 * A voice begins after `voicedMs` of voiced frames, from which unvoiced frames between them are subtracted,
 * so that clicks do not add up. It ends after `silentMs` without any. Speech is lowered once for each voice,
 * so that a resume during the voice remains.
 *
 * Speech that begins during a voice, or may be faded only then, is lowered if three times `voicedMs` of that
 * voice follow. The voice is then reported once more, with the same begin.
 *
 * Speech that goes on was lowered in vain, perhaps for an echo that had just begun. What is known about the
 * echo is then forgotten, so that the next sound of the same level does not lower the speech again.
 */
export class VoiceReflex {
  /** Whether speech may be lowered. Voice is reported in either case. */
  mayFade = true
  #options: VoiceReflexOptions
  #voicedFrames: number
  #silentFrames: number
  #fadeMs: number
  #meter: VoiceMeter
  #guard: EchoGuard | undefined
  /** Voiced frames of the voice that may be beginning, and its first frame. */
  #run = 0
  #startMs = 0
  #isVoice = false
  #hasFaded = false
  /** Whether the speech is lowered, and neither goes on nor was given up. */
  #isInDoubt = false
  /** Voiced frames over speech that began during the voice. */
  #overlap = 0
  #lastMs = 0

  constructor(request: ReflexRequest, options: VoiceReflexOptions) {
    const { voicedMs, fadeMs, silentMs } = { ...defaults, ...request }
    this.#options = options
    this.#voicedFrames = Math.max(1, Math.ceil(voicedMs / frameMs))
    this.#silentFrames = Math.max(1, Math.ceil(silentMs / frameMs))
    this.#fadeMs = fadeMs
    this.#meter = new VoiceMeter(options.rate)
    if (request.echoGuard !== false) this.#guard = new EchoGuard()
  }

  /** Processes 20 ms of the far end at `atMs`, before those for it are composed; undefined is silence. */
  hear(frame: Int16Array | undefined, atMs: number): void {
    this.#followDoubt()
    const isLoud = this.#meter.update(frame)
    const isEcho = this.#guard?.isEcho(this.#meter.levelDb) ?? false
    if (this.#options.speech.queued === 0) this.#hasFaded = false
    if (!this.#isFadable) this.#overlap = 0
    if (isLoud && !isEcho) this.#voiced(atMs)
    else this.#unvoiced(atMs)
  }

  /**
   * Processes 20 ms that were sent to the far end; undefined is silence. `isSpeech`: false for a background
   * alone, from which no echo is learnt.
   */
  sent(frame: Int16Array | undefined, isSpeech = true): void {
    this.#guard?.sent(frame ? levelDb(frame) : minLevelDb, isSpeech)
  }

  get #isFadable(): boolean {
    return this.mayFade && this.#options.speech.isSpeaking
  }

  #followDoubt(): void {
    const { queued, isSpeaking } = this.#options.speech
    if (!this.#isInDoubt || (queued > 0 && !isSpeaking)) return
    this.#isInDoubt = false
    if (isSpeaking) this.#guard?.forget()
  }

  #voiced(atMs: number): void {
    this.#lastMs = atMs + frameMs
    if (!this.#isVoice) {
      if (this.#run === 0) this.#startMs = atMs
      this.#run++
      if (this.#run >= this.#voicedFrames) this.#begin()
      return
    }
    if (this.#hasFaded || !this.#isFadable) return
    this.#overlap++
    if (this.#overlap >= overlapFactor * this.#voicedFrames) this.#begin()
  }

  #unvoiced(atMs: number): void {
    if (!this.#isVoice) {
      if (this.#run > 0) this.#run--
      return
    }
    if (atMs + frameMs - this.#lastMs < this.#silentFrames * frameMs) return
    this.#isVoice = false
    this.#run = 0
    this.#options.onEvent({ kind: 'voice-ended', atMs: this.#lastMs })
  }

  /** Lowers the speech if possible, and reports the voice. */
  #begin(): void {
    const isFaded = this.#isFadable
    if (isFaded) this.#options.speech.pause(this.#fadeMs)
    this.#isVoice = true
    this.#hasFaded = isFaded
    this.#isInDoubt ||= isFaded
    this.#overlap = 0
    this.#options.onEvent({ kind: 'voice-began', atMs: this.#startMs, isFaded })
  }
}
