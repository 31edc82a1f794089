import { expect, it } from 'vitest'
import { decoded, rateOf } from '../../media/rtp/testing/codecs.ts'
import { heldShare, lateness, SwingingVoice, swingingTone } from './swinging-tone.ts'

const rate = 8000
const tone = swingingTone(600, 8, rate)
const joined = (...parts: readonly Int16Array[]): Int16Array =>
  Int16Array.from(parts.flatMap((part) => [...part]))

it('the share of held windows is 1 for the tone, and 0 for another tone or silence', () => {
  expect(heldShare({ samples: tone, rate }, 600)).toBe(1)
  expect(heldShare({ samples: tone, rate }, 1000)).toBe(0)
  expect(heldShare({ samples: new Int16Array(rate), rate }, 600)).toBe(0)
})

it('the share of held windows falls with each missing packet', () => {
  const samples = Int16Array.from(tone)
  // Removes every twentieth packet; packets and windows have different boundaries.
  for (let at = 100; at + 160 <= samples.length; at += 20 * 160) samples.fill(0, at, at + 160)
  expect(heldShare({ samples, rate }, 600)).toBeLessThan(0.96)
})

it('windows with a faint or torn tone do not count as held', () => {
  const faint = tone.map((sample, i) => (i < 4 * rate ? sample : sample / 10))
  expect(heldShare({ samples: faint, rate }, 600)).toBeCloseTo(0.5, 1)
  const torn = tone.map((sample, i) => (i % 160 < 80 ? sample : -sample))
  expect(heldShare({ samples: torn, rate }, 600)).toBeLessThan(0.1)
})

it('growth and shrinkage of the delay are measured', () => {
  expect(lateness({ samples: tone, rate })).toBeCloseTo(0, 5)
  const half = tone.length / 2
  const longer = joined(tone.subarray(0, half), new Int16Array(80 * 8), tone.subarray(half))
  expect(lateness({ samples: longer, rate })).toBeCloseTo(80, 0)
  const shorter = joined(tone.subarray(0, half), tone.subarray(half + 80 * 8))
  expect(lateness({ samples: shorter, rate })).toBeCloseTo(-80, 0)
})

it.each(['PCMU', 'G722', 'opus'] as const)(
  'an encoded swinging tone in %s is held in almost all windows, without delay',
  (codec) => {
    const voice = new SwingingVoice(codec, 600)
    const samples = decoded(
      codec,
      Array.from({ length: 250 }, () => voice.say()),
    )
    expect(heldShare({ samples, rate: rateOf(codec) }, 600)).toBeGreaterThan(0.99)
    expect(Math.abs(lateness({ samples, rate: rateOf(codec) }))).toBeLessThan(5)
  },
)
