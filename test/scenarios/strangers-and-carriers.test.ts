/**
 * Limits of untrusted sources beside carriers, and the separation of two projects.
 */
import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { freePort } from '../../media/testing/free-ports.ts'
import { SignalWire } from '../../realtime/src/index.ts'
import { scripted } from '../support/applications.ts'
import { traceOnFailure } from '../support/failure-report.ts'
import { Gateway } from '../support/gateway.ts'
import { apiToken, authorizationOf } from '../support/recorded.ts'
import { rest } from '../support/rest.ts'
import { type PlacedCall, SipCaller } from '../support/sip-caller.ts'
import { linesOf } from '../support/sip-text.ts'
import { StrangerFlood } from '../support/stranger-flood.ts'
import { until } from '../support/until.ts'

const tone = { play: { url: 'ring:60:us' } }
const secondToken = 'token-of-the-second-project'
const second = `Basic ${Buffer.from(`second:${secondToken}`).toString('base64')}`
const first = authorizationOf(apiToken)
/** Addresses of each project's carrier, of an untrusted source, and of a host that sent no request. */
const carrier = '127.0.0.2'
const secondCarrier = '127.0.0.3'
const stranger = '127.0.0.9'
const victim = '127.0.0.77'
const strangerLimits = {
  maxCallsOfSource: 5,
  callsPerSecondOfSource: 5,
  maxUnconfirmedCalls: 3,
  reservedPercent: 30,
}

let gateway: Gateway
/** Socket of the first project's carrier. */
let trunk: Socket
const trunkHeard: string[] = []

beforeAll(async () => {
  const port = await freePort()
  trunk = createSocket('udp4').bind(port, carrier)
  const trace = traceOnFailure('carrier')
  trunk.on('message', (bytes) => {
    trace('received', bytes)
    trunkHeard.push(bytes.toString())
  })
  await once(trunk, 'listening')
  const talk = scripted('answer', tone)
  const dials = (to: string) => scripted('answer', { connect: { to, timeout: 2 } }, tone)
  const ofSecond = { project: 'second', allow: [`${secondCarrier}/32`] }
  gateway = await Gateway.start({
    limits: { calls: 40, strangers: strangerLimits },
    projects: [{ id: 'second', apiToken: secondToken }],
    carriers: [
      { name: 'acme', targets: [`sip:${carrier}:${port}`], allow: [`${carrier}/32`], default: true },
      { name: 'other', targets: ['sip:127.0.0.1:9'], allow: [`${secondCarrier}/32`], project: 'second' },
    ],
    domains: [
      { domain: 'open.test', handler: talk },
      { domain: 'early.test', handler: scripted({ play: { url: 'ring:60:us', auto_answer: false } }) },
      { domain: 'ringing.test', handler: scripted({ play: { url: 'ring:3:us', auto_answer: false } }) },
      { domain: 'first.test', allow: [`${carrier}/32`], handler: talk },
      { domain: 'office.test', allow: [`${carrier}/32`], handler: { kind: 'realtime', topic: 'office' } },
      { domain: 'second.test', ...ofSecond, handler: talk },
      { domain: 'theft.test', ...ofSecond, handler: dials(`sip:+4930123@${carrier}:${port}`) },
      { domain: 'number.test', ...ofSecond, handler: dials('+4930123') },
    ],
  })
})

afterAll(async () => {
  trunk?.close()
  await gateway?.stop()
})

const caller = async (address: string): Promise<SipCaller> => {
  const opened = await SipCaller.open(gateway.sipPort, address)
  onTestFinished(() => opened.close())
  return opened
}

/** Opens a port that counts received packets and bytes. */
const host = async () => {
  const socket = createSocket('udp4').bind(0, victim)
  onTestFinished(() => void socket.close())
  await once(socket, 'listening')
  const { port } = socket.address()
  const heard = { packets: 0, bytes: 0 }
  socket.on('message', ({ length }) => {
    heard.packets++
    heard.bytes += length
  })
  return { media: { address: victim, port }, heard, socket }
}

const calls = () => gateway.metric('calls')
const noCalls = () => until('no call is left', calls, (left) => left === 0, 15_000)
const rejections = (code: string) => gateway.metric('rejections_total', { code })

