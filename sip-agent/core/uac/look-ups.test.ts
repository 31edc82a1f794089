import { describe, expect, it } from 'vitest'
import type { SipRequest } from '../../message/message.ts'
import { ClientCall as Call } from '../../testing/client-call.ts'

const sdp = 'v=0\r\n'
const noDialog = 'Server error: unable to find dialog for dialog id provided'

describe('a request whose host name is looked up', () => {
  const route = { 'Record-Route': '<sip:proxy.example;lr>' }
  const said = (call: Call) => call.bench.received().map(({ fields }) => [fields[2], fields[3]])

  it('is not sent if the call has ended meanwhile, and the application is notified', () => {
    const call = new Call().up(route)
    call.bench.looking = true
    call.bench.within(call.id, 'INFO')
    const [dialog] = call.bench.dialogs.of(call.bench.app)
    if (dialog) call.bench.dialogs.remove(dialog)
    call.bench.found()
    expect([said(call), call.far.take()]).toEqual([[['NOK', noDialog]], []])
    call.end()
  })

  it('is not sent if it is the second of two INVITEs', () => {
    const call = new Call().up(route)
    call.bench.looking = true
    call.bench.within(call.id, 'INVITE', {}, sdp)
    call.bench.within(call.id, 'INVITE', {}, sdp)
    call.bench.found()
    expect(said(call).map(([word]) => word)).toEqual(['OK', 'NOK'])
    const [sent, ...more] = call.far.take()
    expect(more).toEqual([])
    call.far.answer(sent as SipRequest, 488)
    call.hangUp()
  })

  it('that is an ACK with a malformed header is reported, and the application can send another one', () => {
    const call = new Call()
    call.answer(200, route, 't', sdp)
    call.bench.received()
    call.bench.looking = true
    call.bench.within(call.id, 'ACK', { Contact: 'localhost" <' })
    call.bench.found()
    expect([said(call).map(([word]) => word), call.far.take()]).toEqual([['NOK'], []])
    expect(call.ask('ACK').sent?.method).toBe('ACK')
    call.hangUp()
  })

  it('that is an ACK with a malformed header ends the call if no other ACK follows', () => {
    const call = new Call()
    call.answer(200, route, 't', sdp)
    call.bench.looking = true
    call.bench.within(call.id, 'ACK', { Contact: 'localhost" <' })
    call.bench.found()
    call.bench.clock.advance(32_000)
    expect(call.far.take().map(({ method }) => method)).toContain('BYE')
    call.end()
  })
})
