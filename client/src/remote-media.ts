import type { Environment } from './environment.ts'
import type { MediaKind } from './local-media.ts'
import type { Log } from './log.ts'
import { Players } from './players.ts'

/** Media of the far side, and its players. */
export class RemoteMedia {
  /** Stream of the far side. The object stays the same while tracks change. */
  readonly stream: MediaStream
  readonly players: Players
  readonly #changed: () => void
  #sent = true

  /** `changed` is called when video may have started or stopped. */
  constructor(environment: Environment, log: Log, root: HTMLElement | undefined, changed: () => void) {
    this.stream = environment.createStream()
    this.players = new Players(environment, log, root)
    this.#changed = changed
  }

  /** Whether video arrives. Browsers mute a track while no packets arrive for it. */
  get hasVideo(): boolean {
    const [track] = this.stream.getVideoTracks()
    return track !== undefined && track.readyState !== 'ended' && !track.muted && this.#sent
  }

  /** Handles a track that starts or is replaced. */
  arrived(kind: MediaKind, track: MediaStreamTrack): void {
    if (!this.stream.getTracks().includes(track)) {
      this.stream.addTrack(track)
      for (const name of ['mute', 'unmute', 'ended']) track.addEventListener(name, this.#changed)
    }
    this.players.play(kind, track)
  }

  /** Removes a track that ended from the stream and the page. No effect if it never arrived. */
  left(kind: MediaKind, track: MediaStreamTrack): void {
    if (!this.stream.getTracks().includes(track)) return
    for (const name of ['mute', 'unmute', 'ended']) track.removeEventListener(name, this.#changed)
    this.stream.removeTrack(track)
    // The far side may send over another line already, whose track is played.
    if (!this.stream.getTracks().some((each) => each.kind === kind)) this.players.remove(kind)
  }

  /** Records whether the far side sends video, as reported by the gateway. */
  setSent(sent: boolean): void {
    this.#sent = sent
    this.#changed()
  }
}
