/** @schedule tones: listens for tones of accepted calls. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { embedded } from '../support/agents.ts'
import { scripted } from '../support/applications.ts'
import { Carrier } from '../support/carrier.ts'
import { digestAnswer } from '../support/digest.ts'
import { Gateway } from '../support/gateway.ts'
import { offer, SipSocket, statusOf } from '../support/sip-socket.ts'
import { headerOf } from '../support/sip-text.ts'
import { until } from '../support/until.ts'

const talk = scripted('answer', { sleep: -1 })
const password = { username: 'trunk', password: 'trunk-secret-9' }

let gateway: Gateway

beforeAll(async () => {
  gateway = await Gateway.start({
    agent: embedded,
    sip: { shield: { banAfter: 3, packetsPerSecond: 20 } },
    domains: [
      { domain: 'Closed.Test', allow: ['127.0.0.1/32'], handler: talk },
      { domain: 'silent.test', allow: ['127.0.0.1/32'] },
      { domain: 'open.test', handler: talk, challenge: password },
    ],
    carriers: [
      { name: 'acme', targets: ['sip:127.0.0.1:9'], allow: ['127.0.0.2/32'], maxCalls: 1 },
      { name: 'asked', targets: ['sip:127.0.0.1:9'], allow: ['127.0.0.3/32'], challenge: password },
    ],
  })
})

afterAll(() => gateway?.stop())

/** Removes the parts of a response that differ between equal requests. */
const shown = (answer: string): string =>
  answer
    .replace(/branch=[^;\r]*/g, 'branch=')
    .replace(/tag=[^;\r]*/g, 'tag=')
    .replace(/nonce="[^"]*"/g, 'nonce=""')
    .replace(/^Call-ID: .*$/gm, 'Call-ID:')
    .replace(/port=\d+/g, 'port=')
    .replace(/127\.0\.0\.\d+:\d+/g, 'here')

/** Response for a host at this source address, without the host itself. */
const answerTo = async (socket: SipSocket, host: string, method = 'INVITE', more = {}): Promise<string> => {
  const uri = `sip:1@${host}`
  return shown(await socket.ask({ method, uri, ...offer(), ...more })).replaceAll(host, 'host')
}

describe('the host of a request', () => {
  it.each(['closed.test', 'CLOSED.test', 'closed.test:5060', 'closed.test.'])(
    'matches the domain Closed.Test as %s',
    async (domain) => {
      const carrier = await Carrier.calls(gateway, { domain, scenario: 'call' })
      await carrier.done()
      await gateway.settled()
    },
  )

  it.each(['xclosed.test', 'closed.test.evil.test', 'sub.closed.test'])(
    'does not match the domain Closed.Test as %s',
    async (domain) => {
      const carrier = await Carrier.calls(gateway, {
        domain,
        scenario: 'call-refused',
        values: { status: 404 },
      })
      await carrier.done()
    },
  )
})

