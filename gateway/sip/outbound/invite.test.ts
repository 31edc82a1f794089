import { expect, it } from 'vitest'
import type { Leg } from '../../calls/leg/leg.ts'
import { carrierSdp } from '../testing/bench.ts'
import { FakeDialog, farResponse } from '../testing/fake-srf.ts'
import { OutboundRig, PlacedInvite } from '../testing/outbound-rig.ts'
import { testCarrier } from '../testing/test-carrier.ts'

type Step = 'taken' | 'ringing' | 'early media' | 'challenged' | 'answered' | 'refused' | 'hang up'

/** Actions of a peer in order; the gateway's hang-up may fall anywhere in between. */
const courses: readonly (readonly Step[])[] = [
  ['taken', 'answered'],
  ['taken', 'refused'],
  ['taken', 'ringing', 'answered'],
  ['taken', 'ringing', 'refused'],
  ['taken', 'early media', 'answered'],
  ['taken', 'ringing', 'early media', 'refused'],
  ['taken', 'challenged', 'taken', 'answered'],
  ['taken', 'challenged', 'taken', 'ringing', 'refused'],
]

const orders = courses.flatMap((course) =>
  Array.from({ length: course.length + 1 }, (_, at) => {
    const steps: Step[] = [...course.slice(0, at), 'hang up', ...course.slice(at)]
    return [steps.join(', '), steps] as const
  }),
)

/** Plays the peer of a call and the hang-up, and records the gateway's requests. */
class Play {
  readonly rig = new OutboundRig([testCarrier({ auth: { username: 'u', password: 'p' } })])
  readonly dialogs: FakeDialog[] = []
  #invite: PlacedInvite | undefined
  #leg: Leg | undefined

  async run(steps: readonly Step[]): Promise<Leg> {
    const { leg } = await this.rig.dial('sip:1@carrier.example')
    this.#leg = leg
    for (const step of steps) this.#step(step)
    return leg
  }

  #step(step: Step): void {
    const { rig } = this
    if (step === 'hang up') {
      this.#leg?.end({ code: 'canceled' })
      return
    }
    if (step === 'taken') {
      // After the CANCEL no further INVITE is sent.
      const uac = rig.srf.invites.at(-1)
      if (uac && uac !== this.#invite?.uac) this.#invite = new PlacedInvite(uac).taken()
      return
    }
    const invite = this.#invite!
    if (step === 'ringing') invite.provisional(180)
    if (step === 'early media') invite.provisional(183, carrierSdp())
    if (step === 'challenged') invite.refuse(401, { 'WWW-Authenticate': 'Digest realm="r", nonce="n"' })
    if (step === 'answered') this.dialogs.push(invite.answer(carrierSdp({ address: '192.0.2.9' })))
    if (step === 'refused') invite.refuse(487)
  }
}

it.each(orders)('%s leaves nothing open and no callee ringing', async (_name, steps) => {
  const play = new Play()
  const leg = await play.run(steps)
  const { rig, dialogs } = play
  expect(leg.isEnded).toBe(true)
  // Every answered dialog is hung up once, whichever event came first. With credentials, a BYE is sent as a
  // request.
  for (const { byes, requests } of dialogs) {
    expect([...byes, ...requests]).toHaveLength(1)
    for (const bye of byes) bye()
    for (const { reply } of requests) reply(200)
  }
  // The wait for missing messages ends.
  rig.clock.advance(40_000)
  expect(rig.left).toEqual([0, 0, 0, 0])
  expect(leg.attempts).toHaveLength(1)
})

it('a final response that cannot be handled ends the wait', async () => {
  const rig = new OutboundRig([testCarrier({ auth: { username: 'u', password: 'p' } })])
  const { leg } = await rig.dial('sip:1@carrier.example')
  const uac = rig.srf.invites[0]!
  new PlacedInvite(uac).taken()
  const res = {
    ...farResponse(401),
    get: () => {
      throw new Error('no such hash')
    },
  }
  uac.settle({ status: 401, res })
  expect(leg.state).toMatchObject({ cause: { code: 'unreachable', detail: 'Error: no such hash' } })
  expect(rig.left).toEqual([0, 0, 0, 0])
})

it('an answer that creates no dialog is hung up', async () => {
  const rig = new OutboundRig([testCarrier()])
  const { leg } = await rig.dial('sip:1@carrier.example')
  const dialog = new FakeDialog(carrierSdp({ address: '192.0.2.9' }))
  dialog.on = () => {
    throw new Error('no such event')
  }
  rig.next().uac.settle(null, dialog)
  expect(leg.state).toMatchObject({ kind: 'ended', cause: { code: 'internal' } })
  expect(dialog.byeHeaders).toEqual([{ Reason: expect.stringContaining('cause=') }])
  expect(rig.left).toEqual([0, 0, 0, 0])
})

it.each([undefined, 500])(
  'no further target is tried after a 200 that drachtio-srf reports as %s',
  async (status) => {
    const rig = new OutboundRig([testCarrier({ targets: ['sip:a.example', 'sip:b.example'] })])
    const { leg } = await rig.dial('sip:1@a.example')
    const invite = rig.next()
    const res = farResponse(200, carrierSdp())
    invite.request.emit('response', res, () => {})
    invite.uac.settle({ message: 'no Contact', ...(status && { status, res }) })
    expect([leg.isEnded, rig.waiting]).toEqual([true, 0])
    expect(leg.state).toMatchObject({ cause: { code: 'far_refused', detail: '200 no Contact' } })
  },
)
