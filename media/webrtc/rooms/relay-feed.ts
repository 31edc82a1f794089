import type { Relay } from '../relay.ts'
import { openLink } from './open-link.ts'

/** Sound of a browser, as RTP packets of one payload type. */
export interface SoundSource {
  /**
   * Calls `listener` for each packet, which is lent, until the returned function is called. Calls `onFault`
   * if the packets cannot be received.
   */
  attach(listener: (packet: Buffer) => void, onFault: (fault: Error) => void): () => void
}

/**
 * RTP packets of the Opus that a browser sends, as the gateway receives them from its router. Follows the
 * browser's streams: each has its own SSRC.
 */
export class RelayFeed implements SoundSource {
  readonly #relay: Relay

  constructor(relay: Relay) {
    this.#relay = relay
  }

  attach(listener: (packet: Buffer) => void, onFault: (fault: Error) => void): () => void {
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

  #open(listener: (packet: Buffer) => void, onFault: (fault: Error) => void): () => void {
    const { fromBrowser: producer, router, format, capabilities: rtpCapabilities } = this.#relay
    if (!producer || producer.closed) return () => {}
    return openLink(
      router,
      (transport) => transport.consume({ producerId: producer.id, rtpCapabilities, paused: true }),
      ({ end: consumer }) => {
        consumer.on('rtp', (packet) => {
          // Digits have another payload type.
          if ((packet[1]! & 0x7f) === format.payloadType) listener(packet)
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
