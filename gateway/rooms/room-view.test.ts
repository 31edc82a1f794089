import { describe, expect, it } from 'vitest'
import { layoutNames } from './layouts/layout-names.ts'
import { SampleRoom } from './testing/sample-room.ts'

const code = (name: string) => expect.objectContaining({ code: name })

const roomOf = (...ids: readonly string[]): SampleRoom => {
  const room = new SampleRoom()
  for (const id of ids) room.join(id)
  room.takeEvents()
  return room
}

/** Lets a member speak until it is the speaker. */
const speak = ({ session, clock }: SampleRoom, id: string): void => {
  clock.advance(1500)
  session.setTalking(id, true)
  clock.advance(200)
  session.setTalking(id, false)
}

describe('the picture with one camera', () => {
  it('is plain without a camera', () => {
    const room = new SampleRoom()
    room.join('A', { isPhone: true })
    room.join('B', { hasVideo: false })
    expect(room.pictures).toEqual([{ kind: 'speaker' }])
  })

  it('shows the first member to itself, then another member to it', () => {
    const room = roomOf('A')
    expect(room.picture).toEqual({ kind: 'speaker', main: 'A' })
    room.join('B')
    expect(room.picture).toEqual({ kind: 'speaker', main: 'A', other: 'B' })
  })

  it('follows the speaker, who sees the speaker before', () => {
    const room = roomOf('A', 'B', 'C')
    speak(room, 'C')
    expect(room.picture).toEqual({ kind: 'speaker', main: 'C', other: 'A' })
    speak(room, 'B')
    expect(room.picture).toEqual({ kind: 'speaker', main: 'B', other: 'C' })
  })

  it('is shown only if it changed', () => {
    const room = roomOf('A', 'B')
    const { length } = room.pictures
    room.session.change('A', { handraised: true, deaf: true })
    room.join('C', { isPhone: true })
    room.session.setLocked(true)
    room.session.setPositions({ A: 'standard-3' })
    expect(room.pictures).toHaveLength(length)
  })

  it('never shows a member that cannot be seen', () => {
    const room = roomOf('A', 'B', 'C')
    room.session.change('A', { video_muted: true })
    expect(room.picture).toEqual({ kind: 'speaker', main: 'B', other: 'C' })
    room.session.setPositions({ B: 'off-canvas' })
    expect(room.picture).toEqual({ kind: 'speaker', main: 'C' })
    room.session.setHasVideo('C', false)
    expect(room.picture).toEqual({ kind: 'speaker' })
  })

  it('shows the latest screen to all, and the speaker again after it', () => {
    const room = roomOf('A', 'B')
    room.share('S', 'A')
    expect(room.picture).toEqual({ kind: 'speaker', main: 'S' })
    room.share('T', 'B')
    expect(room.picture).toEqual({ kind: 'speaker', main: 'T' })
    room.session.leave('T', 'left')
    expect(room.picture).toEqual({ kind: 'speaker', main: 'S' })
    room.session.change('S', { video_muted: true }, 'A')
    expect(room.picture).toEqual({ kind: 'speaker', main: 'A', other: 'B' })
  })

  it('waits for the video of a screen', () => {
    const room = roomOf('A', 'B')
    room.share('S', 'A', { hasVideo: false })
    expect(room.picture).toMatchObject({ main: 'A' })
    room.session.setHasVideo('S', true)
    expect(room.picture).toMatchObject({ main: 'S' })
  })

  it('can show the second camera of a member', () => {
    const room = roomOf('A')
    room.join('D', { type: 'device', parentId: 'A' })
    expect(room.picture).toEqual({ kind: 'speaker', main: 'A', other: 'D' })
  })

  it('shows the camera of a member who speaks over a second microphone', () => {
    const room = roomOf('A', 'B')
    room.join('D', { type: 'device', parentId: 'B', hasVideo: false })
    speak(room, 'D')
    expect(room.picture).toEqual({ kind: 'speaker', main: 'B', other: 'A' })
    speak(room, 'A')
    expect(room.picture).toMatchObject({ main: 'A' })
    // The voice over the first microphone does not end with that over the second one.
    room.session.setTalking('B', true)
    room.session.setTalking('D', true)
    room.session.setTalking('D', false)
    room.clock.advance(5000)
    expect(room.picture).toMatchObject({ main: 'B' })
  })

  it('does not follow the voice of a member that left and came back', () => {
    const room = roomOf('A', 'B')
    room.clock.advance(1500)
    room.session.setTalking('B', true)
    room.session.leave('B', 'left')
    room.join('B')
    room.clock.advance(5000)
    expect(room.picture).toEqual({ kind: 'speaker', main: 'A', other: 'B' })
  })

  it('stays for a telephone that speaks', () => {
    const room = roomOf('A', 'B')
    room.join('phone', { isPhone: true })
    const { length } = room.pictures
    speak(room, 'phone')
    expect(room.pictures).toHaveLength(length)
  })
})

