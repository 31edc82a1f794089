import { describe, expect, it } from 'vitest'
import { FakeClock } from '../core/clock.ts'
import { CameraSizes, cameraSizeIn, fullCamera } from './camera-sizes.ts'
import { arrange } from './layouts/arrange.ts'
import type { LayoutName } from './layouts/layout-names.ts'
import type { Picture } from './room-types.ts'

const ids = (count: number) => Array.from({ length: count }, (_, at) => `m${at}`)

/** Returns the composed picture of a room with this many cameras. */
const composed = (count: number, layout: LayoutName = 'grid-responsive') => {
  const occupants = ids(count).map((id, requestOrder) => ({
    id,
    type: 'member' as const,
    hasVideo: true,
    isVisible: true,
    requestedPosition: 'auto' as const,
    state: { handraised: false },
    requestOrder,
  }))
  const options = { speakers: [], isVideoMutedHidden: false, isHandraisePrioritized: false }
  return {
    kind: 'composed' as const,
    layers: arrange(layout, occupants, options).layers.flatMap(({ memberId, ...layer }) =>
      memberId === undefined ? [] : [{ memberId, ...layer }],
    ),
  }
}

const speaker: Picture = { kind: 'speaker', main: 'm0' }
const text = (size: { width: number; height: number; frameRate: number }) =>
  `${size.width}x${size.height}@${size.frameRate}`

describe('the size of a camera', () => {
  it.each([
    [1, '1280x720@30'],
    [2, '640x360@30'],
    [4, '640x360@30'],
    [5, '480x270@20'],
    [9, '480x270@20'],
    [16, '320x180@20'],
    [50, '320x180@20'],
  ])('in a grid of %i is %s', (count, size) => {
    expect(ids(count).map((id) => text(cameraSizeIn(composed(count), id)))).toEqual(Array(count).fill(size))
  })

  it('is full in a picture with one camera, which each member may become', () => {
    expect(cameraSizeIn(speaker, 'm8')).toEqual(fullCamera)
  })

  it('follows the member of a layout with cells of several sizes', () => {
    const picture = composed(6, 'highlight-1-responsive')
    expect(ids(6).map((id) => text(cameraSizeIn(picture, id)))).toEqual([
      '960x540@20',
      ...Array(5).fill('480x270@20'),
    ])
  })

  it('is the smallest one without a visible place', () => {
    expect(text(cameraSizeIn(composed(3, '1x1'), 'm2'))).toBe('320x180@30')
    const hidden = { ...composed(1).layers[0]!, isVisible: false }
    expect(text(cameraSizeIn({ kind: 'composed', layers: [hidden] }, 'm0'))).toBe('320x180@30')
  })

  it('keeps the uplinks of nine members below 9 x 600 kbit/s', () => {
    const rates = ids(9).map((id) => cameraSizeIn(composed(9), id).bitRate)
    expect(rates.reduce((sum, rate) => sum + rate)).toBeLessThanOrEqual(9 * 600_000)
  })
})

describe('the cameras of a room', () => {
  const open = () => {
    const clock = new FakeClock()
    const changes: string[] = []
    const cameras = new CameraSizes({
      clock,
      onChange: (memberId, size) => changes.push(`${memberId} ${text(size)}`),
    })
    const grow = (count: number) => {
      for (const id of ids(count)) cameras.add(id)
      cameras.show(composed(count))
    }
    const taken = () => changes.splice(0)
    return { clock, cameras, grow, taken }
  }

  it('change once for all who join within the wait, and not again', () => {
    const { clock, cameras, grow, taken } = open()
    for (let count = 1; count <= 9; count++) {
      grow(count)
      clock.advance(900)
    }
    expect(taken()).toEqual([])
    clock.advance(10_000)
    expect(taken().toSorted()).toEqual(ids(9).map((id) => `${id} 480x270@20`))
    cameras.show(composed(9))
    clock.advance(60_000)
    expect(taken()).toEqual([])
    expect(cameras.sizeOf('m3').bitRate).toBe(400_000)
  })

  it('become larger soon, and smaller only if they stay too large', () => {
    const { clock, cameras, grow, taken } = open()
    grow(9)
    clock.advance(20_000)
    taken()
    cameras.show(composed(1))
    clock.advance(499)
    expect(taken()).toEqual([])
    clock.advance(1)
    expect(taken().filter((line) => line.startsWith('m0'))).toEqual(['m0 1280x720@30'])
    cameras.show(composed(9))
    clock.advance(9_000)
    cameras.show(composed(1))
    clock.advance(9_000)
    expect(taken().filter((line) => line.startsWith('m0'))).toEqual([])
  })

  it('are full again with a picture of one camera, and are forgotten when they leave', () => {
    const { clock, cameras, grow, taken } = open()
    grow(4)
    clock.advance(20_000)
    expect(taken()).toHaveLength(4)
    cameras.remove('m3')
    cameras.show(speaker)
    clock.advance(1000)
    expect(taken().toSorted()).toEqual(['m0', 'm1', 'm2'].map((id) => `${id} 1280x720@30`))
    expect(cameras.sizeOf('m3')).toEqual(fullCamera)
    cameras.show(composed(3))
    cameras.close()
    clock.advance(20_000)
    expect(taken()).toEqual([])
  })
})
