import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { agents } from '../support/agents.ts'
import { application, script, scripted } from '../support/applications.ts'
import { Carrier, type IncomingOptions } from '../support/carrier.ts'
import { DocumentServer } from '../support/documents.ts'
import { Gateway } from '../support/gateway.ts'
import { offer, SipSocket, statusOf } from '../support/sip-socket.ts'
import { answersTo, headerOf } from '../support/sip-text.ts'
import { until } from '../support/until.ts'

describe.each(agents)('SIP transactions, by $name', (agent) => {
  const embedded = agent.server === undefined
  let gateway: Gateway
  let documents: DocumentServer
  /** Callee of `through.test`. */
  let destination = ''

  beforeAll(async () => {
    documents = await DocumentServer.open()
    const url = documents.put('/through', () =>
      JSON.stringify(script({ connect: { to: destination, answer_on_bridge: true } })),
    )
    gateway = await Gateway.start({
      agent,
      ipv6: true,
      sips: true,
      domains: [
        { ...application('talk.test', scripted('answer', { sleep: 60_000 })), allow: ['127.0.0.0/8', '::1'] },
        application('through.test', { kind: 'script', url }),
      ],
    })
  })

  afterAll(async () => {
    await gateway?.stop()
    await documents?.close()
  })

  const calls = (scenario: string, options: Partial<IncomingOptions> = {}): Promise<Carrier> =>
    Carrier.calls(gateway, { domain: 'talk.test', scenario, ...options })

  const ended = async (...carriers: readonly Carrier[]): Promise<void> => {
    for (const carrier of carriers) await carrier.done()
    await gateway.settled()
  }

  it('a 200 to an INVITE is retransmitted until its ACK arrives', async () => {
    const carrier = await calls('call-slow-ack', { holdMs: 'manual' })
    const sent = () => answersTo(carrier.sipp.received('SIP/2.0 200'), 1, 'INVITE').length
    // Sent at once, and again after 0.5 and 1.5 s.
    await until('the 200 has come three times', sent, (count) => count === 3)
    await carrier.goesOn()
    await ended(carrier)
    expect(sent()).toBe(3)
  })

  describe('a CANCEL that crosses the 200', () => {
    it.runIf(agent.capabilities.handlesLateCancel)(
      'of a caller has no effect: the call lasts until the BYE',
      async () => {
        const carrier = await calls('call-cancels-late')
        await ended(carrier)
        expect(await gateway.record(carrier.callId)).toMatchObject({ code: 'normal', by: 'far' })
      },
    )

    it('to a carrier makes the gateway acknowledge the late answer and hang up', async () => {
      const callee = await Carrier.listens({ scenario: 'callee-answers-cancel' })
      destination = callee.uri
      const caller = await calls('caller-cancels', { domain: 'through.test', holdMs: 'manual' })
      await callee.sipp.event('invited')
      await caller.sipp.event('ringing')
      await caller.goesOn()
      await callee.sipp.event('bye')
      expect(callee.sipp.received('ACK')).toHaveLength(1)
      await ended(caller, callee)
      expect(await gateway.record(caller.callId)).toMatchObject({ code: 'canceled', by: 'far' })
    })
  })

  /** Common fields of the requests of one call. */
  const named = (callId: string) => ({ uri: 'sip:1@talk.test', callId, fromTag: `${callId}-tag` })

  /** Returns the final statuses of the answers to a method. */
  const statuses = ({ answers }: SipSocket, method: string): number[] =>
    answers
      .filter((answer) => headerOf(answer, 'CSeq')?.endsWith(method))
      .map(statusOf)
      .filter((status) => status >= 200)

  it('a BYE during a pending re-INVITE ends the call', async () => {
    const socket = await SipSocket.udp(gateway.sipPort)
    const call = named('bye-crosses')
    const answer = await socket.ask({ ...call, ...offer(), method: 'INVITE' })
    const toTag = /tag=(.*)$/.exec(headerOf(answer, 'To') ?? '')?.[1] ?? ''
    socket.raw(socket.text({ ...call, method: 'ACK', toTag }))
    const again = socket.text({ ...call, ...offer(2), method: 'INVITE', cseq: '2', toTag })
    socket.raw(again)
    socket.raw(socket.text({ ...call, method: 'BYE', cseq: '3', toTag }))
    await until(
      'the BYE is answered',
      () => statuses(socket, 'BYE'),
      (found) => found.includes(200),
    )
    await until(
      'the re-INVITE is answered',
      () => statuses(socket, '2 INVITE'),
      (found) => found.length > 0,
    )
    if (statuses(socket, '2 INVITE')[0] === 200)
      socket.raw(socket.text({ ...call, method: 'ACK', cseq: '2', toTag }))
    await gateway.settled()
    expect(await gateway.record(call.callId)).toMatchObject({ code: 'normal', by: 'far' })
  })

  it.runIf(embedded)(
    'a merged INVITE (same Call-ID, two branches) makes one call, and gets 482 for the second branch',
    async () => {
      const before = await gateway.metric('calls_ended_total')
      const socket = await SipSocket.udp(gateway.sipPort)
      const call = named('merged')
      for (const branch of ['z9hG4bK-one', 'z9hG4bK-two'])
        socket.raw(socket.text({ ...call, ...offer(), method: 'INVITE', branch }))
      const both = () => statuses(socket, 'INVITE').sort()
      await until('both are answered', both, (found) => found.includes(482) && found.includes(200))
      const answer = socket.answers.find((text) => statusOf(text) === 200) ?? ''
      const toTag = /tag=(.*)$/m.exec(headerOf(answer, 'To') ?? '')?.[1] ?? ''
      socket.raw(socket.text({ ...call, method: 'ACK', toTag }))
      await socket.ask({ ...call, method: 'BYE', cseq: '2', toTag })
      await gateway.settled()
      expect(await gateway.metric('calls_ended_total')).toBe(before + 1)
    },
  )

  it('a call with Max-Forwards 1 reaches a carrier with Max-Forwards 0', async () => {
    const callee = await Carrier.listens({ scenario: 'callee' })
    destination = callee.uri
    await ended(await calls('call', { domain: 'through.test', values: { hops: 1 } }), callee)
    expect(headerOf(callee.sipp.received('INVITE')[0] ?? '', 'Max-Forwards')).toBe('0')
  })

  // A drachtio-server refuses a call with Max-Forwards 0 before it asks an application.
  describe.runIf(embedded)('a call with Max-Forwards 0', () => {
    it('can be answered by a handler', async () => {
      await ended(await calls('call', { values: { hops: 0 } }))
    })

    it('cannot be connected to a carrier, and gets 483', async () => {
      destination = 'sip:desk@127.0.0.1:9'
      await ended(await calls('call-refused', { domain: 'through.test', values: { hops: 0, status: 483 } }))
      expect(await gateway.refusal('too_many_hops')).toMatchObject({ maxForwards: -1 })
    })
  })

  describe('a request outside of calls', () => {
    const uri = 'sip:1@talk.test'

    it.each(['BYE', 'CANCEL', 'INFO', 'UPDATE', 'INVITE'])(
      'gets 481 with an unknown To tag: %s',
      async (method) => {
        const socket = await SipSocket.udp(gateway.sipPort)
        const answer = await socket.ask({ method, uri, toTag: 'gone' })
        expect(statusOf(answer)).toBe(481)
        await gateway.settled()
      },
    )

    it('gets no response if it is an ACK', async () => {
      const socket = await SipSocket.udp(gateway.sipPort)
      socket.raw(socket.text({ method: 'ACK', uri, toTag: 'gone' }))
      expect(statusOf(await socket.ask({ method: 'OPTIONS', uri }))).toBe(200)
      expect(socket.answers).toHaveLength(1)
    })

    // A drachtio-server does not answer REFER outside of calls, nor unknown methods.
    it.each(['MESSAGE', 'PUBLISH', 'REGISTER', 'SUBSCRIBE', ...(embedded ? ['REFER'] : [])])(
      'gets 405 with Allow for an unsupported method: %s',
      async (method) => {
        const socket = await SipSocket.udp(gateway.sipPort)
        const answer = await socket.ask({ method, uri })
        expect(statusOf(answer)).toBe(405)
        expect(headerOf(answer, 'Allow')).toContain('INVITE')
      },
    )

    it.runIf(embedded)('gets 405 or 501 for an unknown method', async () => {
      const socket = await SipSocket.udp(gateway.sipPort)
      expect([405, 501]).toContain(statusOf(await socket.ask({ method: 'DANCE', uri })))
    })
  })

  describe.runIf(embedded)('a malformed message', () => {
    const uri = 'sip:1@talk.test'

    it.each([
      ['a CSeq of another method', (text: string) => text.replace('1 INVITE', '1 OPTIONS')],
      ['no Call-ID', (text: string) => text.replace(/Call-ID: .*\r\n/, '')],
      ['a Content-Length beyond the message', (text: string) => text.replace('Length: 0', 'Length: 50')],
      ['no From', (text: string) => text.replace(/From: .*\r\n/, '')],
      ['an invalid request-URI', (text: string) => text.replace(uri, 'sip:[::')],
    ])('gets 400 for %s', async (_, break_) => {
      const socket = await SipSocket.udp(gateway.sipPort)
      const text = socket.text({ method: 'INVITE', uri })
      expect(statusOf(await socket.askText(break_(text)))).toBe(400)
    })

    it('without any SIP gets no response, and the next request is answered', async () => {
      const socket = await SipSocket.udp(gateway.sipPort)
      socket.raw('\0\0\0 rubbish')
      expect(statusOf(await socket.ask({ method: 'OPTIONS', uri }))).toBe(200)
      expect(socket.answers).toHaveLength(1)
    })
  })

  describe('a call over another transport', () => {
    it('works over TCP', async () => {
      await ended(await calls('call', { transport: 'tcp' }))
    })

    it.runIf(embedded)('works over IPv6', async () => {
      const carrier = await calls('call', { address: '::1' })
      await ended(carrier)
      expect(await gateway.record(carrier.callId)).toMatchObject({ source: '::1' })
    })

    // Debian's SIPp has no TLS.
    it.runIf(embedded)('works over TLS', async () => {
      const socket = await SipSocket.stream(gateway.sipsPort, 'TLS')
      const answer = await socket.ask({ method: 'OPTIONS', uri: 'sip:1@talk.test' })
      expect(statusOf(answer)).toBe(200)
      expect(headerOf(answer, 'Via')).toContain('SIP/2.0/TLS')
    })
  })

  it('no call or connection is left after all tests', async () => {
    await gateway.settled()
    await until(
      'no connection is left',
      () => gateway.metric('sip_connections'),
      (count) => count === 0,
    )
  })
})
