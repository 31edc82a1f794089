import { describe, expect, it } from 'vitest'
import { ClientBench, type Far } from '../../testing/client.ts'
import { nothing } from '../../testing/core.ts'

const sdp = 'v=0\r\n'
const hour = 3_600_000
/** The status lines of the responses that the application was handed. */
const statuses = (bench: ClientBench) =>
  bench
    .received()
    .filter(({ fields, text }) => fields[0] === 'sip' && text.startsWith('SIP/2.0'))
    .map(({ text }) => Number(text.slice(8, 11)))
const one = (far: Far | undefined, method: string) => {
  const requests = far?.take() ?? []
  expect(requests.map((each) => each.method)).toContain(method)
  return requests.find((each) => each.method === method)!
}
const start = (places: readonly string[], method = 'INVITE') => {
  const bench = new ClientBench(places)
  return { bench, fars: bench.fars, begin: () => bench.request(method, {}, method === 'INVITE' ? sdp : '') }
}
const three = ['192.0.2.11', '192.0.2.12', '192.0.2.13']
const ended = (bench: ClientBench) => {
  bench.clock.advance(hour)
  expect(bench.held()).toEqual(nothing)
}

describe.each(['INVITE', 'OPTIONS'])('a new %s', (method) => {
  it('that cannot be sent goes to the next hop, unchanged except for its branch', () => {
    const { bench, fars, begin } = start(three, method)
    if (fars[0]) fars[0].dead = true
    begin()
    const [ok, ...more] = bench.received()
    expect([ok?.fields[2], more.length]).toEqual(['OK', 0])
    bench.clock.advance(0)
    const second = one(fars[1], method)
    const branch = /branch=([^;]+)/.exec(ok?.text ?? '')?.[1]
    expect(ok?.text.replaceAll(branch ?? '', '')).toBe(
      `${method} ${second.uri} SIP/2.0\r\n${second.headers
        .list()
        .map(({ name, value }) => `${name}: ${value.replace(second.via.branch, '')}\r\n`)
        .join('')}\r\n${second.body}`,
    )
    expect(second.via.branch).not.toBe(branch)
    fars[1]?.answer(second, 404)
    expect(statuses(bench)).toEqual([404])
    expect(bench.failed).toEqual(['192.0.2.11'])
    expect(fars[2]?.take()).toEqual([])
    ended(bench)
  })

  it('without an answer goes to the next hop after 32 s, and finally ends in one 408', () => {
    const { bench, fars, begin } = start(three, method)
    begin()
    bench.clock.advance(31_999)
    expect(fars[1]?.take()).toEqual([])
    bench.clock.advance(1)
    one(fars[1], method)
    bench.clock.advance(64_000)
    expect(statuses(bench)).toEqual([408])
    expect(bench.failed).toEqual(three)
    ended(bench)
  })

  it('that is answered with 503 goes to the next hop; the last 503 is delivered', () => {
    const { bench, fars, begin } = start(three, method)
    begin()
    for (const far of fars) far.answer(one(far, method), 503)
    expect(statuses(bench)).toEqual([503])
    // A 503 is an answer: the place is there.
    expect(bench.failed).toEqual([])
    const acks = fars.map((far) => far.take().map((each) => each.method))
    expect(acks).toEqual(method === 'INVITE' ? [['ACK'], ['ACK'], ['ACK']] : [[], [], []])
    ended(bench)
  })

  it('with any other answer is not sent to another hop', () => {
    for (const status of [500, 486, 603, 302]) {
      const { bench, fars, begin } = start(three, method)
      begin()
      fars[0]?.answer(one(fars[0], method), status)
      expect(statuses(bench)).toEqual([status])
      expect(fars[1]?.take()).toEqual([])
      ended(bench)
    }
  })

  it('that has no reachable hop ends in one 503, after its acceptance by the agent', () => {
    const { bench, begin } = start([], method)
    begin()
    expect(bench.received().map(({ fields }) => fields[2])).toEqual(['OK'])
    return Promise.resolve().then(() => {
      expect(statuses(bench)).toEqual([503])
      ended(bench)
    })
  })

  it('that fails at every hop ends in one 503', () => {
    const { bench, fars, begin } = start(three, method)
    for (const far of fars) far.dead = true
    begin()
    expect(bench.received()).toHaveLength(1)
    bench.clock.advance(0)
    expect(statuses(bench)).toEqual([503])
    ended(bench)
  })
})

