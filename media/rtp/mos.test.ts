import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { estimateMos, type ReceivedStream } from './mos.ts'

const perfect: ReceivedStream = { codec: 'PCMA', received: 1000, lost: 0, jitterMs: 0 }

// Values calculated by hand from G.107's formulas.
describe('the estimated opinion score', () => {
  it.each([
    ['nothing wrong', {}, 4.39],
    ['1 % lost, made up', { received: 990, lost: 10 }, 4.3],
    ['5 % lost, made up', { received: 950, lost: 50 }, 3.88],
    ['5 % lost, as it is', { received: 950, lost: 50, isConcealed: false }, 2.12],
    ['20 % lost, made up', { received: 800, lost: 200 }, 2.58],
    ['a satellite', { roundTripMs: 600 }, 3.46],
    ['a buffer of 200 ms', { bufferMs: 200 }, 4.14],
    ['late ones count as lost', { received: 1000, late: 50 }, 3.88],
    ['more came than were sent', { received: 1100, lost: -100 }, 4.39],
    ['everything lost', { received: 0, lost: 100, isConcealed: false, roundTripMs: 5000 }, 1],
  ] as const)('%s', (_, change, expected) => {
    expect(estimateMos({ ...perfect, ...change })).toBe(expected)
  })

  it('is from 1 to 4.5, and never better with more loss, jitter or delay', () => {
    const heard = fc.record({
      codec: fc.constantFrom('PCMU', 'PCMA', 'G722', 'L16', 'opus'),
      received: fc.nat(100_000),
      lost: fc.integer({ min: -100, max: 100_000 }),
      late: fc.nat(100),
      jitterMs: fc.double({ min: 0, max: 500, noNaN: true }),
      roundTripMs: fc.double({ min: 0, max: 5000, noNaN: true }),
      isConcealed: fc.boolean(),
    } as const)
    fc.assert(
      fc.property(heard, (one) => {
        const mos = estimateMos(one as ReceivedStream)
        expect(mos).toBeGreaterThanOrEqual(1)
        expect(mos).toBeLessThanOrEqual(4.5)
        for (const worse of [
          { lost: one.lost + 50 },
          { jitterMs: one.jitterMs + 50 },
          { roundTripMs: one.roundTripMs + 100 },
          { isConcealed: false },
        ])
          expect(estimateMos({ ...one, ...worse } as ReceivedStream)).toBeLessThanOrEqual(mos)
      }),
    )
  })
})
