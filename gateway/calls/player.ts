import type { Sound } from '../../handlers/verbs.ts'
import type { MediaPort, Prompt, Sounds } from '../../media/types.ts'

/** Fetches audio from a customer's server. */
export interface AudioFetcher {
  bytes(url: string, maxBytes: number): Promise<{ readonly bytes: Uint8Array }>
}

/** Largest audio file that is fetched. */
const MAX_AUDIO_BYTES = 20 * 1024 * 1024

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
    let stopped = false
    let stopCurrent = () => {}
    const run = async () => {
      const loop = options.loop ?? 1
      for (let pass = 0; !stopped && sounds.length > 0 && (loop === 0 || pass < loop); pass++) {
        for (const [i, sound] of sounds.entries()) {
          const ready = pass === 0 && i === 0 ? options.first : undefined
          const prompt = await (ready ?? this.#prepare(sound))
          if (stopped) return
          const endless = sound.kind === 'ringtone' && sound.ms === undefined
          const playback = port.play({ prompt, loop: endless ? 0 : 1, volumeDb: options.volumeDb })
          stopCurrent = () => playback.stop()
          // A port that was closed or given another sound ends the whole list.
          if ((await playback.done) === 'stopped') return
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
    const { bytes } = await this.#fetcher.bytes(sound.url, MAX_AUDIO_BYTES)
    return this.#sounds.prepare({ kind: 'wav', bytes })
  }
}
