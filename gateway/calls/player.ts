import type { Sound } from '../../handlers/verbs.ts'
import { largestWav } from '../../media/sound/wav.ts'
import type { MediaPort, Prompt, Sounds } from '../../media/types.ts'

/** Fetches audio from a customer's server. */
export interface AudioFetcher {
  bytes(url: string, maxBytes: number): Promise<{ readonly bytes: Uint8Array }>
}

/** Something that is being played; stop it, or wait for it. */
export interface Playing {
  /** Resolves at the end, or when stopped; rejects when a sound could not be prepared. */
  readonly done: Promise<void>
  stop(): void
}

/** How a list is played. */
export interface StartOptions {
  /** Default 1; 0 until stopped. */
  readonly loop?: number
  /** Default 0. */
  readonly volumeDb?: number
  /** The first sound, if {@link Player.prepareFirst} has been asked for it. */
  readonly first?: Promise<Prompt>
}

/** Plays lists of sounds on media ports. */
export class Player {
  #sounds: Sounds
  #fetcher: AudioFetcher

  constructor(sounds: Sounds, fetcher: AudioFetcher) {
    this.#sounds = sounds
    this.#fetcher = fetcher
  }

  /**
   * Makes the first sound ready ahead of its time, so that nobody hears silence while it is fetched or spoken. Hand the promise to
   * {@link start}, also when it rejects; undefined for an empty list.
   */
  prepareFirst(sounds: readonly Sound[]): Promise<Prompt> | undefined {
    return sounds[0] && this.#prepare(sounds[0])
  }

  /** Plays a list of sounds. A new list on the same port replaces what was playing. */
  start(port: MediaPort, sounds: readonly Sound[], options: StartOptions = {}): Playing {
    const { loop = 1, volumeDb, first } = options
    let stopped = false
    let stopCurrent = () => {}
    const list = new PromptList(sounds, (sound) => this.#prepare(sound), first)
    // The port repeats a sound without a gap, so a list of one is left to it.
    const alone = sounds.length === 1
    const passes = alone ? 1 : loop || Number.POSITIVE_INFINITY
    const run = async () => {
      for (let pass = 1; !stopped && sounds.length > 0 && pass <= passes; pass++) {
        for (const [i, sound] of sounds.entries()) {
          const prompt = await list.at(i)
          if (stopped) return
          const endless = sound.kind === 'ringtone' && sound.ms === undefined
          const playback = port.play({ prompt, loop: endless ? 0 : alone ? loop : 1, volumeDb })
          stopCurrent = () => playback.stop()
          list.ready(i + 1)
          // A port that was closed or given another sound ends the whole list.
          if ((await playback.done) === 'stopped') return
          if (pass === passes) list.drop(i)
        }
      }
    }
    return {
      done: run(),
      stop: () => {
        stopped = true
        stopCurrent()
      },
    }
  }

  async #prepare(sound: Sound): Promise<Prompt> {
    if (sound.kind !== 'audio') return this.#sounds.prepare(sound)
    const { bytes } = await this.#fetcher.bytes(sound.url, largestWav)
    return this.#sounds.prepare({ kind: 'wav', bytes })
  }
}

/** The prompts of a list: each is prepared once, however often the list is played, and the next one while one is being played. */
class PromptList {
  #sounds: readonly Sound[]
  #prepare: (sound: Sound) => Promise<Prompt>
  #prompts: (Promise<Prompt> | undefined)[]

  constructor(
    sounds: readonly Sound[],
    prepare: (sound: Sound) => Promise<Prompt>,
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
