import pino from 'pino'
import { newLegId } from '../../calls/call/ids.ts'
import { Leg } from '../../calls/leg/leg.ts'
import { FakeClock } from '../../core/clock.ts'
import type { Connection } from '../agent-link.ts'
import { LegSession } from '../dialog/leg-session.ts'
import { GatewayHeaders } from '../gateway-headers.ts'
import { InboundLeg, type InboundLegOptions } from '../inbound/inbound-leg.ts'
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
  /** Sends a PRACK for the last reliable response, and returns its response. */
  prack(body?: string): FakeResponse
  /** Sends an UPDATE before the answer, and returns its response. */
  update(body?: string): FakeResponse
  /** Simulates the agent's report that the 200 was sent. */
  answered(): FakeDialog
}

/** Collaborators and options of the leg that a test may change. */
export interface InboundChanges extends InboundLegOptions {
  readonly connection?: Connection
  readonly headers?: GatewayHeaders
}

/** Makes an inbound leg; `offer` is the far side's, `''` for a late offer. */
export const arrive = (
  parts: InboundChanges = {},
  offer = farSdp(),
  isUntrusted = parts.onConfirmed !== undefined,
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
    ...(isUntrusted && { untrusted: { clock, isConfirmed: parts.onConfirmed === undefined } }),
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
  const log = pino({ level: 'silent' })
  const { connection = { isAlive: true }, headers = new GatewayHeaders({ hasPrivateHeaders: true }) } = parts
  const session = new LegSession(leg, media, { connection, clock, log, headers })
  const side = new InboundLeg(session, { request, response, srf }, parts, () => {
    released = true
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
