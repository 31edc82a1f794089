import { expect, it } from 'vitest'
import { codecInfo } from './codec-info.ts'

it('has the payload types of RFC 3551 table 4 and RFC 7587', () => {
  const rows = Object.entries(codecInfo).map(([name, { payloadType, clockRate, sampleRate }]) =>
    [name, payloadType ?? 'dynamic', clockRate, sampleRate].join(' '),
  )
  expect(rows).toEqual([
    'PCMU 0 8000 8000',
    'PCMA 8 8000 8000',
    // Its clock is half of its sampling rate, by a historical error (RFC 3551 section 4.5.2).
    'G722 9 8000 16000',
    'L16 dynamic 16000 16000',
    'opus dynamic 48000 48000',
  ])
})
