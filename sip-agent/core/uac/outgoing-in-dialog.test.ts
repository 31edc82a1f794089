import { describe, expect, it } from 'vitest'
import type { SipRequest } from '../../message/message.ts'
import type { Far } from '../../testing/client.ts'
import { ClientCall as Call } from '../../testing/client-call.ts'

const sdp = 'v=0\r\n'
const noDialog = 'Server error: unable to find dialog for dialog id provided'

describe('a PRACK', () => {
  const reliable = (rseq: number) => ({ Require: '100rel', RSeq: String(rseq) })

  it('that acknowledges no response is rejected, so that no fork gets another fork’s PRACK', () => {
    const call = new Call()
    expect(call.ask('PRACK', { RAck: '1 1 INVITE' })).toMatchObject({ said: 'NOK', why: noDialog })
    call.answer(183, reliable(1), 'one')
    expect(call.ask('PRACK', { RAck: '2 1 INVITE' }).said).toBe('NOK')
    expect(call.ask('PRACK').said).toBe('NOK')
    expect(call.ask('PRACK', { RAck: '1 1 INVITE' }).sent?.toTag).toBe('one')
    expect(call.ask('PRACK', { RAck: '1 1 INVITE' }).said).toBe('NOK')
    call.answer(486)
    call.end()
  })

  it('with an error of the application can be sent again correctly', () => {
    const call = new Call()
    call.answer(183, reliable(1), 'one')
    const rack = { RAck: '1 1 INVITE' }
    expect(call.ask('PRACK', rack, 'no sdp')).toMatchObject({ said: 'NOK', why: 'missing content-type' })
    expect(call.ask('PRACK', { ...rack, Contact: '<sip:x@' }).said).toBe('NOK')
    expect(call.ask('PRACK', rack).sent?.toTag).toBe('one')
    expect(call.ask('PRACK', rack).said).toBe('NOK')
    call.answer(486)
    call.end()
  })

  it('can follow the 2xx, but only for its own fork', () => {
    const call = new Call()
    call.answer(183, reliable(1), 'lost')
    call.answer(183, reliable(5), 't')
    call.up()
    expect(call.ask('PRACK', { RAck: '5 1 INVITE' }).sent?.toTag).toBe('t')
    expect(call.ask('PRACK', { RAck: '1 1 INVITE' })).toMatchObject({ said: 'NOK', why: noDialog })
    call.hangUp()
  })

  it('of a re-INVITE has its own count of responses', () => {
    const call = new Call()
    call.answer(183, reliable(5))
    call.ask('PRACK', { RAck: '5 1 INVITE' })
    call.up()
    const { sent } = call.ask('INVITE', {}, sdp)
    if (!sent) throw new Error('no re-INVITE')
    call.far.answer(sent, 183, reliable(40))
    call.far.answer(sent, 183, reliable(40))
    expect(call.statuses()).toEqual(['183'])
    expect(call.ask('PRACK', { RAck: `40 ${sent.seq} INVITE` }).sent?.seq).toBe(sent.seq + 1)
    call.far.answer(sent, 200, {}, sdp)
    expect(call.ask('ACK').sent?.seq).toBe(sent.seq)
    call.hangUp()
  })

  it('for a response number is sent once, even after a gap', () => {
    const call = new Call()
    for (const rseq of [3, 3, 5, 2, 4, 4, 5]) call.answer(183, reliable(rseq))
    expect(call.statuses()).toEqual(['183', '183', '183'])
    call.answer(486)
    call.end()
  })
})

describe('a BYE in an early dialog (RFC 3261 15)', () => {
  it.each([200, 487])('ends it; the %i to the INVITE is acknowledged and delivered', (status) => {
    const call = new Call()
    call.answer(180)
    const { sent } = call.ask('BYE')
    expect(sent?.toTag).toBe('t')
    if (sent) call.far.answer(sent, 200)
    call.answer(status, {}, 't', status === 200 ? sdp : '')
    expect(call.statuses()).toEqual(['200', String(status)])
    expect(call.far.take().map((each) => each.method)).toEqual(['ACK'])
    call.end()
  })
})

describe('an answer whose dialog ends before the ACK of the application', () => {
  it('is acknowledged when it is retransmitted', () => {
    const call = new Call()
    call.answer(200, {}, 't', sdp)
    const [dialog] = call.bench.dialogs.of(call.bench.app)
    // The far end hangs up at once.
    if (dialog) call.bench.dialogs.remove(dialog)
    expect(call.ask('ACK')).toMatchObject({ said: 'NOK', sent: undefined })
    call.answer(200, {}, 't', sdp)
    call.answer(200, {}, 't', sdp)
    expect(call.far.take().map((each) => each.method)).toEqual(['ACK', 'ACK'])
    call.end()
  })
})