describe('an INVITE', () => {
  it('that has rung is not sent to another hop', () => {
    const { bench, fars, begin } = start(three)
    begin()
    const invite = one(fars[0], 'INVITE')
    fars[0]?.answer(invite, 180)
    fars[0]?.answer(invite, 503)
    expect(statuses(bench)).toEqual([180, 503])
    expect(fars[1]?.take()).toEqual([])
    ended(bench)
  })

  it('that got a 100 goes to the next hop after a 503, and CANCEL and ACK go to the current hop', () => {
    const { bench, fars, begin } = start(three)
    begin()
    const txnId = bench.received()[0]?.fields[9] ?? ''
    const first = one(fars[0], 'INVITE')
    fars[0]?.answer(first, 100)
    fars[0]?.answer(first, 503)
    expect(one(fars[0], 'ACK').via.branch).toBe(first.via.branch)
    const second = one(fars[1], 'INVITE')
    fars[1]?.answer(second, 180)
    bench.cancel(txnId)
    const cancel = one(fars[1], 'CANCEL')
    expect(cancel.via.branch).toBe(second.via.branch)
    fars[1]?.answer(cancel, 200)
    fars[1]?.answer(second, 487)
    expect(one(fars[1], 'ACK').via.branch).toBe(second.via.branch)
    expect([fars[0]?.take(), statuses(bench)]).toEqual([[], [180, 487]])
    ended(bench)
  })

  it('that went to the next hop is not cancelled before that hop has answered (RFC 3261 9.1)', () => {
    const { bench, fars, begin } = start(three)
    begin()
    const first = one(fars[0], 'INVITE')
    fars[0]?.answer(first, 100)
    fars[0]?.answer(first, 503)
    const second = one(fars[1], 'INVITE')
    bench.cancel(bench.received()[0]?.fields[9] ?? '')
    expect(fars[1]?.take()).toEqual([])
    fars[1]?.answer(second, 180)
    expect(one(fars[1], 'CANCEL').via.branch).toBe(second.via.branch)
    fars[1]?.answer(second, 487)
    expect(statuses(bench)).toEqual([180, 487])
    ended(bench)
  })

  it.each(['timeout', 'transport', '503'])('that is cancelled goes to no other hop: %s', (why) => {
    const { bench, fars, begin } = start(three)
    if (why === 'transport' && fars[0]) fars[0].dead = true
    begin()
    bench.cancel(bench.received()[0]?.fields[9] ?? '')
    if (why === '503') fars[0]?.answer(one(fars[0], 'INVITE'), 503)
    bench.clock.advance(32_000)
    expect(fars[1]?.take()).toEqual([])
    expect(statuses(bench)).toEqual([why === '503' ? 503 : 487])
    ended(bench)
  })

  it('has the local address in Contact, and the same caller in From', () => {
    const { bench, fars, begin } = start(['192.0.2.11', 'tcp:192.0.2.12'])
    begin()
    const first = one(fars[0], 'INVITE')
    fars[0]?.answer(first, 503)
    const second = one(fars[1], 'INVITE')
    expect(second.headers.first('contact')).toBe('<sip:192.0.2.1:5061;transport=tcp>')
    expect(second.headers.first('via')).toContain('SIP/2.0/TCP 192.0.2.1:5061')
    expect(second.headers.first('from')).toBe(first.headers.first('from'))
    fars[1]?.answer(second, 404)
    ended(bench)
  })

  it('that is too large for UDP selects its hops again (RFC 3261 18.1.1)', () => {
    const { bench, fars } = start(['192.0.2.11', 'tcp:192.0.2.12'])
    bench.fit = (hops, bytes) => (bytes > 1_300 ? [...hops].reverse() : hops)
    bench.request('INVITE', { 'X-Large': 'x'.repeat(1_300) }, sdp)
    expect(fars[0]?.take()).toEqual([])
    const invite = one(fars[1], 'INVITE')
    expect(bench.received()[0]?.text).toContain(`SIP/2.0/TCP 192.0.2.1:5061;branch=${invite.via.branch}`)
    fars[1]?.answer(invite, 404)
    ended(bench)
  })
})

describe('a ringing INVITE (timer C)', () => {
  it('is cancelled 185 s after the last provisional response other than 100', () => {
    const { bench, fars, begin } = start(['192.0.2.11'])
    begin()
    const invite = one(fars[0], 'INVITE')
    fars[0]?.answer(invite, 180)
    bench.clock.advance(184_000)
    fars[0]?.answer(invite, 180)
    bench.clock.advance(184_000)
    fars[0]?.answer(invite, 100)
    bench.clock.advance(999)
    expect(fars[0]?.take()).toEqual([])
    bench.clock.advance(1)
    one(fars[0], 'CANCEL')
    fars[0]?.answer(invite, 487)
    expect(statuses(bench)).toEqual([180, 180, 487])
    ended(bench)
  })
})

describe('an answered call without an ACK of the application', () => {
  it('is ended when its answer is no longer retransmitted', () => {
    const { bench, fars, begin } = start(['192.0.2.11'])
    begin()
    fars[0]?.answer(one(fars[0], 'INVITE'), 200, {}, sdp)
    bench.clock.advance(31_999)
    expect(fars[0]?.take()).toEqual([])
    bench.clock.advance(1)
    const bye = one(fars[0], 'BYE')
    expect(bye.headers.first('reason')).toContain('Not acknowledged')
    fars[0]?.answer(bye, 200)
    expect(bench.received().map(({ fields }) => fields[7])).toContain('unsolicited')
    ended(bench)
  })
})
