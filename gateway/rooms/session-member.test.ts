import { describe, expect, it } from 'vitest'
import { SampleRoom } from './testing/sample-room.ts'

const roomOf = (...ids: readonly string[]): SampleRoom => {
  const room = new SampleRoom()
  for (const id of ids) room.join(id)
  room.takeEvents()
  return room
}

const stateOf = (room: SampleRoom, id: string) => room.session.member(id)?.state

describe('the state of a member', () => {
  it('changes, and its event has all given names, also unchanged ones', () => {
    const room = roomOf('A')
    const names = room.session.change('A', { deaf: true, input_volume: 0, handraised: true }, 'A')
    expect(names.toSorted()).toEqual(['deaf', 'handraised', 'input_volume'])
    expect(stateOf(room, 'A')).toMatchObject({ deaf: true, input_volume: 0, handraised: true })
    expect(room.takeEvents()).toEqual(['member.updated A handraised deaf input_volume'])
  })

  it('has no event for an empty change', () => {
    const room = roomOf('A')
    expect(room.session.change('A', {})).toEqual([])
    expect(room.session.change('A', { deaf: undefined })).toEqual([])
    expect(stateOf(room, 'A')?.deaf).toBe(false)
    expect(room.takeEvents()).toEqual([])
  })

  it('reports the visibility with a mute of the video', () => {
    const room = roomOf('A', 'B')
    expect(room.session.change('A', { video_muted: true }, 'A')).toEqual(['video_muted', 'visible'])
    expect(room.session.member('A')?.isVisible).toBe(false)
    expect(room.session.change('A', { video_muted: true }, 'A')).toEqual(['video_muted'])
    expect(room.session.change('A', { video_muted: false }, 'A')).toEqual(['video_muted', 'visible'])
    expect(room.takeEvents().filter((event) => event !== 'layout.changed')).toEqual([
      'member.updated A video_muted visible',
      'member.updated A video_muted',
      'member.updated A video_muted visible',
    ])
  })

  it('does not report the visibility of a member without a camera', () => {
    const room = new SampleRoom()
    room.join('A', { hasVideo: false })
    expect(room.session.change('A', { video_muted: true })).toEqual(['video_muted'])
  })

  it.each([
    [{ audio_muted: true }, true],
    [{ deaf: true }, true],
    [{ input_volume: 5 }, true],
    [{ output_volume: 5 }, true],
    [{ input_sensitivity: 5 }, true],
    [{ audio_muted: false }, false],
    [{ video_muted: true }, false],
    [{ echo_cancellation: false, auto_gain: false, noise_suppression: false }, false],
  ])('applies %j to the audio: %s', (changes, isApplied) => {
    const room = roomOf('A')
    room.session.change('A', changes)
    expect(room.audioOf).toEqual(isApplied ? ['A'] : [])
  })

  it('is that of a present member', () => {
    const unknown = expect.objectContaining({ code: 'room_member_unknown' })
    expect(() => roomOf('A').session.change('B', { deaf: true })).toThrow(unknown)
  })
})

describe.each(['audio_muted', 'video_muted'] as const)('a mute (%s)', (channel) => {
  const set = (room: SampleRoom, isMuted: boolean, by?: string) => {
    room.session.change('A', { [channel]: isMuted }, by)
    return stateOf(room, 'A')?.[channel]
  }

  it('of the member itself stays if another member wants to undo it, and is reported', () => {
    const room = roomOf('A', 'B')
    set(room, true, 'A')
    room.takeEvents()
    expect(set(room, false, 'B')).toBe(true)
    expect(room.takeEvents()).toEqual([`member.updated A ${channel}`])
    expect(set(room, false, 'A')).toBe(false)
  })

  it('by another member can be undone by any member', () => {
    const room = roomOf('A', 'B', 'C')
    set(room, true, 'B')
    expect(set(room, false, 'C')).toBe(false)
    set(room, true, 'B')
    expect(set(room, false, 'A')).toBe(false)
  })

  it('of the member itself remains its own if another member mutes it too', () => {
    const room = roomOf('A', 'B')
    set(room, true, 'A')
    set(room, true, 'B')
    expect(set(room, false, 'B')).toBe(true)
  })

  it('by another member becomes its own if it mutes itself too', () => {
    const room = roomOf('A', 'B')
    set(room, true, 'B')
    set(room, true, 'A')
    expect(set(room, false, 'B')).toBe(true)
  })

  it('is no longer its own after it was undone', () => {
    const room = roomOf('A', 'B')
    set(room, true, 'A')
    set(room, false, 'A')
    set(room, true, 'B')
    expect(set(room, false, 'B')).toBe(false)
  })

  it('given at the joining is its own', () => {
    const room = roomOf('B')
    room.join('A', { state: { [channel]: true } })
    expect(set(room, false, 'B')).toBe(true)
  })

  it('by the application can be undone by a member, and the application undoes any mute', () => {
    const room = roomOf('A', 'B')
    set(room, true)
    expect(set(room, false, 'B')).toBe(false)
    set(room, true, 'A')
    expect(set(room, false)).toBe(false)
  })
})

