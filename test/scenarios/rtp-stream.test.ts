/** @schedule tones: listens for tones that pass through a stream of RTP. */

import { AddressGuard } from '@trunkline/sip-agent/address-guard'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { SystemClock } from '../../gateway/core/clock.ts'
import { Metrics } from '../../gateway/core/metrics.ts'
import { Streams } from '../../gateway/streams/streams.ts'
import { createEdge } from '../../media/edge/edge.ts'
import { freePortRange } from '../../media/testing/free-ports.ts'
import type { Edge, MediaPort } from '../../media/types.ts'
import { shares } from '../support/hearing.ts'
import { RtpPeer } from '../support/rtp-peer.ts'
import { until } from '../support/until.ts'

let edge: Edge
let caller: RtpPeer
let server: RtpPeer

beforeAll(async () => {
  const ports = await freePortRange(20)
  edge = await createEdge({
    bind: '127.0.0.1',
    ports,
    threads: 1,
    startTimeoutMs: 30_000,
    mediaTimeoutMs: 60_000,
  })
  caller = await RtpPeer.open('PCMU')
  server = await RtpPeer.open('PCMA')
})

afterAll(async () => {
  caller?.close()
  server?.close()
  await edge?.close()
})

const hears = (peer: RtpPeer, frequency: number): Promise<unknown> =>
  until(
    `${frequency} Hz is heard`,
    () => shares(peer.packets.slice(-15), frequency),
    (parts) => parts.length >= 3 && parts.every((share) => share > 0.7),
  )

it('an RTP stream sends the caller’s audio to an address in the codec of the stream, and plays the audio from there', async () => {
  const opened: MediaPort[] = []
  const open: typeof edge.open = async (options) => {
    const port = await edge.open(options)
    opened.push(port)
    return port
  }
  const streams = new Streams(
    { userAgent: '' },
    {
      edge: { open },
      guard: new AddressGuard(['127.0.0.0/8']),
      log: pino({ level: 'silent' }),
      clock: new SystemClock(),
      metrics: new Metrics(),
    },
  )
  const leg = await edge.open({ group: 'call', kind: 'carrier' })
  leg.setFar(
    { codecs: [{ codec: 'PCMU', payloadType: 0 }] },
    { address: '127.0.0.1', port: caller.port, codec: 'PCMU', payloadType: 0, direction: 'sendrecv' },
  )
  caller.send(leg.port, 440)
  const url = `rtp://127.0.0.1:${server.port}?codec=PCMA`
  const source = { callId: 'c', projectId: 'p', port: leg, sendDigits: () => {} }
  const stream = streams.start(source, { url, bidirectional: true })
  await hears(server, 440)
  expect(new Set(server.packets.map(({ payloadType }) => payloadType))).toEqual(new Set([8]))
  server.send(opened[0]?.port ?? 0, 700)
  await hears(caller, 700)
  stream.stop()
  await until(
    'its port is closed',
    () => streams.running,
    (running) => running === 0,
  )
  expect(edge.portCount).toBe(1)
  await leg.close()
  expect(edge.busy.taps).toBe(0)
})
