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

/** Fetches audio that a document names. */
export interface AudioFetcher {
  /** `signal` gives up. */
  bytes(url: string, signal?: AbortSignal): Promise<{ readonly bytes: Uint8Array }>
}

/** The built-in music for who waits; it has no end: play it in a loop. */
export const holdMusic = { kind: 'hold-music' } as const

/** What can be played: what a document can name, and what the gateway has by itself. */
export type Playable = Sound | typeof holdMusic

/** Something that is being played. */
export interface Playing {
  /** Resolves at the end, or when stopped; rejects when a sound could not be prepared. */
  readonly done: Promise<'finished' | 'stopped'>
  /** Also gives up what is being fetched or spoken for it. */
  stop(): void
  /** Nothing is heard of it until {@link resume}. Harmless when it is paused, or over. */
  pause(): void
  resume(): void
  /** From now on, −40 to 40 dB; what is beyond counts as the nearest. */
  setVolume(db: number): void
}

/** A sound that is made ready ahead of its time. */
export interface Preparation {
  readonly prompt: Promise<Prompt>
  giveUp(): void
}

/** Told what is wrong with a sound that is played all the same. */
type Warn = NonNullable<PrepareOptions['warn']>

/** How a list is played. */
export interface StartOptions {
  /** Default 1; 0 until stopped. */
  readonly loop?: number
  /** −40 to 40, what is beyond counts as the nearest; default 0. */
  readonly volumeDb?: number
  /** Whose sounds they are. */
  readonly customer?: string
  /** The first sound, if {@link Player.prepareFirst} has been asked for it. */
  readonly first?: Preparation
  /** Default: nobody is told. */
  readonly warn?: Warn
}

/** For whom a sound is made ready. */
export interface PrepareFor {
  /** Whose sound it is. */
  readonly customer?: string
  /** Where it will be played, if that is there already. */
  readonly port?: MediaPort | undefined
  /** Gives up. */
  readonly signal?: AbortSignal
  /** Default: nobody is told. */
  readonly warn?: Warn
}

/** Plays lists of sounds on media ports. */
export class Player {
  #sounds: Sounds
  #fetcher: AudioFetcher
  /** The list that each port plays. */
  #lists = new WeakMap<MediaPort, PlayingList>()

  constructor(sounds: Sounds, fetcher: AudioFetcher) {
    this.#sounds = sounds
    this.#fetcher = fetcher
  }

  /**
   * Makes the first sound ready ahead of its time, so that nobody hears silence while it is fetched or spoken. Hand it to {@link start},
   * also when it rejects; undefined for an empty list.
   */
  prepareFirst(
    sounds: readonly Playable[],
    { port, signal, ...how }: PrepareFor = {},
  ): Preparation | undefined {
    const [first] = sounds
    if (!first) return undefined
    const own = new AbortController()
    const either = signal ? AbortSignal.any([own.signal, signal]) : own.signal
    const prompt = this.#prepare(first, rateOf(port), { ...how, signal: either })
    return { prompt, giveUp: () => own.abort() }
  }

  /** The list of sounds that is being played on the port, unless it was stopped. */
  playing(port: MediaPort): Playing | undefined {
    const list = this.#lists.get(port)
    return list?.isStopped ? undefined : list
  }

  /** Plays a list of sounds, at the rate of the port's codec. A new list on the same port replaces what was playing. */
  start(port: MediaPort, sounds: readonly Playable[], options: StartOptions = {}): Playing {
    // One whose sound is still being fetched would else be heard in place of this one, later.
    this.#lists.get(port)?.stop()
    const list = new PlayingList(port, sounds, options, (sound, how) =>
      this.#prepare(sound, rateOf(port), how),
    )
    this.#lists.set(port, list)
    // A port may live much longer than the sounds of a list.
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

/** Wideband sounds are made for those only who can hear them. */
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
  #paused = false

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
    this.#paused = true
    this.#current?.pause()
  }

  resume(): void {
    this.#paused = false
    this.#current?.resume()
  }

  setVolume(db: number): void {
    this.#volumeDb = bounded(db)
    this.#current?.setVolume(this.#volumeDb)
  }

  async #run(): Promise<'finished' | 'stopped'> {
    // The port repeats a sound without a gap, so a list of one is left to it.
    const alone = this.#sounds.length === 1 && this.#sounds[0]?.kind !== 'ringtone'
    const passes = alone ? 1 : this.#loop || Number.POSITIVE_INFINITY
    try {
      // A list without a sound of any length would be repeated in no time, and nothing else would run.
      let heard = this.#sounds.length > 0
      for (let pass = 1; heard && pass <= passes; pass++) {
        heard = false
        for (const [i, sound] of this.#sounds.entries()) {
          const prompt = await this.#list.at(i)
          if (this.isStopped) return 'stopped'
          this.#list.ready(i + 1)
          const parts = partsOf(sound, prompt, alone ? this.#loop : 1)
          heard ||= parts.some((part) => part.prompt.samples.length > 0)
          // A port that was closed or given another sound ends the whole list.
          if (!(await this.#playAll(parts))) return 'stopped'
          if (pass === passes) this.#list.drop(i)
        }
      }
      return 'finished'
    } catch (error) {
      // What was given up is no failure.
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

  /** False when it was stopped. */
  async #playAll(parts: readonly Part[]): Promise<boolean> {
    for (const part of parts) {
      if ((await this.#play(part).done) === 'stopped') return false
    }
    return true
  }

  #play(part: Part): Playback {
    const playback = this.#port.play({ ...part, volumeDb: this.#volumeDb })
    if (this.#paused) playback.pause()
    this.#current = playback
    return playback
  }
}

type Part = Pick<PlayRequest, 'prompt' | 'loop'>

/** What the port is given for a sound. A ringing tone of a length is its period, as often as that fits in, and the beginning of one more. */
const partsOf = (sound: Playable, prompt: Prompt, loop: number): readonly Part[] => {
  if (sound.kind !== 'ringtone') return [{ prompt, loop }]
  if (sound.ms === undefined) return [{ prompt, loop: 0 }]
  const { samples, sampleRate } = prompt
  const wanted = Math.round((sound.ms * sampleRate) / 1000)
  const times = Math.floor(wanted / samples.length)
  const rest = samples.subarray(0, wanted % samples.length)
  return [
    ...(times > 0 ? [{ prompt, loop: times }] : []),
    ...(rest.length > 0 ? [{ prompt: { sampleRate, samples: rest } }] : []),
  ]
}

const bounded = (db: number): number => Math.max(-40, Math.min(40, db))

/** The prompts of a list: each is prepared once, however often the list is played, and the next one while one is being played. */
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

  /** Begins to prepare it, where there is one; what goes wrong is told by {@link at}. */
  ready(i: number): void {
    if (i < this.#sounds.length) this.at(i).catch(() => {})
  }

  /** It is not needed again. */
  drop(i: number): void {
    this.#prompts[i] = undefined
  }
}