it('the mute of a screen by its member is its own', () => {
  const room = roomOf('A', 'B')
  room.share('S', 'A')
  room.session.change('S', { video_muted: true }, 'A')
  room.session.change('S', { video_muted: false }, 'B')
  expect(stateOf(room, 'S')?.video_muted).toBe(true)
  room.session.change('S', { video_muted: false }, 'A')
  expect(stateOf(room, 'S')?.video_muted).toBe(false)
})

describe('the video of a member', () => {
  it('makes it visible when it starts, and invisible when it stops', () => {
    const room = new SampleRoom()
    room.join('A', { hasVideo: false })
    room.takeEvents()
    room.session.setHasVideo('A', true)
    room.session.setHasVideo('A', true)
    expect(room.session.member('A')?.isVisible).toBe(true)
    room.session.setHasVideo('A', false)
    expect(room.takeEvents().filter((event) => event !== 'layout.changed')).toEqual([
      'member.updated A visible',
      'member.updated A visible',
    ])
  })

  it('is invisible while it is muted, though it is sent', () => {
    const room = new SampleRoom()
    room.join('A', { hasVideo: false, state: { video_muted: true } })
    room.takeEvents()
    room.session.setHasVideo('A', true)
    expect(room.session.member('A')).toMatchObject({ hasVideo: true, isVisible: false })
    expect(room.takeEvents()).not.toContain('member.updated A visible')
  })
})

describe('a member on hold', () => {
  it('is neither heard nor seen', () => {
    const room = roomOf('A', 'B')
    room.session.setHeld('A', true)
    room.session.setHeld('A', true)
    expect(room.session.member('A')).toMatchObject({ isOnHold: true, isVisible: false })
    expect(room.picture).toEqual({ kind: 'speaker', main: 'B' })
    room.session.setHeld('A', false)
    expect(room.session.member('A')).toMatchObject({ isOnHold: false, isVisible: true })
    expect(room.audioOf).toEqual(['A', 'A'])
    expect(room.events.filter((event) => event === 'member.updated A visible')).toHaveLength(2)
  })

  it('has no event if it is a telephone', () => {
    const room = new SampleRoom()
    room.join('A', { isPhone: true })
    room.takeEvents()
    room.session.setHeld('A', true)
    expect(room.audioOf).toEqual(['A'])
    expect(room.takeEvents()).toEqual([])
  })
})

describe('reports of the media', () => {
  it('on talking have an event for each change', () => {
    const room = roomOf('A', 'B')
    room.session.setTalking('A', true)
    room.session.setTalking('A', true, false)
    expect(room.session.member('A')?.isTalking).toBe(true)
    room.session.setTalking('A', false)
    expect(room.takeEvents()).toEqual(['member.talking A', 'member.talking A'])
  })

  it('have no effect for a member that has left', () => {
    const room = roomOf('A', 'B')
    room.session.leave('B', 'left')
    room.takeEvents()
    room.session.setTalking('B', true)
    room.session.setHasVideo('B', false)
    room.session.setHeld('B', true)
    expect(room.takeEvents()).toEqual([])
    expect(room.audioOf).toEqual([])
  })
})
