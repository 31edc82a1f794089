import { expect, it } from 'vitest'
import { browserOffer } from '../../../media/webrtc/testing/browser-offer.ts'
import { OfferRepetition } from './offer-repetition.ts'

const offer = browserOffer({ video: true })
const gathered = offer
  .replace('m=video 57244', 'm=video 9')
  .replace('a=mid:1', 'a=candidate:2 1 udp 2122194687 192.0.2.2 57244 typ host\r\na=mid:1')

it('is an offer with more candidates under another id', () => {
  const offers = new OfferRepetition()
  expect(offers.repeats('a', offer)).toBe(false)
  expect(offers.repeats('b', gathered)).toBe(true)
  // Sent again without an answer.
  expect(offers.repeats('a', offer)).toBe(false)
})

it('is not an offer with another request, or after a rejection', () => {
  const offers = new OfferRepetition()
  expect(offers.repeats('a', offer)).toBe(false)
  expect(offers.repeats('b', offer.replaceAll('a=sendrecv', 'a=recvonly'))).toBe(false)
  expect(offers.repeats('c', offer)).toBe(false)
  // A new offer waits for its own answer.
  const version = offer.replace(/^(o=- \d+) 2/m, '$1 3')
  expect([version === offer, offers.repeats('v', version)]).toEqual([false, false])
  expect(offers.repeats('d', offer.replace('a=ice-ufrag:vGFm', 'a=ice-ufrag:anew'))).toBe(false)
  offers.forget()
  expect(offers.repeats('e', offer.replace('a=ice-ufrag:vGFm', 'a=ice-ufrag:anew'))).toBe(false)
})

it('belongs to the same session of a page until the page is loaded again', () => {
  const offers = new OfferRepetition()
  expect(offers.continues(offer)).toBe(false)
  offers.repeats('a', offer)
  expect(offers.continues(offer.replace(/^(o=- \d+) 2/m, '$1 3'))).toBe(true)
  expect(offers.continues(offer.replace(/^o=- \d+/m, 'o=- 7'))).toBe(false)
  expect(offers.continues('no description')).toBe(false)
  offers.forget()
  expect(offers.continues(offer)).toBe(true)
  offers.describe(offer.replace(/^o=- \d+/m, 'o=- 7'))
  expect(offers.continues(offer)).toBe(false)
})

it('remains known after the rejection of an earlier offer', () => {
  const offers = new OfferRepetition()
  const later = offer.replace(/^(o=- \d+) 2/m, '$1 3')
  for (const each of [offer, later]) offers.repeats('a', each)
  offers.forget(offer)
  expect(offers.repeats('b', later)).toBe(true)
  offers.forget(later)
  expect(offers.repeats('c', later)).toBe(false)
})

it('is not an offer with a change of RTCP other than its port', () => {
  const offers = new OfferRepetition()
  const plain = offer.replaceAll('a=rtcp-mux\r\n', '')
  expect([offers.repeats('a', offer), offers.repeats('b', plain)]).toEqual([false, false])
})
