import { describe, expect, it } from 'vitest'
import { type Exchange, glareBackoffMs, OfferAnswer, type OfferIn } from './offer-answer.ts'

const made = (random = 0.5) => new OfferAnswer(() => random)
const carriers: readonly OfferIn[] = ['invite', 'response', 'prack', 'update']

describe('offer and answer', () => {
  it.each(carriers)('completes with the gateway’s offer in %s', (where) => {
    const exchange = made()
    expect(exchange.sendOffer(where)).toBe(true)
    expect(exchange.exchange).toEqual({ kind: 'local offer', in: where })
    expect([exchange.hasSession, exchange.receiveAnswer()]).toEqual([false, true])
    expect([exchange.hasSession, exchange.isStable]).toEqual([true, true])
  })

  it.each(carriers)('completes with the far side’s offer in %s', (where) => {
    const exchange = made()
    expect(exchange.receiveOffer(where)).toBeUndefined()
    expect(exchange.exchange).toEqual({ kind: 'remote offer', in: where })
    exchange.sendAnswer()
    expect([exchange.hasSession, exchange.isStable]).toEqual([true, true])
  })

  it('rejects a second offer with 491 while a local offer is pending, and with 500 and Retry-After while a remote one is', () => {
    for (const where of carriers) {
      const ours = made()
      ours.sendOffer('invite')
      expect(ours.receiveOffer(where)).toEqual({ status: 491 })
      expect(ours.exchange).toEqual({ kind: 'local offer', in: 'invite' })
      const theirs = made()
      theirs.receiveOffer('invite')
      expect(theirs.receiveOffer(where)).toEqual({ status: 500, retryAfter: 5 })
      expect(theirs.sendOffer(where)).toBe(false)
      expect(theirs.exchange).toEqual({ kind: 'remote offer', in: 'invite' })
    }
  })

  it('uses a Retry-After from 0 to 10 s', () => {
    for (const [random, seconds] of [
      [0, 0],
      [0.9999, 10],
    ] as const) {
      const exchange = made(random)
      exchange.receiveOffer('update')
      expect(exchange.receiveOffer('update')).toEqual({ status: 500, retryAfter: seconds })
    }
  })

  it('sends no second offer while one is pending, and recognises an unexpected answer', () => {
    const exchange = made()
    expect(exchange.receiveAnswer()).toBe(false)
    exchange.sendOffer('update')
    expect(exchange.sendOffer('invite')).toBe(false)
    exchange.receiveAnswer()
    expect(exchange.receiveAnswer()).toBe(false)
    expect(() => exchange.sendAnswer()).toThrow('no remote offer is open')
  })

  it('is stable after an abandoned offer, and accepts the next offer', () => {
    const exchange = made()
    exchange.receiveOffer('invite')
    exchange.abandon()
    expect(exchange.exchange).toEqual({ kind: 'stable' } satisfies Exchange)
    expect(exchange.hasSession).toBe(false)
    expect(exchange.receiveOffer('update')).toBeUndefined()
  })
})

it('waits 2.1 to 4 s after a 491 if the gateway made the Call-ID, else 0 to 2 s', () => {
  const bounds = (owns: boolean) => [0, 0.999_999].map((random) => glareBackoffMs(owns, () => random))
  expect(bounds(true)).toEqual([2_100, 4_000])
  expect(bounds(false)).toEqual([0, 2_000])
  for (let random = 0; random < 1; random += 0.01) expect(glareBackoffMs(true, () => random) % 10).toBe(0)
})
