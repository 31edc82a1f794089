import { afterEach, beforeEach, expect, it } from 'vitest'
import { settled, talking } from './testing/call-setup.ts'
import { SubscriberTestGateway } from './testing/subscriber-test-gateway.ts'

let gateway: SubscriberTestGateway

beforeEach(async () => {
  gateway = await SubscriberTestGateway.start()
})
afterEach(() => gateway.close())

it('requests of a page do not reach calls of other subscribers, ringing or not', async () => {
  const alice = await talking(gateway)
  const ringing = await gateway.online('alice')
  const invited = gateway.call('alice')
  await ringing.message('verto.invite')
  const before = [...alice.owner.reports]
  const bob = await gateway.online('bob')
  for (const id of ['c1', invited.leg.id]) {
    const self = { ...alice.self, call_id: id }
    await bob.verto('verto.info', id, { dtmf: '1' })
    await bob.verto('verto.modify', id, { action: 'hold' })
    await bob.verto('verto.modify', id, { action: 'updateMedia', sdp: 'theirs' })
    await bob.verto('verto.subscribe', id, { sessid: id })
    await bob.verto('verto.answer', id, { sdp: 'theirs' })
    await bob.verto('verto.bye', id)
    for (const method of ['call.mute', 'call.member.list', 'call.member.remove', 'call.lock', 'call.end'])
      expect(await bob.ask(method, { self, target: self })).toMatchObject({ code: '404' })
    // A screen share for the call, too.
    const userVariables = { memberCallId: id, memberId: alice.self.member_id }
    await bob.dial(`screen of ${id}`, '/public/bob', 'screen', { screenShare: true, userVariables })
  }
  await settled(alice.page, ringing, bob)
  // Each call cannot be changed, attached to or answered, and the screen share is rejected.
  expect(bob.story).toEqual(Array(10).fill('verto.bye'))
  expect(alice.owner.reports).toEqual(before)
  expect([alice.leg.isHeld, invited.leg.state.kind]).toEqual([false, 'early'])
  expect(ringing.story).toEqual(['verto.invite'])
  expect(gateway.webrtc.sources).toEqual([])
})

it('a page that dials under the call id of another page has a call of its own', async () => {
  const alice = await talking(gateway)
  const bob = await gateway.signedIn('bob')
  await bob.dial('c1', '/public/alice', 'theirs', { attach: true, reattaching: true })
  await bob.event('call.state')
  expect(gateway.arrivals.arrived).toHaveLength(2)
  await bob.verto('verto.bye', 'c1')
  expect(await bob.event('call.state')).toMatchObject({ call_state: 'ended' })
  expect(alice.leg.isAnswered).toBe(true)
})
