import { describe, expect, it } from 'vitest'
import { Offers } from './offers.ts'

describe('the pending offer of a dialog', () => {
  it.each([
    ['ours', 'theirs', 491],
    ['theirs', 'ours', 500],
  ] as const)(
    'in %s waits for a description from %s, and blocks other offers with %i',
    (one, other, status) => {
      const offers = new Offers()
      offers.noteDescription(one, 'INVITE 1')
      expect([offers.open, offers.refusal]).toEqual([one, status])
      offers.noteDescription(one, 'UPDATE 2')
      expect(offers.refusal).toBe(status)
      offers.noteDescription(other, 'INVITE 1')
      expect([offers.open, offers.refusal]).toEqual([undefined, undefined])
    },
  )

  it('ends with its request only', () => {
    const offers = new Offers()
    offers.noteDescription('theirs', 'UPDATE 3')
    offers.noteRequestEnd('INVITE 1')
    expect(offers.refusal).toBe(500)
    offers.noteRequestEnd('UPDATE 3')
    expect(offers.refusal).toBeUndefined()
  })
})
