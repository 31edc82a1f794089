import { RateAdapter } from '../../../media/rtp/rate-adapter.ts'
import type { PcmRate, TapFrame } from '../../../media/types.ts'
import type { SteadyClock, Timer } from '../../core/clock.ts'
import { detectorRate, type SpeechDetector, type SpeechStream, windowMs } from './speech-detector.ts'

/** Audio before a sound that the detector gets with it, in ms: what it hears depends on what came before. */
const leadMs = 120
/** Most frames that are kept for it. The meter reports a sound some frames after its begin. */
const keptFrames = 16
/** Windows of speech that make a sound voice. */
const voiceWindows = 2
/** Windows in a row without speech that make a sound noise, or end the voice in it: 192 ms. */
const noiseWindows = 6
/** Distance from the threshold below which a window is without speech. Between both it is neither. */
const hysteresis = 0.15
/** Wait for the first result about a sound, in ms. */
const maxWaitMs = 250

/** Opinion of the detector about a sound; `unknown`: it had none, or words came first. */
export type SoundVerdict = 'voice' | 'noise' | 'unknown'

/** Receives the checked voice of the caller. Times are positions of the tap in ms. */
export interface VoiceCheckListener {
  /** Whether a sound that begins now may wait for the detector. Otherwise it counts until it is noise. */
  readonly canWait: boolean
  /** Voice began. `isFaded`: the media thread has lowered the agent's speech for it. */
  onVoice(atMs: number, isFaded: boolean): void
  onVoiceEnd(atMs: number): void
  /**
   * The voice that was reported last is none. `isFaded`: the media thread has lowered the agent's speech for
   * a sound that was noise already, so no voice was reported.
   */
  onNoise(isFaded: boolean): void
  /** A sound is over. Only called if there is a detector. */
  onVerdict(verdict: SoundVerdict): void
}

/** Sound that the meter reported, until it reports its end. Windows are results of the detector. */
interface Sound {
  readonly beganMs: number
  /** Position of the first audio that the detector got. */
  fromMs: number
  /** Duration of the audio that it got, and of the part that has results. */
  sentMs: number
  knownMs: number
  /** Windows of speech since the last noise; windows without speech in a row. */
  speech: number
  quiet: number
  /** Begin and end of the speech since the last noise. */
  speechFromMs: number
  speechToMs: number
  /** Whether a voice was reported that goes on, and whether it is known to be one. */
  isReported: boolean
  isSure: boolean
  /** Whether the meter alone decides: the detector has failed, or words were recognised. */
  isMeters: boolean
  /** Whether any part of it was voice, and any part noise. */
  hadVoice: boolean
  hadNoise: boolean
}

/**
 * Checks the meter's voice of one caller with a detector: the meter finds sounds, and the detector gets only
 * these. A sound of which the detector hears no speech is no voice. Without a detector, and while it gives no
 * results, every sound is voice.
 */
export class VoiceCheck {
  readonly #listener: VoiceCheckListener
  readonly #rate: PcmRate
  readonly #clock: SteadyClock
  readonly #stream: SpeechStream | undefined
  readonly #threshold: number
  readonly #adapter = new RateAdapter()
  /** Latest frames, while the detector gets none. */
  #kept: TapFrame[] = []
  #sound: Sound | undefined
  #timer: Timer | undefined

  /** `rate`: sample rate of the frames in Hz. */
  constructor(
    listener: VoiceCheckListener,
    detector: SpeechDetector | undefined,
    rate: PcmRate,
    clock: SteadyClock,
  ) {
    this.#listener = listener
    this.#rate = rate
    this.#clock = clock
    this.#threshold = detector?.threshold ?? 0
    this.#stream = detector?.open((probability) => this.#window(probability))
  }

