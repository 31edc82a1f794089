import type { Edge, WebRtc } from '../../../media/types.ts'
import type { Leg } from './leg.ts'

/** Joins and parts the audio of legs and their video, and counts the joined pairs. */
export class Bridges {
  #edge: Pick<Edge, 'join' | 'detach'>
  #webrtc: Pick<WebRtc, 'joinVideo'>
  #open = new Set<Bridge>()
  #videos = 0
  #onFault: (fault: Error, a: Leg, b: Leg) => void

  /** `onFault` is called if the video of two legs cannot be joined. Their audio is joined nevertheless. */
  constructor(
    edge: Pick<Edge, 'join' | 'detach'>,
    webrtc: Pick<WebRtc, 'joinVideo'>,
    onFault: (fault: Error, a: Leg, b: Leg) => void = () => {},
  ) {
    this.#edge = edge
    this.#webrtc = webrtc
    this.#onFault = onFault
  }

  /** Number of joined pairs of legs. */
  get count(): number {
    return this.#open.size
  }

  /** Number of joined pairs of browsers with video. */
  get videos(): number {
    return this.#videos
  }

  /**
   * Joins the ports of two legs; both must have one. {@link Bridge.close} or the end of either leg parts
   * them.
   */
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
        // The listeners are removed at each part, as a call may be held and resumed many times.
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
  /** Parts the legs. Idempotent. */
  close(): void
}
