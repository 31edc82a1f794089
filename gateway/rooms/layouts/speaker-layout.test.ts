import { describe, expect, it } from 'vitest'
import type { Occupant } from './arrange.ts'
import { layoutNames } from './layout-names.ts'
import { availableLayouts, speakerLayout } from './speaker-layout.ts'

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

const whole = { x: 0, y: 0, width: 100, height: 100 }
const corner = { x: 75, y: 75, width: 22, height: 22 }
const isVideoMutedHidden = false

describe('the layout of a picture with one camera', () => {
  it('has the shown member on the canvas and the viewer in the corner', () => {
    const views = { shown: camera('A'), viewer: camera('B'), isVideoMutedHidden }
    expect(speakerLayout('full-screen', views)).toEqual({
      name: 'full-screen',
      layers: [
        { ...whole, z: 0, position: 'full-screen', memberId: 'A', isVisible: true },
        { ...corner, z: 1, position: 'standard-1', memberId: 'B', isVisible: true },
      ],
    })
    expect(speakerLayout('1x1', views).layers).toMatchObject([
      { ...whole, position: 'standard-1', memberId: 'A' },
      { ...corner, position: 'standard-2', memberId: 'B' },
    ])
  })

  it.each([
    ['without a camera', { hasVideo: false, isVisible: false }],
    ['off the canvas', { requestedPosition: 'off-canvas' as const }],
  ])('has no corner for a viewer %s', (_, changes) => {
    const { layers } = speakerLayout('full-screen', {
      shown: camera('A'),
      viewer: camera('B', changes),
      isVideoMutedHidden,
    })
    expect(layers).toMatchObject([{ memberId: 'A' }])
  })

  it('keeps the corner of a viewer with a muted video, unless the room hides it', () => {
    const viewer = camera('B', { isVisible: false })
    const views = { shown: camera('A'), viewer }
    expect(speakerLayout('1x1', { ...views, isVideoMutedHidden }).layers[1]).toMatchObject({
      memberId: 'B',
      isVisible: false,
    })
    expect(speakerLayout('1x1', { ...views, isVideoMutedHidden: true }).layers).toHaveLength(1)
  })

  it('has the viewer on the canvas while it sees itself, and moves it to the slot above on request', () => {
    const viewer = camera('A')
    const alone = { shown: viewer, viewer, isVideoMutedHidden }
    expect(speakerLayout('full-screen', alone).layers).toEqual([
      { ...whole, z: 0, position: 'standard-1', memberId: 'A', isVisible: true },
      { ...whole, z: 1, position: 'full-screen', isVisible: true },
    ])
    const moved = camera('A', { requestedPosition: 'full-screen' })
    expect(speakerLayout('full-screen', { ...alone, viewer: moved }).layers).toEqual([
      { ...whole, z: 0, position: 'standard-1', isVisible: true },
      { ...whole, z: 1, position: 'full-screen', memberId: 'A', isVisible: true },
    ])
  })

  it('has empty slots if no member is shown', () => {
    const { layers } = speakerLayout('full-screen', { isVideoMutedHidden })
    expect(layers.map(({ position, memberId }) => [position, memberId])).toEqual([
      ['standard-1', undefined],
      ['full-screen', undefined],
    ])
  })
})

it('a picture with one camera has two layouts, and a composed one has all', () => {
  expect(availableLayouts('speaker')).toEqual(['full-screen', '1x1'])
  expect(availableLayouts('composed')).toEqual(layoutNames)
})