  /** Adds the next frame of the caller. */
  frame(frame: TapFrame): void {
    if (!this.#stream) return
    if (this.#sound && !this.#sound.isMeters) {
      this.#send(this.#sound, frame)
      return
    }
    this.#kept.push(frame)
    if (this.#kept.length > keptFrames) this.#kept.shift()
  }

  /** The meter found the begin of a sound at `atMs`, or the media thread lowered the speech for it later. */
  began(atMs: number, isFaded: boolean): void {
    const open = this.#sound
    if (open) {
      if (open.isReported || open.isMeters) this.#listener.onVoice(open.beganMs, isFaded)
      else if (isFaded) this.#listener.onNoise(true)
      return
    }
    const sound = newSound(atMs, !this.#stream)
    this.#sound = sound
    if (isFaded || sound.isMeters || !this.#listener.canWait) this.#report(sound, atMs, isFaded)
    if (this.#stream) this.#begin(sound, this.#stream)
  }

  /** The meter found the end of the sound, whose last loud frame ended at `atMs`. */
  ended(atMs: number): void {
    const sound = this.#sound
    this.#sound = undefined
    this.#timer?.cancel()
    if (!sound) return
    const isKnown = !sound.isMeters && sound.sentMs - sound.knownMs < 2 * windowMs
    // A single window of speech at the end of a sound is a short word.
    if (isKnown && !sound.isSure && sound.speech > 0) this.#voice(sound)
    // The results are late: the meter decides about a short sound of which no noise is known.
    if (!isKnown && !sound.isReported && !sound.hadNoise) this.#report(sound, sound.beganMs, false)
    if (sound.isReported && (sound.isSure || !isKnown)) this.#listener.onVoiceEnd(atMs)
    else if (sound.isReported) this.#listener.onNoise(false)
    if (this.#stream) this.#listener.onVerdict(verdictOf(sound, isKnown))
  }

  /** Words were recognised: the sound is voice, whatever the detector hears. */
  words(): void {
    const sound = this.#sound
    if (sound && !sound.isSure) this.#trustMeter(sound)
  }

  close(): void {
    this.#timer?.cancel()
    this.#sound = undefined
    this.#stream?.close()
  }

  #begin(sound: Sound, stream: SpeechStream): void {
    stream.begin()
    const lead = this.#kept.filter((frame) => frame.atMs >= sound.beganMs - leadMs)
    this.#kept = []
    sound.fromMs = lead[0]?.atMs ?? sound.beganMs
    for (const frame of lead) if (!sound.isMeters) this.#send(sound, frame)
    this.#timer = this.#clock.after(maxWaitMs, () => {
      if (sound === this.#sound && sound.fromMs + sound.knownMs <= sound.beganMs) this.#trustMeter(sound)
    })
  }

  #send(sound: Sound, { samples }: TapFrame): void {
    sound.sentMs += (samples.length * 1000) / this.#rate
    if (!this.#stream?.hear(this.#adapter.convert(samples, this.#rate, detectorRate))) this.#trustMeter(sound)
  }

  #trustMeter(sound: Sound): void {
    sound.isMeters = true
    if (!sound.isReported) this.#report(sound, sound.beganMs, false)
  }

  #report(sound: Sound, atMs: number, isFaded: boolean): void {
    sound.isReported = true
    this.#listener.onVoice(atMs, isFaded)
  }

  #window(probability: number): void {
    const sound = this.#sound
    if (!sound || sound.isMeters) return
    sound.knownMs += windowMs
    const toMs = sound.fromMs + sound.knownMs
    if (toMs <= sound.beganMs) return
    if (probability >= this.#threshold) {
      sound.quiet = 0
      if (sound.speech++ === 0) sound.speechFromMs = Math.max(sound.beganMs, toMs - windowMs)
      sound.speechToMs = toMs
      if (sound.speech >= voiceWindows) this.#voice(sound)
    } else if (probability >= this.#threshold - hysteresis) sound.quiet = 0
    else if (++sound.quiet === noiseWindows) this.#noise(sound)
  }

  #voice(sound: Sound): void {
    // Speech without noise before it begins with the sound: the detector hears it later than the meter.
    const fromMs = sound.hadNoise ? sound.speechFromMs : sound.beganMs
    sound.isSure = true
    sound.hadVoice = true
    if (!sound.isReported) this.#report(sound, fromMs, false)
  }

  /** The sound is without speech now. It remains loud, so the meter has not reported its end. */
  #noise(sound: Sound): void {
    const { isReported, isSure, speechToMs } = sound
    sound.isReported = false
    sound.isSure = false
    sound.hadNoise = true
    sound.speech = 0
    if (isReported && isSure) this.#listener.onVoiceEnd(speechToMs)
    else if (isReported) this.#listener.onNoise(false)
  }
}

const verdictOf = ({ hadVoice, hadNoise, isMeters }: Sound, isKnown: boolean): SoundVerdict => {
  if (hadVoice) return 'voice'
  return isKnown || (hadNoise && !isMeters) ? 'noise' : 'unknown'
}

const newSound = (beganMs: number, isMeters: boolean): Sound => ({
  beganMs,
  fromMs: beganMs,
  sentMs: 0,
  knownMs: 0,
  speech: 0,
  quiet: 0,
  speechFromMs: 0,
  speechToMs: 0,
  isReported: false,
  isSure: false,
  isMeters,
  hadVoice: false,
  hadNoise: false,
})
