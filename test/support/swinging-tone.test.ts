import { expect, it } from 'vitest'
import { decoded, rateOf } from '../../media/rtp/testing/codecs.ts'
import { heldShare, lateness, SwingingVoice, swingingTone } from './swinging-tone.ts'

const rate = 8000
const tone = swingingTone(600, 8, rate)
const joined = (...parts: readonly Int16Array[]): Int16Array =>
  Int16Array.from(parts.flatMap((part) => [...part]))

it('a tone is held in all windows, and not where it is another one, or none', () => {
  expect(heldShare({ samples: tone, rate }, 600)).toBe(1)
  expect(heldShare({ samples: tone, rate }, 1000)).toBe(0)
  expect(heldShare({ samples: new Int16Array(rate), rate }, 600)).toBe(0)
})

it('each packet that is missing counts', () => {
  const samples = Int16Array.from(tone)
  // Every twentieth packet, which are not those of the windows.
  for (let at = 100; at + 160 <= samples.length; at += 20 * 160) samples.fill(0, at, at + 160)
  expect(heldShare({ samples, rate }, 600)).toBeLessThan(0.96)
})

it('what is faint, or in pieces that do not fit, is not the tone', () => {
  const faint = tone.map((sample, i) => (i < 4 * rate ? sample : sample / 10))
  expect(heldShare({ samples: faint, rate }, 600)).toBeCloseTo(0.5, 1)
  const torn = tone.map((sample, i) => (i % 160 < 80 ? sample : -sample))
  expect(heldShare({ samples: torn, rate }, 600)).toBeLessThan(0.1)
})

it('a delay that grows or shrinks is measured', () => {
  expect(lateness({ samples: tone, rate })).toBeCloseTo(0, 5)
  const half = tone.length / 2
  const longer = joined(tone.subarray(0, half), new Int16Array(80 * 8), tone.subarray(half))
  expect(lateness({ samples: longer, rate })).toBeCloseTo(80, 0)
  const shorter = joined(tone.subarray(0, half), tone.subarray(half + 80 * 8))
  expect(lateness({ samples: shorter, rate })).toBeCloseTo(-80, 0)
})

it.each(['PCMU', 'G722', 'opus'] as const)('a voice says it in %s, second after second', (codec) => {
  const voice = new SwingingVoice(codec, 600)
  const samples = decoded(
    codec,
    Array.from({ length: 250 }, () => voice.say()),
  )
  expect(heldShare({ samples, rate: rateOf(codec) }, 600)).toBeGreaterThan(0.99)
  expect(Math.abs(lateness({ samples, rate: rateOf(codec) }))).toBeLessThan(5)
})
