import type { Environment } from './environment.ts'
import { ClientError } from './errors.ts'
import type { MediaKind } from './local-media.ts'
import type { Log } from './log.ts'

interface Player {
  readonly element: HTMLMediaElement
  readonly stream: MediaStream
}

/** Elements that play one call. {@link close} removes them. */
export class Players {
  readonly #environment: Environment
  readonly #log: Log
  readonly #root: HTMLElement | undefined
  readonly #players = new Map<MediaKind, Player>()
  #speaker: string | undefined

  constructor(environment: Environment, log: Log, root: HTMLElement | undefined) {
    this.#environment = environment
    this.#log = log
    this.#root = root
  }

  /** Plays a track. Audio always; video only if the application gave a root element. */
  play(kind: MediaKind, track: MediaStreamTrack): void {
    if (kind === 'video' && !this.#root) return
    const player = this.#players.get(kind) ?? this.#make(kind)
    const others = player.stream.getTracks().filter((other) => other !== track)
    for (const other of others) player.stream.removeTrack(other)
    if (!player.stream.getTracks().includes(track)) player.stream.addTrack(track)
    player.element
      .play()
      .catch((error: unknown) => this.#log.warn('browser did not start to play the call', error))
  }

  /**
   * Shows the video if `on`. Otherwise hides it: the far side has stopped sending, and its last picture
   * remains.
   */
  show(on: boolean): void {
    const player = this.#players.get('video')
    if (player) player.element.hidden = !on
  }

  /** Removes the player of a kind. */
  remove(kind: MediaKind): void {
    const element = this.#players.get(kind)?.element
    this.#players.delete(kind)
    if (!element) return
    element.srcObject = null
    element.remove()
  }

  /** Plays audio on a loudspeaker. Rejects with `unsupported` or `bad_argument`. */
  async speaker(deviceId: string): Promise<void> {
    const audio = this.#players.get('audio')
    if (audio) await this.#sink(audio.element, deviceId)
    this.#speaker = deviceId
  }

  /** Removes all. Idempotent. */
  close(): void {
    this.remove('audio')
    this.remove('video')
  }

  #make(kind: MediaKind): Player {
    const element = this.#environment.createPlayer(kind, this.#root)
    // One stream per player: the video element must not play the sound a second time.
    const player = { element, stream: this.#environment.createStream() }
    element.srcObject = player.stream
    this.#players.set(kind, player)
    if (kind === 'video') return player
    if (this.#speaker !== undefined)
      this.#sink(element, this.#speaker).catch((error: unknown) =>
        this.#log.warn('loudspeaker not changed', error),
      )
    return player
  }

  async #sink(element: HTMLMediaElement, deviceId: string): Promise<void> {
    if (typeof element.setSinkId !== 'function')
      throw new ClientError('unsupported', 'This browser lets no page choose a loudspeaker.')
    try {
      await element.setSinkId(deviceId)
    } catch (cause) {
      throw new ClientError('bad_argument', `deviceId: no loudspeaker "${deviceId}" can be used`, { cause })
    }
  }
}
