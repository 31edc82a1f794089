import { beforeEach, describe, expect, it } from 'vitest'
import { PictureWatch } from './picture-watch.ts'

describe('the watch over the pictures of a stream', () => {
  let events: string[]
  let watch: PictureWatch
  beforeEach(() => {
    events = []
    watch = new PictureWatch({
      requestKey: (now) => events.push(`key ${now}`),
      onStalled: () => events.push('stalled'),
    })
  })

  /** Sends a packet every 50 ms. */
  const packets = (from: number, to: number) => {
    for (let now = from; now <= to; now += 50) watch.packet(now)
  }

  it('requests a key frame after 2 s without a picture, and reports the stream after 4 s', () => {
    packets(0, 1950)
    expect(events).toEqual([])
    packets(2000, 3950)
    expect(events).toEqual(['key 2000'])
    packets(4000, 5950)
    expect(events).toEqual(['key 2000', 'stalled'])
    packets(6000, 8000)
    expect(events.slice(2)).toEqual(['key 6000', 'stalled'])
  })

  it('begins again with each picture', () => {
    packets(0, 2000)
    watch.picture()
    packets(2050, 4000)
    expect(events).toEqual(['key 2000'])
    packets(4050, 4100)
    expect(events).toEqual(['key 2000', 'key 4050'])
  })

  it('expects no picture of a stream that pauses', () => {
    packets(0, 1000)
    packets(2001, 3951)
    expect(events).toEqual([])
  })
})
