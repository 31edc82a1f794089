import type { Edge } from '../../media/types.ts'
import type { Leg } from './leg.ts'

/** Joins and parts the audio of legs, and counts what is joined. */
export class Bridges {
  #edge: Pick<Edge, 'join' | 'part'>
  #open = new Set<Bridge>()

  constructor(edge: Pick<Edge, 'join' | 'part'>) {
    this.#edge = edge
  }

  /** Pairs of legs that are joined now. */
  get count(): number {
    return this.#open.size
  }

  /** Joins two legs' ports; both must have one. It ends by {@link Bridge.close}, or by itself when either leg is gone. */
  join(a: Leg, b: Leg): Bridge {
    const { port } = a
    if (!port || !b.port) throw new Error('both legs need a media port to be joined')
    this.#edge.join(port, b.port)
    const forget: (() => void)[] = []
    const bridge: Bridge = {
      a,
      b,
      close: () => {
        if (this.#open.delete(bridge)) this.#edge.part(port)
        // A call that is held and taken back a thousand times has no thousand bridges to remember.
        for (const run of forget.splice(0)) run()
      },
    }
    this.#open.add(bridge)
    forget.push(a.whenGone(bridge.close), b.whenGone(bridge.close))
    return bridge
  }
}

/** Two legs whose audio is joined. Joining and parting never renegotiate. */
export interface Bridge {
  readonly a: Leg
  readonly b: Leg
  /** Parts them; idempotent. */
  close(): void
}
