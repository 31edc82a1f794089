import pino from 'pino'
import { expect, it } from 'vitest'
import { farSdp } from '../testing/dialog-rig.ts'
import { TestPort } from '../testing/fake-edge.ts'
import { farResponse } from '../testing/fake-srf.ts'
import { EarlyOffer } from './early-offer.ts'
import { LegMedia } from './leg-media.ts'

const type = { 'Content-Type': 'multipart/mixed;boundary=b' }
/** Multipart body in the form of trunks with SIP-I. */
const withIsup = (sdp: string) =>
  `--b\r\nContent-Type: application/isup\r\n\r\nx\r\n--b\r\nContent-Type: application/sdp\r\n\r\n${sdp}\r\n--b--\r\n`

it('the SDP part of early media and of an answer is accepted', () => {
  const port = new TestPort('call')
  const media = new LegMedia(port, '42')
  media.offer('PCMU')
  const negotiation = new EarlyOffer(media, pino({ level: 'silent' }))
  expect(negotiation.provisional(farResponse(183, withIsup(farSdp({ port: 4002 })), type))).toBe(true)
  expect(port.far?.port).toBe(4002)
  const body = withIsup(farSdp({ port: 4004 }))
  negotiation.answered({ remote: { sdp: body }, res: farResponse(200, body, type) })
  expect(port.far?.port).toBe(4004)
})

it('an answer without SDP is rejected', () => {
  const media = new LegMedia(new TestPort('call'), '42')
  media.offer('PCMU')
  const negotiation = new EarlyOffer(media, pino({ level: 'silent' }))
  const res = farResponse(200, 'x', { 'Content-Type': 'application/isup' })
  expect(() => negotiation.answered({ remote: { sdp: 'x' }, res })).toThrow('v=0 expected')
})
