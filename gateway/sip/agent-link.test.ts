import pino from 'pino'
import { expect, it } from 'vitest'
import { FakeClock } from '../core/clock.ts'
import { AgentLink, type Connection } from './agent-link.ts'
import { FakeSrf } from './testing/fake-srf.ts'

const make = (isEmbedded = true) => {
  const srf = new FakeSrf()
  const clock = new FakeClock()
  const lost: Connection[] = []
  const agent = { host: '127.0.0.1', port: 9022, secret: 'cymru', isEmbedded }
  const link = new AgentLink({ agent, clock, srf, log: pino({ level: 'silent' }) })
  link.onLost((connection) => lost.push(connection))
  return { srf, clock, lost, link }
}

it('the link connects, and knows the agent’s listeners and capabilities', async () => {
  const { link, srf, clock } = make()
  await link.connect()
  expect(link.connection?.isAlive).toBe(true)
  expect(link.hostports).toEqual(['udp/127.0.0.1:5060', 'tcp/127.0.0.1:5060'])
  expect(link.capabilities).toMatchObject({
    hasReliableProvisionals: true,
    sessionTimers: 'agent',
    maxFrameBytes: 65_536,
  })
  expect(srf.connects).toEqual([{ host: '127.0.0.1', port: 9022 }])
  expect(clock.running).toBe(0)
})

it('the link knows the limits of a drachtio-server, and sends pings to it', () => {
  const { link, srf } = make(false)
  void link.connect()
  expect(link.capabilities).toMatchObject({
    hasReliableProvisionals: false,
    sessionTimers: 'server',
    maxFrameBytes: 4_036,
  })
  expect(srf.connects[0]?.enablePing).toBe(true)
})

it('the link gives up after a wrong secret, and without an answer', async () => {
  const wrong = make()
  wrong.srf.accepts = false
  const first = wrong.link.connect()
  wrong.srf.events.emit('connect', new Error('failed to authenticate'))
  await expect(first).rejects.toMatchObject({
    code: 'control_lost',
    message: expect.stringContaining('secret'),
  })
  const silent = make()
  silent.srf.accepts = false
  const second = silent.link.connect(5_000)
  silent.clock.advance(5_000)
  await expect(second).rejects.toMatchObject({ code: 'control_lost' })
  expect(silent.srf.wire.closing).toBe(true)
})

it('the link reports a lost connection once after a delay, even if a new connection is open by then', async () => {
  const { link, srf, clock, lost } = make()
  await link.connect()
  const first = link.connection
  srf.events.emit('error', new Error('ECONNRESET'))
  srf.events.emit('close')
  srf.events.emit('close')
  expect([link.connection, first?.isAlive, lost.length]).toEqual([undefined, false, 0])
  srf.events.emit('connect', null, 'udp/127.0.0.1:5060')
  expect(link.connection?.isAlive).toBe(true)
  clock.advance(3_000)
  expect(lost).toEqual([first])
  expect(link.connection?.isAlive).toBe(true)
})

it('the link closes once, and reports nothing afterwards', async () => {
  const { link, srf, clock, lost } = make()
  await link.connect()
  const connection = link.connection
  link.close()
  link.close()
  srf.events.emit('close')
  srf.events.emit('connect', null, 'udp/127.0.0.1:5060')
  clock.advance(60_000)
  expect([srf.disconnected, srf.wire.closing, lost.length, connection?.isAlive, link.connection]).toEqual([
    1,
    true,
    0,
    false,
    undefined,
  ])
})
