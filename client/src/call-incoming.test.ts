import { describe, expect, it } from 'vitest'
import type { Call } from './call.ts'
import { offerOf } from './testing/descriptions.ts'
import { type FakeBrowser, FakeStream, FakeTrack, settled } from './testing/fakes.ts'
import { incoming, released, setUp } from './testing/situations.ts'

const declined = { cause: 'CALL_REJECTED', causeCode: '21', dialogParams: { callID: 'c9' } }
const declines = (browser: FakeBrowser) =>
  browser.socket.requests('verto.bye').map(({ message }) => message.params)

describe('an incoming call', () => {
  it('has the details of the caller, and is active when the server has the answer', async () => {
    const { browser, invites } = await setUp()
    incoming(browser, 'c9', offerOf('audio'), { userVariables: { order: '42' } })
    incoming(browser)
    expect(invites).toHaveLength(1)
    const invite = invites[0]!
    expect(invite.details).toEqual({
      source: 'websocket',
      callID: 'c9',
      nodeId: 'n1',
      sdp: offerOf('audio'),
      caller_id_name: 'Carrier Caller',
      caller_id_number: '+15551230001',
      callee_id_name: 'Alice',
      callee_id_number: '/private/alice',
      display_direction: 'inbound',
      userVariables: { order: '42' },
    })
    const accepting = invite.accept()
    await settled()
    expect(browser.socket.requests('verto.answer')[0]).toMatchObject({
      params: { callID: 'c9', node_id: 'n1' },
      message: { params: { sdp: 'answer', dialogParams: { destination_number: 'room' } } },
    })
    browser.socket.reply('verto.answer', { code: '200' })
    browser.socket.verto('verto.answer', { callID: 'c9' })
    const call: Call = await accepting
    expect(call).toMatchObject({ id: 'c9', direction: 'inbound', state: 'active' })
    expect(invite.isPending).toBe(false)
    await expect(call.start()).rejects.toMatchObject({ code: 'bad_state' })
  })

  it('is rejected as declined', async () => {
    const { browser, invites } = await setUp()
    incoming(browser)
    const rejecting = invites[0]!.reject()
    expect(declines(browser)).toEqual([declined])
    browser.socket.reply('verto.bye')
    await rejecting
    await expect(invites[0]!.accept()).rejects.toMatchObject({ code: 'bad_state' })
  })

  it.each([
    ['ORIGINATOR_CANCEL', 'canceled'],
    ['LOSE_RACE', 'answered_elsewhere'],
  ])('that ends with %s while it rings is reported to the application', async (cause, code) => {
    const { browser, invites } = await setUp()
    incoming(browser)
    browser.socket.verto('verto.bye', { callID: 'c9', cause, causeCode: 0 })
    expect((await invites[0]!.canceled).code).toBe(code)
    expect(invites[0]!.isPending).toBe(false)
    await expect(invites[0]!.accept()).rejects.toMatchObject({ code: 'bad_state' })
    expect(browser.requested).toEqual([])
  })

  it('that the caller cancels during accept() rejects it', async () => {
    const { browser, invites } = await setUp()
    incoming(browser)
    const accepting = invites[0]!.accept()
    browser.socket.verto('verto.bye', { callID: 'c9', cause: 'ORIGINATOR_CANCEL', causeCode: 487 })
    await expect(accepting).rejects.toMatchObject({ code: 'canceled' })
    expect((await invites[0]!.canceled).code).toBe('canceled')
    await settled()
    released(browser)
    expect(browser.socket.requests('verto.answer')).toHaveLength(0)
  })

  it('rejected while the browser asks for the microphone is declined, and the microphone closes again', async () => {
    const { browser, invites } = await setUp()
    const asked = Promise.withResolvers<FakeStream>()
    browser.microphone = () => asked.promise
    incoming(browser)
    const [invite] = invites
    const accepting = invite!.accept()
    await settled()
    const rejecting = invite!.reject()
    await expect(accepting).rejects.toMatchObject({ code: 'declined' })
    await invite!.settled
    expect(declines(browser)).toEqual([declined])
    browser.socket.reply('verto.bye')
    await rejecting
    asked.resolve(new FakeStream([new FakeTrack('audio')]))
    await settled()
    released(browser)
    expect([browser.microphones.length, browser.socket.requests('verto.answer').length]).toEqual([1, 0])
    await expect(invite!.accept()).rejects.toMatchObject({ code: 'bad_state' })
    await expect(invite!.reject()).rejects.toMatchObject({ code: 'bad_state' })
  })

  it('rejected while its answer is on the way is declined once', async () => {
    const { browser, invites } = await setUp()
    incoming(browser)
    const accepting = invites[0]!.accept()
    await settled()
    const rejecting = invites[0]!.reject()
    await expect(accepting).rejects.toMatchObject({ code: 'declined' })
    browser.socket.reply('verto.answer')
    browser.socket.verto('verto.answer', { callID: 'c9' })
    browser.socket.reply('verto.bye')
    await rejecting
    expect(declines(browser)).toEqual([declined])
    released(browser)
  })

  it('rejected after it was accepted continues', async () => {
    const { browser, invites } = await setUp()
    incoming(browser)
    const accepting = invites[0]!.accept()
    await settled()
    browser.socket.reply('verto.answer')
    const call = await accepting
    await expect(invites[0]!.reject()).rejects.toMatchObject({ code: 'bad_state' })
    expect([call.active, declines(browser)]).toEqual([true, []])
  })

  it('can be rejected after the microphone was refused', async () => {
    const { browser, invites } = await setUp()
    browser.microphone = () => Promise.reject(new DOMException('no', 'NotAllowedError'))
    incoming(browser)
    await expect(invites[0]!.accept()).rejects.toMatchObject({ code: 'microphone_refused' })
    void invites[0]!.reject()
    expect(declines(browser)).toEqual([declined])
  })

  it('rings on when the microphone is refused, and can be accepted later', async () => {
    const { browser, invites } = await setUp()
    const open = browser.microphone
    browser.microphone = () => Promise.reject(new DOMException('no', 'NotAllowedError'))
    incoming(browser)
    await expect(invites[0]!.accept()).rejects.toMatchObject({ code: 'microphone_refused' })
    expect(invites[0]!.isPending).toBe(true)
    browser.microphone = open
    const accepting = invites[0]!.accept()
    await settled()
    browser.socket.reply('verto.answer')
    expect((await accepting).active).toBe(true)
  })

  it('ends when the server has lost the session', async () => {
    const { browser, invites } = await setUp()
    incoming(browser)
    browser.socket.drop()
    browser.clock.advance(500)
    browser.socket.welcome('signalwire_j_2_p')
    expect((await invites[0]!.canceled).code).toBe('session_lost')
  })

  it('ends when the server kept the session but lost the call', async () => {
    const { browser, invites } = await setUp()
    for (const id of ['c9', 'c10']) incoming(browser, id)
    browser.socket.drop()
    browser.clock.advance(500)
    browser.socket.welcome()
    browser.socket.reply('subscriber.calls', { code: '200', calls: ['c10'] })
    expect((await invites[0]!.canceled).code).toBe('session_lost')
    expect(invites.map(({ isPending }) => isPending)).toEqual([false, true])
  })

  it('rings for ten minutes at most, and longer only while it is being accepted', async () => {
    const { browser, invites } = await setUp()
    const asked = Promise.withResolvers<FakeStream>()
    browser.microphone = () => asked.promise
    for (const id of ['c9', 'c10']) incoming(browser, id)
    browser.socket.replyAll()
    const accepting = invites[1]!.accept()
    await settled()
    browser.clock.advance(599_999)
    expect(invites[0]!.isPending).toBe(true)
    browser.clock.advance(1)
    expect((await invites[0]!.canceled).code).toBe('no_answer')
    asked.resolve(new FakeStream([new FakeTrack('audio')]))
    await settled()
    browser.socket.reply('verto.answer')
    expect((await accepting).active).toBe(true)
  })
})
