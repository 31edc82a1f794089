import type { Environment } from './environment.ts'
import type { MediaKind } from './local-media.ts'
import type { Log } from './log.ts'
import { Players } from './players.ts'

/** What the far side of a call sends, and what plays it. */
export class RemoteMedia {
  /** Its tracks come and go; the object stays. */
  readonly stream: MediaStream
  readonly players: Players
  readonly #changed: () => void
  #sent = true

  /** `changed` is told when pictures may have begun or stopped to come. */
  constructor(environment: Environment, log: Log, root: HTMLElement | undefined, changed: () => void) {
    this.stream = environment.createStream()
    this.players = new Players(environment, log, root)
    this.#changed = changed
  }

  /** Whether pictures come: muted is what nothing comes for, by the browser's word. */
  get hasVideo(): boolean {
    const [track] = this.stream.getVideoTracks()
    return track !== undefined && track.readyState !== 'ended' && !track.muted && this.#sent
  }

  /** A track begins to come, or comes anew. */
  arrived(kind: MediaKind, track: MediaStreamTrack): void {
    if (!this.stream.getTracks().includes(track)) {
      this.stream.addTrack(track)
      for (const name of ['mute', 'unmute', 'ended']) track.addEventListener(name, this.#changed)
    }
    this.players.play(kind, track)
  }

  /** What does not come any more is taken out of the stream and off the page. */
  left(kind: MediaKind, track: MediaStreamTrack): void {
    for (const name of ['mute', 'unmute', 'ended']) track.removeEventListener(name, this.#changed)
    this.stream.removeTrack(track)
    this.players.remove(kind)
  }

  /** Whether the far side sends pictures, as far as the gateway tells. */
  setSent(sent: boolean): void {
    this.#sent = sent
    this.#changed()
  }
}
