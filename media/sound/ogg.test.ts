import { describe, expect, it } from 'vitest'
import { oggPages } from './ogg.ts'
import { OggWriter } from './testing/audio-files.ts'

const packet = (length: number, value: number) => Buffer.alloc(length, value)
/** Lengths of the packets on each page. */
const lengthsOf = (bytes: Uint8Array) =>
  [...oggPages(bytes)].map(({ packets }) => packets.map((p) => p.length))
const pagesOf = (...packets: readonly (readonly Buffer[])[]) => {
  const writer = new OggWriter()
  packets.forEach((each, i) => {
    writer.packets(each, i * 100, i === packets.length - 1)
  })
  return writer.all
}

describe('the pages of a stream', () => {
  it('contain packets of any length', () => {
    const lengths = [0, 1, 254, 255, 256, 510, 511]
    const pages = [
      ...oggPages(
        Buffer.concat(
          pagesOf(
            lengths.map((n) => packet(n, 1)),
            [packet(3, 2)],
          ),
        ),
      ),
    ]
    expect(pages.map(({ packets }) => packets.map((p) => p.length))).toEqual([lengths, [3]])
    expect(pages[1]).toMatchObject({ serial: 7, granule: 100, isLast: true, packets: [packet(3, 2)] })
    expect(pages[0]?.isLast).toBe(false)
  })

  it('share a packet that is too long for one', () => {
    const long = Buffer.from(Array.from({ length: 150_000 }, (_, i) => i % 251))
    const pages = [...oggPages(Buffer.concat(pagesOf([packet(9, 1)], [long], [packet(8, 1)])))]
    expect(pages.map(({ granule }) => granule)).toEqual([0, undefined, undefined, 100, 200])
    expect(pages[3]?.packets).toEqual([long])
    expect(pages[4]?.packets).toEqual([packet(8, 1)])
  })

  it('omit a packet with a part on a lost page', () => {
    const pages = pagesOf([packet(9, 1)], [packet(150_000, 2)], [packet(8, 1)])
    for (const lost of [1, 2, 3]) {
      const left = pages.filter((_, i) => i !== lost)
      expect(lengthsOf(Buffer.concat(left)).flat()).toEqual([9, 8])
    }
  })

  it('are skipped if damaged, truncated or separated by other data', () => {
    const pages = pagesOf([packet(9, 1)], [packet(10, 1), packet(11, 1)], [packet(12, 1)])
    const damaged = Buffer.concat(pages)
    damaged[pages[0]!.length + 40]! ^= 1
    expect(lengthsOf(damaged)).toEqual([[9], [12]])
    expect(lengthsOf(Buffer.concat(pages).subarray(0, -1))).toEqual([[9], [10, 11]])
    const between = Buffer.from('OggS\0 and so on')
    expect(lengthsOf(Buffer.concat([between, ...pages.flatMap((page) => [page, between])]))).toEqual([
      [9],
      [10, 11],
      [12],
    ])
    expect(lengthsOf(Buffer.alloc(100))).toEqual([])
  })

  it('may contain data that looks like a page', () => {
    expect(
      lengthsOf(Buffer.concat(pagesOf([Buffer.concat(pagesOf([packet(5, 1)]))], [packet(6, 1)]))),
    ).toEqual([[33], [6]])
  })

  it('are those of one stream at a time', () => {
    const other = new OggWriter(8)
    other.packets([packet(4, 1)], 0)
    const pages = pagesOf([packet(9, 1)], [packet(10, 1)])
    expect(lengthsOf(Buffer.concat([...pages, ...other.all]))).toEqual([[9], [10], [4]])
    expect(() => lengthsOf(Buffer.concat([pages[0]!, ...other.all]))).toThrow('one stream expected')
  })

  it('are searched in bounded time among false page headers', () => {
    // Each of these headers claims the following 65,025 bytes, which contain the next ones.
    const header = Buffer.concat([Buffer.from('OggS'), Buffer.alloc(22), Buffer.alloc(256, 255)])
    const bytes = Buffer.concat(Array.from({ length: 2000 }, () => header))
    expect(() => lengthsOf(bytes)).toThrow('too damaged')
  })
})
