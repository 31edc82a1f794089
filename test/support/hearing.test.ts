import { describe, expect, it } from 'vitest'
import { encode } from '../../media/codecs/g711.ts'
import { sine } from '../../media/codecs/tone.ts'
import {
  clicksIn,
  digitsOf,
  faultsOf,
  lastTone,
  levels,
  samplesOf,
  shares,
  tonesOf,
  tonesTogether,
} from './hearing.ts'
import type { Packet } from './rtp-peer.ts'

const said = encode('PCMU', sine(440, 1000))
const stream = (count: number, tone = said): Packet[] =>
  Array.from({ length: count }, (_, index) => ({
    at: index * 20,
    sequence: (65_530 + index) & 0xffff,
    timestamp: (4_294_967_000 + index * 160) >>> 0,
    ssrc: 7,
    payloadType: 0,
    marker: index === 0,
    payload: tone.subarray((index * 160) % tone.length, ((index * 160) % tone.length) + 160),
  }))

describe('received packets', () => {
  it('have a tone in every window, across the wrap of sequence numbers and timestamps', () => {
    expect(shares(stream(50), 440).every((share) => share > 0.95)).toBe(true)
    expect(shares(stream(50), 600).every((share) => share < 0.05)).toBe(true)
    expect(levels(stream(50)).every((level) => level > 5000)).toBe(true)
    expect(lastTone(stream(50))).toBe(440)
    expect(faultsOf(stream(50))).toEqual([])
  })

  it('have the tones that sound together, also quiet ones, and no others', () => {
    const [low, high] = [sine(440, 1000), sine(1000, 1000, 8000, 1500)] as const
    const both = encode(
      'PCMU',
      Int16Array.from(low, (sample, index) => sample + high[index]!),
    )
    expect(tonesTogether(stream(50, both), [440, 600, 1000, 1500])).toEqual([440, 1000])
    expect(tonesTogether(stream(50, encode('PCMU', sine(440, 1000, 8000, 10))), [440])).toEqual([])
  })

  it('with a lost packet, another source or a pause have faults', () => {
    const lost = stream(20).filter((_, index) => index !== 9)
    expect(faultsOf(lost)).toHaveLength(1)
    expect(
      faultsOf(stream(20).map((packet, index) => ({ ...packet, ssrc: index < 10 ? 7 : 8 }))),
    ).toHaveLength(10)
    const late = stream(20).map((packet, index) => ({ ...packet, at: packet.at + (index < 10 ? 0 : 490) }))
    expect(faultsOf(late)).toEqual(['packet 10: 510 ms without a packet'])
    expect(faultsOf([])).toEqual(['no packet at all'])
  })

  it('have no click in a clean tone, and a click where samples are missing', () => {
    const clean = samplesOf(stream(50))
    expect(clicksIn(clean, 440)).toBe(0)
    const cut = new Int16Array([...clean.subarray(0, 2000), ...clean.subarray(2005)])
    expect(clicksIn(cut, 440)).toBe(1)
  })

  it('have each digit once, however many packets repeat it', () => {
    const key = (event: number, timestamp: number): Packet => ({
      ...stream(1)[0]!,
      payloadType: 101,
      timestamp,
      payload: new Uint8Array([event, 0x8a, 3, 32]),
    })
    expect(digitsOf([key(1, 100), key(1, 100), key(1, 100), key(1, 900), key(11, 1700)])).toBe('11#')
  })

  it('have their tones in order, without sounds that are too short, silent or of another frequency', () => {
    const sounds = [
      sine(440, 200),
      sine(600, 40),
      new Int16Array(1600),
      sine(440, 200),
      sine(900, 300),
      sine(600, 300),
    ]
    const all = Int16Array.from([...sounds, new Int16Array(160)].flatMap((sound) => [...sound]))
    const packets = stream(Math.floor(all.length / 160), encode('PCMU', all))
    expect(tonesOf(packets, [440, 600])).toEqual([440, 600])
    expect(tonesOf(packets, [440, 600, 900])).toEqual([440, 900, 600])
  })
})
