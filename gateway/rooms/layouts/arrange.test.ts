import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Layout, Position } from '../room-types.ts'
import { type ArrangeOptions, arrange, type Occupant } from './arrange.ts'
import { type LayoutName, layoutNames } from './layout-names.ts'
import { coversOf, slotsOf } from './slots.ts'

const options: ArrangeOptions = { speakers: [], isVideoMutedHidden: false, isHandraisePrioritized: false }

const camera = (id: string, changes: Partial<Occupant> = {}): Occupant => ({
  id,
  type: 'member',
  hasVideo: true,
  isVisible: true,
  requestedPosition: 'auto',
  requestOrder: 0,
  state: { handraised: false },
  ...changes,
})

const cameras = (count: number): Occupant[] => Array.from({ length: count }, (_, at) => camera(`m${at + 1}`))

const positions = ({ layers }: Layout): Readonly<Record<string, string>> =>
  Object.fromEntries(layers.flatMap(({ memberId, position }) => (memberId ? [[memberId, position]] : [])))

describe('an arrangement', () => {
  it('of one member has the layers of the published sample', () => {
    const whole = { x: 0, y: 0, width: 100, height: 100, isVisible: true }
    expect(arrange('grid-responsive', [camera('A')], options)).toEqual({
      name: 'grid-responsive',
      layers: [
        { ...whole, z: 0, position: 'standard-1', memberId: 'A' },
        { ...whole, z: 1, position: 'playback' },
        { ...whole, z: 2, position: 'full-screen' },
      ],
    })
  })

  it('of two members has the rectangles of the published sample', () => {
    const { layers } = arrange('grid-responsive', [camera('A'), camera('B')], options)
    expect(layers.slice(0, 2)).toMatchObject([
      { memberId: 'A', position: 'standard-1', x: 0, y: 25, width: 50, height: 50 },
      { memberId: 'B', position: 'standard-2', x: 50, y: 25, width: 50, height: 50 },
    ])
  })

  it.each(layoutNames)('of a lone member in %s moves it to the position of its second layer', (name) => {
    const { layers } = arrange(name, [camera('A')], options)
    const present = layers.find(({ memberId }) => memberId === 'A')?.position
    const wanted = layers[1]!.position
    expect(wanted).not.toBe(present)
    const moved = arrange(name, [camera('A', { requestedPosition: wanted, requestOrder: 1 })], options)
    expect(positions(moved)).toEqual({ A: wanted })
  })

  it('has no layer for a phone, and none for a member that is off the canvas', () => {
    const occupants = [camera('A'), camera('phone', { hasVideo: false, isVisible: false })]
    const off = camera('B', { requestedPosition: 'off-canvas' })
    expect(positions(arrange('3x3', [...occupants, off], options))).toEqual({ A: 'standard-1' })
  })

  it('keeps the tile of a muted video unless the room hides it', () => {
    const occupants = [camera('A', { isVisible: false }), camera('B')]
    const { layers } = arrange('2x1', occupants, options)
    expect(layers[0]).toMatchObject({ memberId: 'A', isVisible: false })
    const hiding = { ...options, isVideoMutedHidden: true }
    expect(positions(arrange('2x1', occupants, hiding))).toEqual({ B: 'standard-1' })
    expect(arrange('grid-responsive', occupants, hiding).layers[0]).toMatchObject({ width: 100 })
  })

  it('grants a position to the latest request, and places the earlier one elsewhere', () => {
    const occupants = [
      camera('A', { requestedPosition: 'standard-3', requestOrder: 7 }),
      camera('B', { requestedPosition: 'standard-3', requestOrder: 5 }),
      camera('C'),
    ]
    expect(positions(arrange('2x2', occupants, options))).toEqual({
      A: 'standard-3',
      B: 'standard-1',
      C: 'standard-2',
    })
  })

  it('places a member elsewhere if the layout has no such position', () => {
    const occupants = [camera('A', { requestedPosition: 'reserved-1' }), camera('B')]
    expect(positions(arrange('2x1', occupants, options))).toEqual({ A: 'standard-1', B: 'standard-2' })
  })

  it('shows a screen on the whole canvas, or in the large slot, unless it asked for another one', () => {
    const occupants = [camera('A'), camera('B'), camera('S', { type: 'screen' })]
    expect(positions(arrange('grid-responsive', occupants, options))).toEqual({
      A: 'standard-1',
      B: 'standard-2',
      S: 'full-screen',
    })
    expect(positions(arrange('highlight-1-responsive', occupants, options)).S).toBe('reserved-1')
    expect(positions(arrange('full-screen', occupants, options))).toEqual({ S: 'full-screen' })
    const moved = [...occupants.slice(0, 2), camera('S', { type: 'screen', requestedPosition: 'standard-1' })]
    expect(positions(arrange('3x3', moved, options))).toEqual({
      S: 'standard-1',
      A: 'standard-2',
      B: 'standard-3',
    })
  })

  it('gives the large slot to the present speaker, else to the latest one, else to the first member', () => {
    const speakers = ['m4', 'm2']
    const large = (some: Partial<ArrangeOptions>, occupants = cameras(4)): string | undefined =>
      arrange('highlight-1-responsive', occupants, { ...options, ...some }).layers[0]?.memberId
    expect(large({ speakers })).toBe('m4')
    expect(large({ speakers }, cameras(3))).toBe('m2')
    expect(large({})).toBe('m1')
    const pinned = cameras(4).with(3, camera('m4', { requestedPosition: 'standard-2' }))
    expect(large({ speakers }, pinned)).toBe('m2')
  })

  it('shows the speaker in a single cell, else the first member', () => {
    expect(positions(arrange('1x1', cameras(3), { ...options, speakers: ['m3'] }))).toEqual({
      m3: 'standard-1',
    })
    expect(positions(arrange('1x1', cameras(3), options))).toEqual({ m1: 'standard-1' })
    expect(positions(arrange('full-screen', cameras(2), options))).toEqual({ m1: 'full-screen' })
  })

  it('prefers speakers, then the order of joining, if the slots are too few', () => {
    const shown = arrange('2x2', cameras(7), { ...options, speakers: ['m7', 'm5'] })
    expect(Object.keys(positions(shown)).toSorted()).toEqual(['m1', 'm2', 'm5', 'm7'])
  })

  it('prefers raised hands to speakers if the room says so', () => {
    const occupants = cameras(7).with(5, camera('m6', { state: { handraised: true } }))
    const speakers = ['m7']
    const ids = (isHandraisePrioritized: boolean): string[] =>
      Object.keys(positions(arrange('2x1', occupants, { ...options, speakers, isHandraisePrioritized })))
    expect(ids(true)).toEqual(['m6', 'm7'])
    expect(ids(false)).toEqual(['m1', 'm7'])
  })
})

