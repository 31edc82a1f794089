import type { types } from 'mediasoup'
import type { MediaClock } from '../clock.ts'
import { SenderClock, type SenderReport, StreamClock } from '../rooms/sender-clock.ts'

/** Reports of a browser on what it sends in one session. All its streams have the same clock. */
export class SenderReports {
  readonly #sender = new SenderClock()
  readonly #streams = new WeakMap<object, StreamClock>()

  /**
   * Returns the clock of a producer. Its reports are followed from the first call on. `rate` of its RTP
   * timestamps in Hz.
   */
  follow(
    producer: Pick<types.Producer, 'enableTraceEvent' | 'on'>,
    rate: number,
    clock: Pick<MediaClock, 'now'>,
  ): StreamClock {
    const known = this.#streams.get(producer)
    if (known) return known
    const stream = new StreamClock(this.#sender, rate)
    this.#streams.set(producer, stream)
    producer.on('trace', (event) => {
      const report = reportOf(event)
      if (report) stream.report(clock.now(), report)
    })
    // Without reports, the arrival of packets counts.
    producer.enableTraceEvent(['sr']).catch(() => undefined)
    return stream
  }
}

/** Returns the report of an event; undefined for other events, and for a sender without a clock. */
const reportOf = ({ type, info }: types.ProducerTraceEventData): SenderReport | undefined => {
  if (type !== 'sr') return undefined
  const { ssrc, ntpSec, ntpFrac, rtpTs } = info
  if (![ssrc, ntpSec, ntpFrac, rtpTs].every(Number.isInteger)) return undefined
  // RFC 3550 section 6.4.1: zero stands for no clock.
  if (ntpSec === 0 && ntpFrac === 0) return undefined
  const senderMs = (Number(ntpSec) + Number(ntpFrac) / 2 ** 32) * 1000
  return { ssrc: Number(ssrc), senderMs, timestamp: Number(rtpTs) }
}