describe('a forged INVITE', () => {
  it.each([
    ['answered', 'open.test', []],
    ['answered with early media', 'early.test', ['Supported: 100rel']],
  ])('%s causes no audio, little traffic and only a short call', async (_what, domain, headers) => {
    const source = await caller(stranger)
    const { media, heard } = await host()
    source.invite(`sip:1@${domain}`, undefined, { media, headers })
    await until('the call has come', calls, (up) => up === 1)
    const began = performance.now()
    await noCalls()
    expect(performance.now() - began).toBeLessThan(7_000)
    const factor = (heard.bytes + source.bytesReceived) / source.bytesSent
    expect(heard.packets).toBeLessThanOrEqual(2)
    expect(factor).toBeGreaterThan(1)
    expect(factor).toBeLessThan(10)
    const copies = (start: string) => source.received.filter((text) => text.startsWith(start)).length
    expect([copies('SIP/2.0 200') <= 3, copies('SIP/2.0 183') <= 3, copies('BYE') <= 1]).toEqual([
      true,
      true,
      true,
    ])
    expect(await gateway.metric('sip_unconfirmed')).toBe(0)
  })

  it('that rings for long causes few 180s, and counts as an unconfirmed call', async () => {
    const source = await caller(stranger)
    const { media, heard } = await host()
    // Without 100rel the gateway sends 180 instead of 183, because there is no PRACK.
    source.invite('sip:1@ringing.test', undefined, { media })
    await until(
      'it rings',
      () => source.received.at(-1),
      (text) => text?.startsWith('SIP/2.0 180') === true,
    )
    expect(await gateway.metric('sip_unconfirmed')).toBe(1)
    await sleep(1_500)
    expect(heard.packets).toBeLessThanOrEqual(1)
    expect((heard.bytes + source.bytesReceived) / source.bytesSent).toBeLessThan(4)
  })
})

describe('an untrusted caller that is reachable', () => {
  it('receives audio only after its ACK', async () => {
    const source = await caller(victim)
    const { media, heard } = await host()
    const call = await source.call('sip:1@open.test', { media, acknowledges: false })
    await sleep(400)
    expect([call.status, heard.packets <= 1]).toEqual([200, true])
    await call.hangUp()
    const taken = await source.call('sip:1@open.test', { media })
    await until(
      'audio comes',
      () => heard.packets,
      (packets) => packets > 50,
    )
    expect(await taken.hangUp()).toBe(200)
  })

  it('with another media address gets audio there for two seconds, and longer only if audio arrives from there', async () => {
    const source = await caller(stranger)
    const { media, heard, socket } = await host()
    const call = await source.call('sip:1@open.test', { media })
    await until(
      'audio comes',
      () => heard.packets,
      (packets) => packets > 20,
    )
    await sleep(3_000)
    const { packets } = heard
    expect(packets).toBeLessThan(150)
    await sleep(500)
    expect(heard.packets - packets).toBeLessThanOrEqual(1)
    const [port] = linesOf(call.response, 'm=audio').map((line) => Number(line.split(' ')[1]))
    const silence = Buffer.concat([
      Buffer.from([0x80, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1]),
      Buffer.alloc(160, 0xff),
    ])
    socket.send(silence, port!, '127.0.0.1')
    await until(
      'audio comes again',
      () => heard.packets,
      (now) => now > packets + 50,
    )
    expect(await call.hangUp()).toBe(200)
  })
})

it('every call of a known carrier succeeds while untrusted sources use up their limits and flood the gateway', async () => {
  await noCalls()
  const known = await caller(carrier)
  const taken: PlacedCall[] = []
  const statuses: number[] = []
  // Six addresses place six calls each. The last call of each exceeds the limit of a source, and 30 calls
  // exceed 70 per cent of 40.
  for (let i = 0; i < 6; i++) {
    const source = await caller(`127.0.0.${51 + i}`)
    for (let call = 0; call < 6; call++) {
      const placed = await source.call('sip:1@open.test')
      statuses.push(placed.status)
      if (placed.status === 200) taken.push(placed)
    }
  }
  expect(taken).toHaveLength(28)
  expect(new Set(statuses)).toEqual(new Set([200, 503]))
  expect([await rejections('over_source_limit'), await rejections('over_stranger_share')]).toEqual([5, 3])
  // Four ended calls make room for callers that never send an ACK.
  for (const call of taken.splice(0, 4)) expect(await call.hangUp()).toBe(200)
  const flood = await StrangerFlood.start({
    port: gateway.sipPort,
    uri: 'sip:1@open.test',
    perSecond: 60,
    connections: 100,
  })
  onTestFinished(() => flood.stop())
  await until(
    'the limit of unconfirmed calls is reached',
    () => rejections('over_unconfirmed_limit'),
    (count) => count > 0,
  )
  const placed: Promise<{ status: number; ended: number }>[] = []
  const running = new Set<Promise<unknown>>()
  for (let i = 0; i < 45; i++) {
    const place = async () => {
      const call = await known.call('sip:1@first.test')
      await sleep(100)
      return { status: call.status, ended: call.status === 200 ? await call.hangUp() : 0 }
    }
    const one = place().finally(() => running.delete(one))
    running.add(one)
    placed.push(one)
    // The gateway has room for twelve more calls. On a busy machine each lasts longer.
    while (running.size >= 8) await Promise.race(running)
    await sleep(66)
  }
  const outcomes = await Promise.all(placed)
  expect(outcomes).toEqual(outcomes.map(() => ({ status: 200, ended: 200 })))
  const up = await calls()
  flood.stop()
  expect(up).toBeGreaterThan(20)
  expect(up).toBeLessThanOrEqual(28)
  expect(flood.outcomes.answered).toBeLessThanOrEqual(3 * strangerLimits.maxCallsOfSource)
  expect(await gateway.metric('sip_unconfirmed')).toBeLessThanOrEqual(strangerLimits.maxUnconfirmedCalls)
  // Log lines are limited per source, so only one line of the kind is certain.
  const line = gateway.log.find(({ code }) => code === 'over_unconfirmed_limit')
  expect(line).toMatchObject({ unconfirmedCalls: 3, unconfirmedLimit: 3, domain: 'open.test' })
})

