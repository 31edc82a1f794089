import { expect, it } from 'vitest'
import type { PacketSource } from './feed.ts'
import { FrameOrigins } from './frame-origins.ts'

const source = (): PacketSource => ({ attach: () => () => {}, requestKeyFrame: () => {} })

it('finds source and timestamp of each frame, also of those that are complete after a change', () => {
  const origins = new FrameOrigins()
  const first = source()
  const second = source()
  const near = 2 ** 32 - 100
  origins.add(near, first, 5000)
  origins.add(near + 50, first, 5050)
  origins.add(10, second, 2 ** 32 - 20)
  expect(origins.of(near)).toEqual({ source: first, timestamp: 5000 })
  expect(origins.of(near + 50)).toEqual({ source: first, timestamp: 5050 })
  // The numbers of the source wrap later than those of the stream.
  expect(origins.of(60)).toEqual({ source: second, timestamp: 30 })
  origins.add(200, undefined, 200)
  expect(origins.of(200)).toEqual({ source: undefined, timestamp: 200 })
  origins.add(300, second, 900)
  expect(origins.of(330)).toEqual({ source: second, timestamp: 930 })
})

it('remembers the latest changes alone', () => {
  const origins = new FrameOrigins()
  const sources = Array.from({ length: 40 }, source)
  for (const [i, each] of sources.entries()) origins.add(i * 100, each, i)
  expect(origins.of(3900).source).toBe(sources[39])
  expect(origins.of(0).source).toBeUndefined()
})
