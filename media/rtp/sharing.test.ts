import { describe, expect, it } from 'vitest'
import { sine } from '../codecs/tone.ts'
import type { FarEnd } from '../types.ts'
import { sharedFormat } from './encoding.ts'
import { SharedAudio } from './shared-audio.ts'
import { Sharing } from './sharing.ts'
import { decoded, testCodecs } from './testing/codecs.ts'

const far = (more: Partial<FarEnd> = {}): FarEnd => ({
  address: '192.0.2.1',
  port: 4000,
  codec: 'opus',
  payloadType: 111,
  direction: 'sendrecv',
  ...more,
})

const loud = (): SharedAudio => {
  const audio = new SharedAudio(16_000)
  audio.next(sine(400, 20, 16_000))
  return audio
}

/** Returns the number of the first of 1000 equal frames that is shared. */
const firstShared = (audio: SharedAudio, encoder: 'none' | 'stateless' | 'adaptive'): number => {
  const sharing = new Sharing()
  for (let i = 1; i < 1000; i++) if (sharing.permits(audio, encoder)) return i
  return Number.POSITIVE_INFINITY
}

describe('the choice of the encoder', () => {
  it('is the shared one at once without an own encoder, and soon with one that has no state', () => {
    expect(firstShared(loud(), 'none')).toBe(1)
    expect(firstShared(loud(), 'stateless')).toBe(3)
  })

  it('waits with an adaptive encoder for half a second and a quiet frame, but not forever', () => {
    const quiet = new SharedAudio(16_000)
    expect(firstShared(quiet, 'adaptive')).toBe(26)
    quiet.next(sine(400, 20, 16_000, 200))
    expect(firstShared(quiet, 'adaptive')).toBe(26)
    expect(firstShared(loud(), 'adaptive')).toBe(251)
  })

  it('starts to wait again after every frame of its own', () => {
    const sharing = new Sharing()
    const audio = new SharedAudio(16_000)
    for (let i = 0; i < 25; i++) expect(sharing.permits(audio, 'adaptive')).toBe(false)
    expect(sharing.permits(undefined, 'adaptive')).toBe(false)
    for (let i = 0; i < 25; i++) expect(sharing.permits(audio, 'adaptive')).toBe(false)
    expect(sharing.permits(audio, 'adaptive')).toBe(true)
  })
})

describe('shared encodings', () => {
  it('are made once per frame and format', () => {
    const audio = loud()
    const format = sharedFormat(far())!
    const { payload, bytes } = audio.encoding(format, testCodecs, far())
    const first = Buffer.from(payload.subarray(0, bytes))
    const again = audio.encoding(sharedFormat(far({ payloadType: 96 }))!, testCodecs, far())
    expect(first.equals(again.payload.subarray(0, again.bytes))).toBe(true)
    const phone = far({ codec: 'PCMU' })
    const narrow = audio.encoding(sharedFormat(phone)!, testCodecs, phone)
    expect([narrow.bytes, narrow.units, narrow.frame.length, audio.encodings]).toEqual([160, 160, 160, 2])
    audio.close()
    expect(audio.encodings).toBe(0)
  })

  it('end with the first frame in which no sender uses them', () => {
    const audio = loud()
    const phone = far({ codec: 'PCMU' })
    audio.encoding('opus', testCodecs, far())
    audio.encoding('PCMU', testCodecs, phone)
    audio.next(undefined)
    audio.encoding('PCMU', testCodecs, phone)
    audio.next(undefined)
    expect(audio.encodings).toBe(1)
    audio.next(undefined)
    expect(audio.encodings).toBe(0)
  })

  it('begin with the audio before, so that filters and encoders are settled', () => {
    const audio = new SharedAudio(16_000)
    const tone = sine(400, 400, 16_000)
    const phone = far({ codec: 'PCMU' })
    const payloads: Buffer[] = []
    for (let at = 0; at < tone.length; at += 320) {
      audio.next(tone.subarray(at, at + 320))
      if (at < 3200) continue
      const { payload, bytes } = audio.encoding('PCMU', testCodecs, phone)
      payloads.push(Buffer.from(payload.subarray(0, bytes)))
    }
    audio.close()
    const samples = decoded('PCMU', payloads)
    const peak = (part: Int16Array) => Math.max(...part)
    expect(peak(samples.subarray(0, 40)) / peak(samples.subarray(800))).toBeCloseTo(1, 1)
  })

  it('need packets of 20 ms without omissions, and equal settings of Opus', () => {
    expect(sharedFormat(far({ ptime: 20 }))).toBe(sharedFormat(far()))
    expect(sharedFormat(far({ ptime: 40 }))).toBeUndefined()
    expect(sharedFormat(far({ codec: 'PCMU', ptime: 10 }))).toBeUndefined()
    expect(sharedFormat(far({ opus: { dtx: true } }))).toBeUndefined()
    const settings = [{}, { fec: true }, { cbr: true }, { bitrate: 20_000 }, { maxPlaybackRate: 16_000 }]
    expect(new Set(settings.map((opus) => sharedFormat(far({ opus })))).size).toBe(settings.length)
    expect(sharedFormat(far({ opus: { fec: false } }))).toBe(sharedFormat(far()))
  })
})