describe('the layout of a picture with one camera', () => {
  it('is that of each viewer', () => {
    const room = roomOf('A', 'B', 'C')
    speak(room, 'B')
    expect(room.layersOf('A')).toEqual(['full-screen B', 'standard-1 A'])
    expect(room.layersOf('B')).toEqual(['full-screen A', 'standard-1 B'])
    expect(room.layersOf('C')).toEqual(['full-screen B', 'standard-1 C'])
    expect(room.layersOf()).toEqual(['full-screen B'])
    expect(room.layersOf('unknown')).toEqual(['full-screen B'])
    expect(room.session.positionOf('B', 'A')).toBe('full-screen')
    expect(room.session.positionOf('A', 'A')).toBe('standard-1')
    expect(room.session.positionOf('C', 'A')).toBe('off-canvas')
    expect(room.session.positionOf('A')).toBe('off-canvas')
  })

  it('moves a lone member to the position of its second layer', () => {
    const room = roomOf('A')
    const { layers } = room.session.layoutFor('A')
    expect(room.session.positionOf('A', 'A')).not.toBe(layers[1]?.position)
    room.session.setPositions({ A: layers[1]?.position ?? '' })
    expect(room.session.positionOf('A', 'A')).toBe(layers[1]?.position)
    expect(room.takeEvents()).toEqual(['layout.changed'])
  })

  it('shows a screen to its owner, whose camera is in the corner', () => {
    const room = roomOf('A', 'B')
    room.share('S', 'A')
    expect(room.layersOf('A')).toEqual(['full-screen S', 'standard-1 A'])
    expect(room.layersOf('B')).toEqual(['full-screen S', 'standard-1 B'])
  })

  it('hides muted videos if the room says so', () => {
    const room = roomOf('A', 'B')
    room.session.change('B', { video_muted: true })
    expect(room.layersOf('B')).toEqual(['full-screen A', 'standard-1 B'])
    expect(room.session.layoutFor('B').layers[1]?.isVisible).toBe(false)
    room.takeEvents()
    room.session.setVideoMutedHidden(true)
    expect(room.layersOf('B')).toEqual(['full-screen A'])
    expect(room.takeEvents()).toEqual(['room.updated hide_video_muted', 'layout.changed'])
  })

  it('changes by an event only if a viewer sees another one', () => {
    const room = roomOf('A', 'B')
    // Each of two members sees the other, whichever of them speaks.
    speak(room, 'B')
    expect(room.takeEvents()).toEqual(['member.talking B', 'speaker.changed', 'member.talking B'])
    room.join('C', { isPhone: true })
    room.session.leave('C', 'left')
    expect(room.takeEvents()).toEqual(['member.joined C', 'member.left C left'])
    room.join('D', { hasVideo: false })
    expect(room.takeEvents()).toEqual(['member.joined D'])
    speak(room, 'A')
    const events = ['member.talking A', 'speaker.changed', 'layout.changed', 'member.talking A']
    expect(room.takeEvents()).toEqual(events)
    room.session.leave('B', 'left')
    expect(room.takeEvents()).toEqual(['member.left B left', 'layout.changed'])
  })

  it('has two names', () => {
    const room = roomOf('A', 'B')
    expect(room.session.layouts).toEqual(['full-screen', '1x1'])
    expect(room.session.layoutName).toBe('full-screen')
    room.session.setLayout('1x1')
    expect(room.session.layoutName).toBe('1x1')
    expect(room.layersOf('A')).toEqual(['standard-1 B', 'standard-2 A'])
    expect(room.takeEvents()).toEqual(['room.updated layout_name', 'layout.changed'])
    expect(() => room.session.setLayout('3x3')).toThrow(code('room_layout_unknown'))
    expect(room.session.layoutName).toBe('1x1')
  })
})

