import { AddressGuard } from '@trunkline/sip-agent/address-guard'
import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import type { StreamOptions } from '../../handlers/verbs.ts'
import { settle } from '../calls/testing/calls-fixture.ts'
import { FakePort } from '../calls/testing/fake-legs.ts'
import { FakeClock } from '../core/clock.ts'
import { Metrics } from '../core/metrics.ts'
import { Streams, type StreamsDeps, type StreamsOptions } from './streams.ts'

class FarPort extends FakePort {
  readonly farEnds: unknown[] = []

  override setFar(...farEnd: unknown[]): void {
    this.farEnds.push(...farEnd)
  }
}

const setUp = (
  options: Partial<StreamOptions> = {},
  { edge, ...settings }: Partial<StreamsOptions & StreamsDeps> = {},
) => {
  const far = new FarPort('call')
  const near = new FakePort('call')
  const opened: object[] = []
  const open: StreamsDeps['edge']['open'] = async (wanted) => {
    opened.push(wanted)
    return far
  }
  const streams = new Streams(
    { userAgent: '', ...settings },
    {
      edge: edge ?? { open },
      guard: new AddressGuard(['192.0.2.0/24']),
      log: pino({ level: 'silent' }),
      clock: new FakeClock(),
      metrics: new Metrics(),
    },
  )
  const source = { callId: 'c', projectId: 'p', port: near, sendDigits: () => {} }
  const stream = streams.start(source, { url: 'rtp://192.0.2.7:4000?codec=PCMA&ptime=30', ...options })
  return { far, near, opened, streams, stream }
}

const frame = (track: 'in' | 'out', value: number) => ({
  track,
  atMs: 0,
  samples: new Int16Array(160).fill(value),
})

describe('a stream to an RTP address', () => {
  it('has a port of the edge, of the call’s group, and carries the leg’s audio there', async () => {
    const t = setUp()
    await settle()
    expect(t.opened).toEqual([{ group: 'call', kind: 'carrier' }])
    expect(t.far.farEnds).toEqual([
      { codecs: [{ codec: 'PCMA', payloadType: 8 }] },
      { address: '192.0.2.7', port: 4000, codec: 'PCMA', payloadType: 8, ptime: 30, direction: 'sendonly' },
    ])
    t.near.taps[0]?.hear(frame('in', 5))
    t.far.taps[0]?.hear(frame('in', 6))
    expect(t.far.taps[0]?.output).toEqual([new Int16Array(160).fill(5)])
    expect(t.near.taps[0]?.output).toEqual([])
    t.stream.stop()
    expect(await t.stream.ended).toEqual({ kind: 'stopped' })
    await settle()
    expect([t.far.closed, t.near.taps[0]?.closed, t.streams.running]).toEqual([true, true, 0])
  })

  it('goes on with another port, also before its own is open', async () => {
    const t = setUp({ bidirectional: true })
    const second = new FakePort('call')
    const third = new FakePort('call')
    t.stream.moveTo(second)
    await settle()
    t.stream.moveTo(third)
    expect([t.near.taps, second.taps[0]?.port, t.far.taps[0]?.port]).toEqual([[], third, t.far])
    await second.close()
    t.far.taps[0]?.hear(frame('in', 6))
    expect(second.taps[0]?.output).toEqual([new Int16Array(160).fill(6)])
    t.stream.stop()
    await settle()
    expect([second.taps[0]?.closed, t.streams.running]).toEqual([true, 0])
  })

  it('brings back what is no silence', async () => {
    const t = setUp({ bidirectional: true })
    await settle()
    expect(t.far.farEnds[1]).toMatchObject({ direction: 'sendrecv' })
    t.far.taps[0]?.hear(frame('in', 0))
    t.far.taps[0]?.hear(frame('in', 6))
    expect(t.near.taps[0]?.output).toEqual([new Int16Array(160).fill(6)])
    t.stream.stop()
  })

  it('adds both tracks up, within what a sample can be', async () => {
    const t = setUp({ tracks: 'both' })
    await settle()
    t.near.taps[0]?.hear(frame('in', 30_000))
    t.near.taps[0]?.hear(frame('out', 10_000))
    t.near.taps[0]?.hear(frame('in', 100))
    t.near.taps[0]?.hear(frame('out', -200))
    expect(t.far.taps[0]?.output.map((said) => said[0])).toEqual([32_767, -100])
    t.stream.stop()
  })

  it('ends with either port', async () => {
    const leg = setUp()
    await settle()
    await leg.near.close()
    expect(await leg.stream.ended).toEqual({ kind: 'stopped' })
    const lost = setUp()
    await settle()
    await lost.far.close()
    expect(await lost.stream.ended).toEqual({ kind: 'failed', reason: 'its port was lost' })
  })

  it('reaches no private address, nor a name that has one or none of the family', async () => {
    const literal = setUp({ url: 'rtp://10.0.0.1:4000' })
    expect(await literal.stream.ended).toMatchObject({ reason: 'the address 10.0.0.1 is not permitted' })
    await settle()
    expect([literal.far.closed, literal.far.farEnds, literal.streams.running]).toEqual([true, [], 0])
    const named = (address: string, family: number) =>
      setUp({ url: 'rtp://x.example:4000' }, { resolve: (_, done) => done(null, [{ address, family }]) })
    expect(await named('10.0.0.1', 4).stream.ended).toMatchObject({ kind: 'failed' })
    expect(await named('2600::1', 6).stream.ended).toMatchObject({
      reason: 'the name x.example has no address of IPv4',
    })
    const good = named('192.0.2.9', 4)
    await settle()
    expect(good.far.farEnds[1]).toMatchObject({ address: '192.0.2.9' })
    good.stream.stop()
  })

  it('fails if no port is free, and closes the port of a stream that has stopped', async () => {
    const full = setUp({}, { edge: { open: () => Promise.reject(new Error('no port is free')) } })
    expect(await full.stream.ended).toEqual({ kind: 'failed', reason: 'no port is free' })
    const given = setUp()
    given.stream.stop()
    await settle()
    expect([given.far.farEnds, given.far.closed, given.streams.running]).toEqual([[], true, 0])
  })
})