describe('a request in a call with a route set', () => {
  const route = { 'Record-Route': '<sip:proxy.example;lr>' }
  const places = ['192.0.2.11', '192.0.2.12']

  it('is sent to the next hop of the route if the first is unreachable', () => {
    const call = new Call(places).up(route)
    const [first, second] = call.bench.fars
    if (first) first.dead = true
    call.bench.within(call.id, 'BYE')
    call.bench.clock.advance(0)
    const [bye] = second?.take() ?? []
    expect([bye?.method, bye?.headers.first('route')]).toEqual(['BYE', '<sip:proxy.example;lr>'])
    if (bye) second?.answer(bye, 200)
    expect(call.statuses()).toEqual(['200'])
    call.end()
  })

  it('is not sent to another hop after a 503', () => {
    const call = new Call(places).up(route)
    const { sent } = call.ask('INFO')
    if (sent) call.far.answer(sent, 503)
    expect(call.statuses()).toEqual(['503'])
    expect(call.bench.fars[1]?.take()).toEqual([])
    call.hangUp()
  })

  it('is sent back to the peer’s source if the route is unreachable', () => {
    const call = new Call().up(route)
    call.bench.fars.splice(0)
    const { sent } = call.ask('BYE')
    expect(sent?.method).toBe('BYE')
    if (sent) call.far.answer(sent, 200)
    call.end()
  })
})

describe('offers in a call', () => {
  const glare = (call: Call) => call.bench.dialogs.byId(call.id)?.offers.refusal

  it('block the peer’s offers while an offer of the agent is pending in any method', () => {
    const call = new Call().up()
    expect(glare(call)).toBeUndefined()
    for (const [method, status, body] of [
      ['UPDATE', 200, sdp],
      ['UPDATE', 488, ''],
      ['UPDATE', 200, ''],
    ] as const) {
      const { sent } = call.ask(method, {}, sdp)
      expect(glare(call)).toBe(491)
      if (sent) call.far.answer(sent, status, {}, body)
      expect(glare(call)).toBeUndefined()
    }
    call.hangUp()
  })

  it('of a re-INVITE without SDP are pending for the peer until the ACK', () => {
    const call = new Call().up()
    const { sent } = call.ask('INVITE')
    expect(glare(call)).toBeUndefined()
    if (sent) call.far.answer(sent, 200, {}, sdp)
    expect(glare(call)).toBe(500)
    call.ask('ACK', {}, sdp)
    expect(glare(call)).toBeUndefined()
    call.hangUp()
  })

  it('of a rejected re-INVITE are no longer pending', () => {
    const call = new Call().up()
    const { sent } = call.ask('INVITE', {}, sdp)
    expect(glare(call)).toBe(491)
    if (sent) call.far.answer(sent, 488)
    expect(glare(call)).toBeUndefined()
    call.hangUp()
  })

  it('of an INVITE without SDP are in the first reliable response, and are answered in the PRACK', () => {
    const call = new Call(['192.0.2.11'], '')
    call.answer(183, {}, 't', sdp)
    expect(glare(call)).toBeUndefined()
    call.answer(183, { Require: '100rel', RSeq: '1' }, 't', sdp)
    expect(glare(call)).toBe(500)
    call.ask('PRACK', { RAck: '1 1 INVITE' }, sdp)
    expect(glare(call)).toBeUndefined()
    call.up()
    expect(glare(call)).toBeUndefined()
    call.hangUp()
  })
})

it('a far end cannot direct requests to a service of this machine by its Record-Route', () => {
  const call = new Call(['192.0.2.11', '127.0.0.1']).up({
    'Record-Route': '<sip:127.0.0.1:6379;transport=tcp;lr>',
  })
  const [far, inside] = call.bench.fars
  call.bench.fars.reverse()
  const { sent } = call.ask('BYE')
  expect([sent?.method, inside?.take()]).toEqual(['BYE', []])
  far?.answer(sent as SipRequest, 200)
  call.end()
})

it('a route to this machine is accepted if the far end is also on this machine', () => {
  const call = new Call(['127.0.0.2', '127.0.0.1']).up({ 'Record-Route': '<sip:127.0.0.1;lr>' })
  const [, proxy] = call.bench.fars
  call.bench.fars.reverse()
  expect(call.ask('BYE').sent).toBeUndefined()
  const [bye] = (proxy as Far).take()
  proxy?.answer(bye as SipRequest, 200)
  call.end()
})

it('a far end that answers with many tags gets a limited number of ACKs and BYEs', () => {
  const call = new Call()
  for (let i = 0; i < 100; i++) call.answer(180, {}, `e${i}`)
  for (let i = 0; i < 200; i++) call.answer(200, {}, `t${i}`)
  const methods = call.far.take().map(({ method }) => method)
  expect(methods.filter((each) => each === 'BYE')).toHaveLength(31)
  expect(call.statuses().filter((each) => each === '200')).toEqual(['200'])
  call.bench.within(call.id, 'ACK')
  call.far.take()
  call.hangUp()
  call.end()
})