describe('an untrusted source', () => {
  it('gets the same 401 to INVITE for every host, known or unknown', async () => {
    const socket = await SipSocket.udp(gateway.sipPort, '127.0.0.9')
    const first = await answerTo(socket, 'closed.test')
    expect(statusOf(first)).toBe(401)
    expect(headerOf(first, 'Warning')).toBe('399 trunkline "127.0.0.9 is in no allow list"')
    for (const host of ['silent.test', 'open.test', 'nowhere.test', '192.0.2.7'])
      expect(await answerTo(socket, host), host).toBe(first)
    const lines = gateway.log.filter(({ source }) => source === '127.0.0.9')
    expect(lines.find(({ domain }) => domain === 'nowhere.test')).toMatchObject({ knownDomain: false })
  })

  it('gets the same 401 to a wrong password for a known and for an unknown user', async () => {
    const answers: string[] = []
    for (const username of ['trunk', 'unknown']) {
      const socket = await SipSocket.udp(gateway.sipPort, '127.0.0.10')
      const uri = 'sip:1@open.test'
      const challenge = headerOf(await socket.ask({ method: 'INVITE', uri, ...offer() }), 'WWW-Authenticate')
      const answer = digestAnswer(challenge ?? '', { method: 'INVITE', uri, username, password: 'guess' })
      answers.push(
        await answerTo(socket, 'open.test', 'INVITE', { headers: [`Authorization: ${answer}`], body: '' }),
      )
    }
    expect(statusOf(answers[0] ?? '')).toBe(401)
    expect(answers[1]).toBe(answers[0])
  })

  it('gets the same 200 to OPTIONS for every host', async () => {
    const socket = await SipSocket.udp(gateway.sipPort, '127.0.0.11')
    const first = await answerTo(socket, 'closed.test', 'OPTIONS', { body: '' })
    expect(statusOf(first)).toBe(200)
    expect(headerOf(first, 'Allow')).toContain('INVITE')
    for (const host of ['nowhere.test', '127.0.0.1'])
      expect(await answerTo(socket, host, 'OPTIONS', { body: '' })).toBe(first)
  })

  it.each(['MD5', 'SHA-256'] as const)('is accepted with the right password, by %s', async (algorithm) => {
    const socket = await SipSocket.udp(gateway.sipPort, '127.0.0.12')
    const call = { uri: 'sip:1@open.test', callId: `signed-${algorithm}`, fromTag: algorithm }
    const asked = await socket.ask({ ...call, ...offer(), method: 'INVITE' })
    const challenge = headerOf(asked, 'WWW-Authenticate') ?? ''
    const answer = digestAnswer(challenge, { method: 'INVITE', uri: call.uri, ...password }, algorithm)
    const headers = [...offer().headers, `Authorization: ${answer}`]
    const taken = await socket.ask({ ...call, ...offer(), headers, method: 'INVITE', cseq: '2' })
    expect(statusOf(taken)).toBe(200)
    const toTag = /tag=(.*)$/m.exec(headerOf(taken, 'To') ?? '')?.[1] ?? ''
    socket.raw(socket.text({ ...call, method: 'ACK', cseq: '2', toTag }))
    expect(statusOf(await socket.ask({ ...call, method: 'BYE', cseq: '3', toTag }))).toBe(200)
    await gateway.settled()
  })

  it('is banned after three wrong passwords, while other sources still get responses', async () => {
    const guesser = await SipSocket.udp(gateway.sipPort, '127.0.0.13')
    const other = await SipSocket.udp(gateway.sipPort, '127.0.0.14')
    const uri = 'sip:1@open.test'
    for (let guess = 0; guess < 3; guess++) {
      const asked = await guesser.ask({ method: 'INVITE', uri, ...offer() })
      const challenge = headerOf(asked, 'WWW-Authenticate') ?? ''
      const answer = digestAnswer(challenge, {
        method: 'INVITE',
        uri,
        username: 'trunk',
        password: `${guess}`,
      })
      await guesser.ask({ method: 'INVITE', uri, headers: [`Authorization: ${answer}`] })
    }
    await until(
      'the guesser is banned',
      () => gateway.metric('sip_banned'),
      (count) => count === 1,
    )
    const before = guesser.answers.length
    guesser.raw(guesser.text({ method: 'OPTIONS', uri }))
    const dropped = () => gateway.metric('sip_dropped_total', { reason: 'banned' })
    await until('it is dropped', dropped, (count) => count > 0)
    expect(guesser.answers).toHaveLength(before)
    expect(statusOf(await other.ask({ method: 'OPTIONS', uri }))).toBe(200)
  })

  it('that exceeds the packet rate has its packets dropped', async () => {
    const socket = await SipSocket.udp(gateway.sipPort, '127.0.0.15')
    for (let i = 0; i < 100; i++) socket.raw(socket.text({ method: 'OPTIONS', uri: 'sip:open.test' }))
    const dropped = () => gateway.metric('sip_dropped_total', { reason: 'rate' })
    await until('most of it is dropped', dropped, (count) => count >= 50)
    expect(socket.answers.length).toBeLessThan(60)
  })

  it('with the User-Agent of a scanner gets no response', async () => {
    const socket = await SipSocket.udp(gateway.sipPort, '127.0.0.16')
    socket.raw(
      socket.text({ method: 'INVITE', uri: 'sip:1@closed.test', headers: ['User-Agent: SIPVicious/0.3'] }),
    )
    const dropped = () => gateway.metric('sip_dropped_total', { reason: 'scanner' })
    await until('the scanner is dropped', dropped, (count) => count > 0)
    expect(socket.answers).toEqual([])
  })
})

describe('a carrier in a known network', () => {
  it('gets 404 for an unknown host, and 403 for a domain that does not allow its network', async () => {
    const socket = await SipSocket.udp(gateway.sipPort, '127.0.0.2')
    expect(statusOf(await answerTo(socket, 'nowhere.test'))).toBe(404)
    expect(statusOf(await answerTo(socket, 'closed.test'))).toBe(403)
  })

  it('needs no password for an open domain, and is subject to its own limit of calls', async () => {
    const options = { address: '127.0.0.2', domain: 'open.test' }
    const first = await Carrier.calls(gateway, { ...options, scenario: 'call', holdMs: 'manual' })
    await first.sipp.event('answered')
    expect(await gateway.metric('carrier_calls', { carrier: 'acme' })).toBe(1)
    const values = { status: 503 }
    const second = await Carrier.calls(gateway, { ...options, scenario: 'call-refused', values })
    await second.done()
    expect(headerOf(second.sipp.received('SIP/2.0 503')[0] ?? '', 'Retry-After')).toBe('10')
    expect(await gateway.refusal('over_call_limit')).toMatchObject({ carrier: 'acme', carrierLimit: 1 })
    await first.goesOn()
    await first.done()
    await gateway.settled()
    expect(await gateway.record(first.callId)).toMatchObject({ source: '127.0.0.2' })
  })

  it('is challenged for its own password if it has one configured', async () => {
    const carrier = await Carrier.calls(gateway, {
      address: '127.0.0.3',
      domain: 'open.test',
      scenario: 'caller-digest',
      holdMs: 100,
      values: { ...password },
    })
    await carrier.sipp.event('challenged')
    await carrier.done()
    await gateway.settled()
  })
})
