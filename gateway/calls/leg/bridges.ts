import type { Edge, WebRtc } from '../../../media/types.ts'
import type { Leg } from './leg.ts'

/** Joins and parts the audio of legs, and the video where both have any, and counts what is joined. */
export class Bridges {
  #edge: Pick<Edge, 'join' | 'detach'>
  #webrtc: Pick<WebRtc, 'joinVideo'>
  #open = new Set<Bridge>()
  #videos = 0
  #onFault: (fault: Error, a: Leg, b: Leg) => void

  /** `onFault` is told why one of two cannot be shown to the other; they hear each other all the same. */
  constructor(
    edge: Pick<Edge, 'join' | 'detach'>,
    webrtc: Pick<WebRtc, 'joinVideo'>,
    onFault: (fault: Error, a: Leg, b: Leg) => void = () => {},
  ) {
    this.#edge = edge
    this.#webrtc = webrtc
    this.#onFault = onFault
  }

  /** Pairs of legs that are joined now. */
  get count(): number {
    return this.#open.size
  }

  /** Pairs of browsers that are shown each other's video, where they have any. */
  get videos(): number {
    return this.#videos
  }

  /** Joins two legs' ports; both must have one. It ends by {@link Bridge.close}, or by itself when either leg is gone. */
  join(a: Leg, b: Leg): Bridge {
    const { port } = a
    if (!port || !b.port) throw new Error('both legs need a media port to be joined')
    this.#edge.join(port, b.port)
    const video = this.#joinVideo(a, b)
    const forget: (() => void)[] = []
    const bridge: Bridge = {
      a,
      b,
      close: () => {
        if (this.#open.delete(bridge)) {
          this.#edge.detach(port)
          video?.close()
        }
        // A call that is held and taken back a thousand times has no thousand bridges to remember.
        for (const run of forget.splice(0)) run()
      },
    }
    this.#open.add(bridge)
    forget.push(a.whenGone(bridge.close), b.whenGone(bridge.close))
    return bridge
  }

  #joinVideo(a: Leg, b: Leg): { close(): void } | undefined {
    if (!a.video || !b.video) return undefined
    const joined = this.#webrtc.joinVideo(a.video, b.video, (fault) => this.#onFault(fault, a, b))
    this.#videos++
    return {
      close: () => {
        this.#videos--
        joined.close()
      },
    }
  }
}

/** Two legs whose audio and video are joined. Joining and parting never renegotiate. */
export interface Bridge {
  readonly a: Leg
  readonly b: Leg
  /** Parts them; idempotent. */
  close(): void
}
