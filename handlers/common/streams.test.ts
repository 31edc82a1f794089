import { describe, expect, it } from 'vitest'
import { readStreamFormat } from './streams.ts'

describe('the format of a stream', () => {
  it.each([
    ['PCMU', { codec: 'PCMU' }],
    ['PCMU@8000h', { codec: 'PCMU' }],
    ['PCMA@40i', { codec: 'PCMA', packetMs: 40 }],
    ['G722', { codec: 'G722' }],
    ['G722@16000h@20i', { codec: 'G722', packetMs: 20 }],
    ['L16', { codec: 'L16', sampleRate: 16_000 }],
    ['L16@8000h', { codec: 'L16', sampleRate: 8000 }],
    ['L16@24000h@40i', { codec: 'L16', sampleRate: 24_000, packetMs: 40 }],
    ['L16@48000h@120i', { codec: 'L16', sampleRate: 48_000, packetMs: 120 }],
  ])('is read from %s', (text, format) => {
    expect(readStreamFormat(text)).toEqual(format)
  })

  it.each([
    '',
    'OPUS',
    'L16@',
    'L16@fast',
    'L16@24000',
    'L16@44100h',
    'PCMU@16000h',
    'PCMU@30i',
    'PCMU@0i',
    'PCMU@140i',
  ])('is not %s', (text) => {
    expect(readStreamFormat(text)).toBeUndefined()
  })
})