describe('the separation of two projects', () => {
  it('covers domains: untrusted sources and carriers of another project get 403 for any domain', async () => {
    const status = async (address: string, uri: string) => (await (await caller(address)).call(uri)).status
    expect(await status(carrier, 'sip:1@first.test')).toBe(200)
    expect(await status(secondCarrier, 'sip:1@second.test')).toBe(200)
    const uris = ['sip:1@first.test', 'sip:1@second.test', 'sip:1@nothing.test']
    for (const uri of uris) expect(await status(stranger, uri)).toBe(403)
    expect(await status(carrier, 'sip:1@second.test')).toBe(403)
    expect(await status(secondCarrier, 'sip:1@first.test')).toBe(403)
  })

  it('covers carriers: a document of the second project cannot call through the first project’s carrier', async () => {
    const source = await caller(secondCarrier)
    const before = trunkHeard.length
    for (const uri of ['sip:1@theft.test', 'sip:1@number.test']) {
      const call = await source.call(uri)
      expect(call.status).toBe(200)
      await sleep(700)
      await call.hangUp()
    }
    expect(trunkHeard.slice(before).filter((text) => text.startsWith('INVITE'))).toEqual([])
  })

  it('covers the API: the second project can neither read nor change objects of the first', async () => {
    const made = await rest(gateway, 'POST', '/api/fabric/domain_applications', {
      name: 'mine',
      identifier: 'mine',
      call_handler: 'relay_topic',
      call_relay_topic: 'office',
    })
    expect(made.status).toBe(201)
    const paths = [
      '/api/fabric/domain_applications',
      '/api/fabric/carriers',
      '/api/fabric/resources',
      '/api/fabric/resources/subscribers',
      '/api/voice/logs',
      '/api/recordings',
    ]
    for (const path of paths) {
      const idsOf = async (credentials: string) => {
        const { status, body } = await rest(gateway, 'GET', path, undefined, credentials)
        expect([path, status]).toEqual([path, 200])
        return (body.data as readonly { id: string }[]).map(({ id }) => id)
      }
      const own = await idsOf(first)
      const theirs = await idsOf(second)
      expect([path, own.filter((id) => theirs.includes(id))]).toEqual([path, []])
      for (const id of own.slice(0, 2)) {
        const read = await rest(gateway, 'GET', `${path}/${id}`, undefined, second)
        const removed = await rest(gateway, 'DELETE', `${path}/${id}`, undefined, second)
        expect([path, read.status, removed.status >= 404]).toEqual([path, 404, true])
      }
    }
    expect((await rest(gateway, 'GET', `/api/fabric/domain_applications/${made.body.id}`)).status).toBe(200)
  })

  it('covers topics: an application of the second project gets no call of the first', async () => {
    const heard: string[] = []
    const listens = async (project: string, token: string) => {
      const client = await SignalWire({ project, token, host: `ws://127.0.0.1:${gateway.httpPort}` })
      onTestFinished(() => client.disconnect())
      await client.voice.listen({
        topics: ['office'],
        onCallReceived: (call) => {
          heard.push(project)
          // The caller may hang up before the response to `answer` arrives.
          call.answer().catch(() => {})
        },
      })
    }
    await listens('second', secondToken)
    await listens('default', apiToken)
    const call = await (await caller(carrier)).call('sip:1@office.test')
    expect(call.status).toBe(200)
    await call.hangUp()
    expect(heard).toEqual(['default'])
  })
})
