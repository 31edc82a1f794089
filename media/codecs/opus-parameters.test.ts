import { describe, expect, it } from 'vitest'
import { minOpusPacketMs, readOpusParameters } from './opus-parameters.ts'

describe('parameters of Opus', () => {
  it('become encoder preferences', () => {
    expect(readOpusParameters('minptime=10;useinbandfec=1')).toEqual({ fec: true })
    expect(
      readOpusParameters(
        'maxplaybackrate=16000; sprop-maxcapturerate=16000; maxaveragebitrate=20000; stereo=1; usedtx=1; CBR=1; useinbandfec=0',
      ),
    ).toEqual({ dtx: true, cbr: true, bitrate: 20_000, maxPlaybackRate: 16_000 })
    expect(readOpusParameters('')).toEqual({})
  })

  it('are ignored if out of range or not numeric', () => {
    for (const text of [
      'maxaveragebitrate=5999',
      'maxaveragebitrate=9e9',
      'maxplaybackrate=-1',
      '=;;=',
      'usedtx=yes',
    ])
      expect(readOpusParameters(text)).toEqual({})
  })

  it('may set a minimum packet duration', () => {
    expect(minOpusPacketMs('minptime=40;useinbandfec=1')).toBe(40)
    for (const text of ['', 'minptime=0', 'minptime=999', 'minptime=x'])
      expect(minOpusPacketMs(text)).toBeUndefined()
  })
})
