import pino from 'pino'
import { newLegId } from '../../calls/call/ids.ts'
import { Leg } from '../../calls/leg/leg.ts'
import { FakeClock } from '../../core/clock.ts'
import { InboundLeg, type InboundLegDeps } from '../inbound/inbound-leg.ts'
import { LegMedia } from '../media/leg-media.ts'
import { readSdp } from '../sdp/read-sdp.ts'
import { farAddress, farSdp, ownerOf } from './dialog-rig.ts'
import { TestPort } from './fake-edge.ts'
import { FakeDialog, FakeRequest, FakeResponse, FakeSrf } from './fake-srf.ts'

/** An inbound leg on fakes. */
export interface InboundBench {
  readonly clock: FakeClock
  readonly leg: Leg
  readonly port: TestPort
  readonly media: LegMedia
  readonly request: FakeRequest
  readonly response: FakeResponse
  readonly srf: FakeSrf
  readonly heard: string[]
  readonly released: () => boolean
  /** A PRACK for the last reliable response, and what it got. */
  prack(body?: string): FakeResponse
  /** An UPDATE before the answer, and what it got. */
  update(body?: string): FakeResponse
  /** The agent says that the 200 is out. */
  answered(): FakeDialog
}

/** Makes one; `offer` is the far side's, `''` for a late offer. */
export const arrive = (
  parts: Partial<InboundLegDeps> = {},
  offer = farSdp(),
  isStranger = parts.unconfirmed !== undefined,
): InboundBench => {
  const clock = new FakeClock()
  const port = new TestPort('call')
  const heard: string[] = []
  const srf = new FakeSrf()
  const party = { uri: 'sip:a@b.example', user: 'a', name: '' }
  const now = () => clock.now()
  const leg = new Leg({ id: newLegId(), kind: 'sip', direction: 'inbound', from: party, to: party, now })
  const media = new LegMedia(port, '42', {
    source: farAddress,
    random: () => 0.5,
    ...(isStranger && { untrusted: { clock, isConfirmed: parts.unconfirmed === undefined } }),
  })
  if (offer === '') media.offer('PCMU', 'response')
  else {
    media.exchange.receiveOffer('invite')
    media.answer(readSdp(offer))
    leg.setPort(port)
  }
  const request = new FakeRequest('INVITE', 'sip:x@y', offer)
  const response = new FakeResponse()
  let released = false
  const side = new InboundLeg({
    leg,
    media,
    request,
    response,
    srf,
    clock,
    userAgent: '',
    connection: { isAlive: true },
    log: pino({ level: 'silent' }),
    onReleased: () => {
      released = true
    },
    ...parts,
  })
  leg.attach(side)
  leg.own(ownerOf(heard))
  const received = (method: string, body: string) => {
    const answer = new FakeResponse()
    const made = Object.assign(new FakeRequest(method, 'sip:x@y', body), { res: answer })
    return { made: Object.assign(made, { source_address: farAddress }), answer }
  }
  return {
    clock,
    leg,
    port,
    media,
    request,
    response,
    srf,
    heard,
    released: () => released,
    prack: (body = '') => {
      const { made, answer } = received('PRACK', body)
      response.pracks.shift()?.(made)
      return answer
    },
    update: (body = '') => {
      const { made, answer } = received('UPDATE', body)
      request.emit('update', made, answer)
      return answer
    },
    answered: () => {
      const dialog = new FakeDialog()
      srf.answers.at(-1)?.done(null, dialog)
      return dialog
    },
  }
}