const position: fc.Arbitrary<Position> = fc.oneof(
  fc.constant('auto' as const),
  fc.constantFrom<Position>('off-canvas', 'playback', 'full-screen', 'reserved-1', 'reserved-2'),
  fc.integer({ min: 1, max: 12 }).map((number): Position => `standard-${number}`),
)

const room = fc
  .record({
    name: fc.constantFrom<LayoutName>(...layoutNames),
    occupants: fc.array(
      fc.record({
        type: fc.constantFrom('member' as const, 'member' as const, 'screen' as const, 'device' as const),
        hasVideo: fc.boolean(),
        isMuted: fc.boolean(),
        isHandRaised: fc.boolean(),
        requestedPosition: position,
        requestOrder: fc.integer(),
      }),
      { maxLength: 120, size: 'max' },
    ),
    speakerAt: fc.array(fc.nat(119), { maxLength: 5 }),
    isVideoMutedHidden: fc.boolean(),
    isHandraisePrioritized: fc.boolean(),
  })
  .map(({ name, occupants, speakerAt, ...rules }) => ({
    name,
    rules: { ...rules, speakers: speakerAt.map((at) => `m${at}`) },
    occupants: occupants.map(
      ({ hasVideo, isMuted, isHandRaised, requestOrder, ...rest }, at): Occupant => ({
        ...rest,
        id: `m${at}`,
        hasVideo,
        isVisible: hasVideo && !isMuted,
        state: { handraised: isHandRaised },
        // No two requests have the same order.
        requestOrder: requestOrder + at / 1000,
      }),
    ),
  }))

describe('any arrangement', () => {
  it('shows each member with a picture once, grants requests, and depends on its input alone', () => {
    fc.assert(
      fc.property(room, ({ name, occupants, rules }) => {
        const layout = arrange(name, occupants, rules)
        expect(arrange(name, structuredClone(occupants), rules)).toEqual(layout)
        const { layers } = layout
        expect(layers.length).toBeGreaterThanOrEqual(2)
        expect(layers.map(({ z }) => z)).toEqual(layers.map((_, at) => at))
        const tiles = occupants.filter(
          (each) =>
            each.hasVideo &&
            (each.isVisible || !rules.isVideoMutedHidden) &&
            each.requestedPosition !== 'off-canvas',
        )
        const ids = layers.flatMap(({ memberId }) => memberId ?? [])
        expect(new Set(ids).size).toBe(ids.length)
        for (const { memberId, isVisible } of layers)
          expect(isVisible).toBe(tiles.find(({ id }) => id === memberId)?.isVisible ?? memberId === undefined)
        const covers = coversOf(name).map((cover) => cover.position)
        const covering = layers.filter((layer) => covers.includes(layer.position) && layer.memberId).length
        const slots = layers.length - covers.length
        expect(slots).toBe(slotsOf(name, tiles.length - covering).length)
        expect(ids.length).toBe(covering + Math.min(slots, tiles.length - covering))
        const asking = Map.groupBy(tiles, (each) => each.requestedPosition)
        for (const { position, memberId } of layers) {
          const latest = asking.get(position)?.toSorted((a, b) => b.requestOrder - a.requestOrder)[0]
          const rival = tiles.find(({ id }) => id === memberId)
          const isScreenDefault = rival?.type === 'screen' && rival.requestedPosition === 'auto'
          if (latest && !isScreenDefault) expect(memberId).toBe(latest.id)
        }
      }),
      { numRuns: 300 },
    )
  })
})
