import type { Sound } from '../../../handlers/verbs.ts'
import { encodedRate } from '../../../media/rtp/encoding.ts'
import type {
  MediaPort,
  PcmRate,
  Playback,
  PlayRequest,
  PrepareOptions,
  Prompt,
  Sounds,
} from '../../../media/types.ts'

/** Fetcher of a document's audio. */
export interface AudioFetcher {
  /** Fetches a URL; `signal` cancels it. */
  bytes(url: string, signal?: AbortSignal): Promise<{ readonly bytes: Uint8Array }>
}

/** Built-in music for waiting callers. It has no end: play it in a loop. */
export const holdMusic = { kind: 'hold-music' } as const

/** Sound of a document or of the gateway. */
export type Playable = Sound | typeof holdMusic

/** Playback of a list of sounds. */
export interface Playing {
  /** Resolves at the end or when stopped. Rejects if a sound could not be prepared. */
  readonly done: Promise<'finished' | 'stopped'>
  /** Stops the playback, and cancels sounds that are being fetched or synthesized. */
  stop(): void
  /** Pauses until {@link resume}. Idempotent. */
  pause(): void
  resume(): void
  /** Sets the volume from −40 to 40 dB; other values are clamped. */
  setVolume(db: number): void
}

/** Sound that is prepared in advance. */
export interface Preparation {
  readonly prompt: Promise<Prompt>
  giveUp(): void
}

/** Called with a fault in a sound that is played nevertheless. */
type Warn = NonNullable<PrepareOptions['warn']>

/** Options of a list of sounds. */
export interface StartOptions {
  /** Number of passes; default 1, 0 until stopped. */
  readonly loop?: number
  /** Volume in dB, −40 to 40; other values are clamped; default 0. */
  readonly volumeDb?: number
  /** Project of the sounds. */
  readonly customer?: string
  /** First sound, if {@link Player.prepareFirst} was called. */
  readonly first?: Preparation
  /** Default none. */
  readonly warn?: Warn
}

/** Options of a preparation. */
export interface PrepareFor {
  /** Project of the sound. */
  readonly customer?: string
  /** Port that will play the sound, if known. */
  readonly port?: MediaPort | undefined
  /** Cancels the preparation. */
  readonly signal?: AbortSignal
  /** Default none. */
  readonly warn?: Warn
}

/** Plays lists of sounds on media ports. */
export class Player {
  #sounds: Sounds
  #fetcher: AudioFetcher
  /** List of each port. */
  #lists = new WeakMap<MediaPort, PlayingList>()

  constructor(sounds: Sounds, fetcher: AudioFetcher) {
    this.#sounds = sounds
    this.#fetcher = fetcher
  }

  /**
   * Prepares the first sound in advance, so that no silence is heard meanwhile. Pass the result to
   * {@link start}, even if the preparation fails. Returns undefined for an empty list.
   */
  prepareFirst(
    sounds: readonly Playable[],
    { port, signal, ...how }: PrepareFor = {},
  ): Preparation | undefined {
    const [first] = sounds
    if (!first) return undefined
    const giveUp = new AbortController()
    const either = signal ? AbortSignal.any([giveUp.signal, signal]) : giveUp.signal
    const prompt = this.#prepare(first, rateOf(port), { ...how, signal: either })
    return { prompt, giveUp: () => giveUp.abort() }
  }

  /** Prepares a sound that something else plays. Rejects if that fails. */
  prepare(sound: Playable, { port, ...how }: PrepareFor = {}): Promise<Prompt> {
    return this.#prepare(sound, rateOf(port), how)
  }

  /** Returns the list that the port plays, unless it was stopped. */
  playing(port: MediaPort): Playing | undefined {
    const list = this.#lists.get(port)
    return list?.isStopped ? undefined : list
  }

  /**
   * Plays a list of sounds, at the rate of the port's codec. A new list on the same port replaces what was
   * playing.
   */
  start(port: MediaPort, sounds: readonly Playable[], options: StartOptions = {}): Playing {
    // The previous list is stopped first: if it were still fetching a sound, that sound would later replace
    // this list.
    this.#lists.get(port)?.stop()
    const list = new PlayingList(port, sounds, options, (sound, how) =>
      this.#prepare(sound, rateOf(port), how),
    )
    this.#lists.set(port, list)
    // A port may exist for much longer than a list, so the list is released at its end.
    const forget = () => this.#lists.get(port) === list && this.#lists.delete(port)
    list.done.then(forget, forget)
    return list
  }

  async #prepare(sound: Playable, rate: PcmRate, how: PrepareOptions): Promise<Prompt> {
    if (sound.kind === 'ringtone') {
      const { kind, country } = sound
      return this.#sounds.prepare({ kind, ...(country && { country }) }, rate, how)
    }
    if (sound.kind !== 'audio') return this.#sounds.prepare(sound, rate, how)
    const { bytes } = await this.#fetcher.bytes(sound.url, how.signal)
    return this.#sounds.prepare({ kind: 'audio', bytes }, rate, how)
  }
}

/** Only ports with a wideband codec get wideband sounds. */
const rateOf = (port: MediaPort | undefined): PcmRate => (port?.codec ? encodedRate(port.codec) : 8000)

