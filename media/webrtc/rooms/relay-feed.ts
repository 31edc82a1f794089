import type { MediaClock } from '../../clock.ts'
import type { StreamClock } from '../../rooms/sender-clock.ts'
import type { Relay } from '../relay.ts'
import { openLink } from './open-link.ts'

/** Clock rate of Opus in RTP (RFC 7587), in Hz. */
const opusRate = 48_000

/** Sound of a browser, as RTP packets of one payload type. */
export interface SoundSource {
  /**
   * Calls `listener` for each packet, which is lent, until the returned function is called. Calls `onFault`
   * if the packets cannot be received.
   */
  attach(listener: SoundListener, onFault: (fault: Error) => void): () => void
}

/** Called with a packet, and the clock of its stream by the reports of its sender. */
export type SoundListener = (packet: Buffer, clock?: StreamClock) => void

/**
 * RTP packets of the Opus that a browser sends, as the gateway receives them from its router. Follows the
 * browser's streams: each has its own SSRC.
 */
export class RelayFeed implements SoundSource {
  readonly #relay: Relay
  readonly #clock: MediaClock

  constructor(relay: Relay, clock: MediaClock) {
    this.#relay = relay
    this.#clock = clock
  }

  attach(listener: SoundListener, onFault: (fault: Error) => void): () => void {
    let close = () => {}
    const follow = () => {
      close()
      close = this.#open(listener, onFault)
    }
    const unwatch = this.#relay.watch(follow)
    follow()
    return () => {
      unwatch()
      close()
    }
  }

  #open(listener: SoundListener, onFault: (fault: Error) => void): () => void {
    const { fromBrowser: producer, reports, router, format, capabilities: rtpCapabilities } = this.#relay
    if (!producer || producer.closed) return () => {}
    const clock = reports?.follow(producer, opusRate, this.#clock)
    return openLink(
      router,
      (transport) => transport.consume({ producerId: producer.id, rtpCapabilities, paused: true }),
      ({ end: consumer }) => {
        consumer.on('rtp', (packet) => {
          // Digits have another payload type.
          if ((packet[1]! & 0x7f) === format.payloadType) listener(packet, clock)
        })
        consumer.resume().catch(() => undefined)
      },
      (fault) => {
        // A stream that has ended is replaced by another one.
        if (!producer.closed) onFault(fault)
      },
    )
  }
}