describe('the composed picture', () => {
  const composed = (...ids: readonly string[]): SampleRoom => {
    const room = new SampleRoom({}, 'composed')
    for (const id of ids) room.join(id)
    room.takeEvents()
    return room
  }

  it('has all members with a camera, and the same layout for each viewer', () => {
    const room = composed('A', 'B')
    room.join('phone', { isPhone: true })
    room.session.change('B', { video_muted: true })
    expect(room.picture).toEqual({
      kind: 'composed',
      layers: [
        { z: 0, x: 0, y: 25, width: 50, height: 50, memberId: 'A', isVisible: true, name: 'A' },
        { z: 1, x: 50, y: 25, width: 50, height: 50, memberId: 'B', isVisible: false, name: 'B' },
      ],
    })
    expect(room.session.layoutFor('A')).toEqual(room.session.layoutFor())
    expect(room.session.layouts).toEqual(layoutNames)
    expect(room.session.layoutName).toBe('grid-responsive')
  })

  it('has the names of members over their pictures if the room wants that, but none of screens', () => {
    const room = new SampleRoom({ hasNames: true }, 'composed')
    room.join('A', { name: 'é'.repeat(70) })
    room.share('S', 'A')
    const layers = room.picture?.kind === 'composed' ? room.picture.layers : []
    expect(layers.map(({ memberId, name, isCaptioned }) => [memberId, name, isCaptioned])).toEqual(
      expect.arrayContaining([
        ['A', 'é'.repeat(60), true],
        ['S', undefined, undefined],
      ]),
    )
  })

  it('follows the layout, the positions and the speaker', () => {
    const room = composed('A', 'B', 'C')
    room.session.setLayout('highlight-1-responsive', { C: 'standard-5' })
    expect(room.session.positionOf('C')).toBe('standard-5')
    expect(room.session.positionOf('A')).toBe('reserved-1')
    room.takeEvents()
    speak(room, 'B')
    expect(room.session.positionOf('B')).toBe('reserved-1')
    expect(room.takeEvents()).toContain('layout.changed')
    room.session.setPositions({ A: 'reserved-1' })
    expect(room.session.positionOf('A')).toBe('reserved-1')
  })

  it('changes nothing if a part of the request is wrong', () => {
    const room = composed('A')
    const before = room.session.layoutFor()
    const set = (name: string, positions: Readonly<Record<string, string>>) => () =>
      room.session.setLayout(name, positions)
    expect(set('mosaic', {})).toThrow(code('room_layout_unknown'))
    expect(set('3x3', { A: 'sofa' })).toThrow(code('room_position_unknown'))
    expect(set('3x3', { A: 'standard-2', X: 'auto' })).toThrow(code('room_member_unknown'))
    expect(() => room.session.setPositions({ A: 'sofa' })).toThrow(code('room_position_unknown'))
    expect(() => room.session.setPositions({ X: 'auto' })).toThrow(code('room_member_unknown'))
    expect(room.session.layoutFor()).toEqual(before)
    expect(room.takeEvents()).toEqual([])
  })

  it('has the layout of a screen until it leaves', () => {
    const room = composed('A')
    room.share('S', 'A', { layout: 'highlight-1-responsive' })
    expect(room.takeEvents()).toEqual(['member.joined S', 'room.updated layout_name', 'layout.changed'])
    expect(room.session.positionOf('S')).toBe('reserved-1')
    room.session.leave('S', 'left')
    expect(room.session.layoutName).toBe('grid-responsive')
    room.share('T', 'A', { layout: '5up' })
    room.session.setLayout('2x2')
    room.session.leave('T', 'left')
    expect(room.session.layoutName).toBe('2x2')
  })

  it('gives way to one camera and comes back, with the chosen layout', () => {
    const room = composed('A', 'B')
    room.session.setLayout('2x2')
    room.takeEvents()
    room.session.setPictureKind('speaker')
    expect(room.picture).toEqual({ kind: 'speaker', main: 'A', other: 'B' })
    expect(room.session.layoutName).toBe('full-screen')
    room.share('S', 'A', { layout: '5up' })
    expect(room.session.layoutName).toBe('full-screen')
    expect(room.takeEvents()).toEqual([
      'room.updated layout_name',
      'layout.changed',
      'member.joined S',
      'layout.changed',
    ])
    room.session.leave('S', 'left')
    room.session.setPictureKind('composed')
    expect(room.picture?.kind).toBe('composed')
    expect(room.session.layoutName).toBe('2x2')
  })
})