type Prepare = (sound: Playable, how: PrepareOptions) => Promise<Prompt>

class PlayingList implements Playing {
  readonly done: Promise<'finished' | 'stopped'>
  readonly #port: MediaPort
  readonly #sounds: readonly Playable[]
  readonly #loop: number
  readonly #first: Preparation | undefined
  readonly #list: PromptList
  readonly #giveUp = new AbortController()
  #volumeDb: number
  #current: Playback | undefined
  #isPaused = false

  constructor(port: MediaPort, sounds: readonly Playable[], options: StartOptions, prepare: Prepare) {
    const { loop = 1, volumeDb = 0, first, customer, warn } = options
    const how = { customer, warn, signal: this.#giveUp.signal }
    this.#port = port
    this.#sounds = sounds
    this.#loop = loop
    this.#first = first
    this.#volumeDb = bounded(volumeDb)
    this.#list = new PromptList(sounds, (sound) => prepare(sound, how), first?.prompt)
    this.done = this.#run()
  }

  stop(): void {
    this.#giveUp.abort()
    this.#first?.giveUp()
    this.#current?.stop()
  }

  pause(): void {
    this.#isPaused = true
    this.#current?.pause()
  }

  resume(): void {
    this.#isPaused = false
    this.#current?.resume()
  }

  setVolume(db: number): void {
    this.#volumeDb = bounded(db)
    this.#current?.setVolume(this.#volumeDb)
  }

  async #run(): Promise<'finished' | 'stopped'> {
    // The port repeats a single sound without a gap.
    const isSingle = this.#sounds.length === 1 && this.#sounds[0]?.kind !== 'ringtone'
    const passes = isSingle ? 1 : this.#loop || Number.POSITIVE_INFINITY
    try {
      // A list of empty sounds would repeat without end and block everything else.
      let isAudible = this.#sounds.length > 0
      for (let pass = 1; isAudible && pass <= passes; pass++) {
        isAudible = false
        for (const [i, sound] of this.#sounds.entries()) {
          const prompt = await this.#list.at(i)
          if (this.isStopped) return 'stopped'
          this.#list.ready(i + 1)
          const parts = partsOf(sound, prompt, isSingle ? this.#loop : 1)
          isAudible ||= parts.some((part) => part.prompt.samples.length > 0)
          // A port that was closed or plays another sound ends the whole list.
          if (!(await this.#playAll(parts))) return 'stopped'
          if (pass === passes) this.#list.drop(i)
        }
      }
      return 'finished'
    } catch (error) {
      // A cancelled sound is no failure.
      if (!this.isStopped) throw error
      return 'stopped'
    } finally {
      this.#current = undefined
      this.#giveUp.abort()
    }
  }

  get isStopped(): boolean {
    return this.#giveUp.signal.aborted
  }

  /** Plays the parts in order. Resolves with false when stopped. */
  async #playAll(parts: readonly Part[]): Promise<boolean> {
    for (const part of parts) {
      if ((await this.#play(part).done) === 'stopped') return false
    }
    return true
  }

  #play(part: Part): Playback {
    const playback = this.#port.play({ ...part, volumeDb: this.#volumeDb })
    if (this.#isPaused) playback.pause()
    this.#current = playback
    return playback
  }
}

type Part = Pick<PlayRequest, 'prompt' | 'loop'>

/**
 * Returns the parts of a sound for the port. A ringing tone of a given length consists of whole periods and
 * the beginning of another one.
 */
const partsOf = (sound: Playable, prompt: Prompt, loop: number): readonly Part[] => {
  if (sound.kind !== 'ringtone') return [{ prompt, loop }]
  if (sound.ms === undefined) return [{ prompt, loop: 0 }]
  const { samples, sampleRate } = prompt
  const samplesNeeded = Math.round((sound.ms * sampleRate) / 1000)
  const times = Math.floor(samplesNeeded / samples.length)
  const rest = samples.subarray(0, samplesNeeded % samples.length)
  return [
    ...(times > 0 ? [{ prompt, loop: times }] : []),
    ...(rest.length > 0 ? [{ prompt: { sampleRate, samples: rest } }] : []),
  ]
}

const bounded = (db: number): number => Math.max(-40, Math.min(40, db))

/** Prompts of a list. Each prompt is prepared once, while the one before it plays. */
class PromptList {
  #sounds: readonly Playable[]
  #prepare: (sound: Playable) => Promise<Prompt>
  #prompts: (Promise<Prompt> | undefined)[]

  constructor(
    sounds: readonly Playable[],
    prepare: (sound: Playable) => Promise<Prompt>,
    first: Promise<Prompt> | undefined,
  ) {
    this.#sounds = sounds
    this.#prepare = prepare
    this.#prompts = [first]
  }

  at(i: number): Promise<Prompt> {
    const prompt = this.#prompts[i] ?? this.#prepare(this.#sounds[i]!)
    this.#prompts[i] = prompt
    return prompt
  }

  /** Starts to prepare a prompt, if the list has it. {@link at} reports its failure. */
  ready(i: number): void {
    if (i < this.#sounds.length) this.at(i).catch(() => {})
  }

  /** Releases a prompt. */
  drop(i: number): void {
    this.#prompts[i] = undefined
  }
}
