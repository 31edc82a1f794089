import { EventEmitter } from 'node:events'
import type { types } from 'mediasoup'
import { expect, it } from 'vitest'
import { SenderReports } from './sender-reports.ts'

/** Producer whose traces the test emits. */
class FakeProducer extends EventEmitter {
  readonly traced: unknown[] = []

  async enableTraceEvent(kinds?: readonly string[]): Promise<void> {
    this.traced.push(kinds)
    throw new Error('closed')
  }

  report(info: object, type = 'sr'): void {
    this.emit('trace', { type, timestamp: 0, direction: 'in', info })
  }
}

const followed = () => {
  const producer = new FakeProducer()
  const reports = new SenderReports()
  let now = 5000
  const clock = { now: () => now }
  const follow = () => reports.follow(producer as unknown as types.Producer, 48_000, clock)
  return { producer, follow, pass: (ms: number) => (now += ms) }
}

it('follows the reports of a producer once', () => {
  const { producer, follow, pass } = followed()
  const stream = follow()
  expect([follow() === stream, producer.traced]).toEqual([true, [['sr']]])
  producer.report({ ssrc: 7, ntpSec: 3_900_000_000, ntpFrac: 2 ** 31, rtpTs: 480 })
  pass(1000)
  producer.report({ ssrc: 7, ntpSec: 3_900_000_001, ntpFrac: 2 ** 31, rtpTs: 48_480 })
  expect(stream.at(6100, 48_480 + 960)).toBeCloseTo(6020, 3)
})

it('ignores other events, and senders without a clock', () => {
  const { producer, follow } = followed()
  const stream = follow()
  producer.report({ ssrc: 7, ntpSec: 0, ntpFrac: 0, rtpTs: 0 })
  producer.report({ ssrc: 7, ntpSec: 1, ntpFrac: 0, rtpTs: 0 }, 'rtp')
  producer.emit('trace', { type: 'nack', timestamp: 0, direction: 'in' })
  producer.report({ ssrc: 7, ntpSec: 'now', rtpTs: null })
  expect(stream.at(5000, 0)).toBeUndefined()
})
