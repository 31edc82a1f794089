import { describe, expect, it } from 'vitest'
import type { RoomMember, RoomSettings } from './room-types.ts'
import { SampleRoom } from './testing/sample-room.ts'

const code = (name: string) => expect.objectContaining({ code: name })

describe('joining a room', () => {
  it('adds a member with the defaults of its state', () => {
    const room = new SampleRoom()
    const member = room.join('A', { hasVideo: false })
    expect(member).toMatchObject({
      id: 'A',
      joinedAt: room.clock.now(),
      isVisible: false,
      isTalking: false,
      isOnHold: false,
      requestedPosition: 'auto',
      meta: {},
      state: { audio_muted: false, video_muted: false, deaf: false, handraised: false, input_volume: 0 },
    })
    expect(room.session.members).toEqual([member])
    expect(room.session.member('A')).toBe(member)
    expect(room.takeEvents()).toEqual(['member.joined A'])
  })

  it('takes over the state, the metadata and the position of the member', () => {
    const member = new SampleRoom().join('A', {
      state: { audio_muted: true, input_volume: -7 },
      meta: { seat: 3 },
      requestedPosition: 'standard-2',
    })
    expect(member.state).toMatchObject({ audio_muted: true, input_volume: -7, deaf: false })
    expect(member.meta).toEqual({ seat: 3 })
    expect(member.requestedPosition).toBe('standard-2')
  })

  it('mutes the video if the room says so, but not that of a screen', () => {
    const room = new SampleRoom({ isVideoOffAtJoin: true })
    expect(room.join('A').state.video_muted).toBe(true)
    expect(room.join('B', { state: { video_muted: false } }).state.video_muted).toBe(false)
    expect(room.share('S', 'A').state.video_muted).toBe(false)
  })

  it('never gives a picture to a telephone', () => {
    const room = new SampleRoom()
    expect(room.join('A', { isPhone: true, hasVideo: true }).hasVideo).toBe(false)
    room.session.setHasVideo('A', true)
    expect(room.session.member('A')?.hasVideo).toBe(false)
  })

  it('is rejected by a full room, whose screens count', () => {
    const room = new SampleRoom({ maxMembers: 3 })
    room.join('A')
    room.join('B')
    room.share('S', 'A')
    expect(() => room.join('C')).toThrow(code('room_full'))
    expect(() => room.share('T', 'B')).toThrow(code('room_full'))
    room.session.leave('S', 'left')
    room.session.check(room.clock.now())
    expect(room.join('C').id).toBe('C')
  })

  it('is rejected by a locked room, except for the screens and devices of its members', () => {
    const room = new SampleRoom()
    room.join('A')
    room.session.setLocked(true)
    expect(() => room.session.check(room.clock.now())).toThrow(code('room_locked'))
    expect(() => room.join('B')).toThrow(code('room_locked'))
    room.share('S', 'A')
    room.join('D', { type: 'device', parentId: 'A' })
    room.session.setLocked(false)
    room.join('B')
    expect(room.session.size).toBe(4)
  })

  it.each<readonly [string, (now: number) => Partial<RoomSettings>]>([
    ['before it opens', (now) => ({ joinFrom: now + 1 })],
    ['after it has closed', (now) => ({ joinUntil: now - 1 })],
    ['at the time of its end', (now) => ({ removeAt: now })],
  ])('is rejected %s', (_, settings) => {
    const room = new SampleRoom(settings(new SampleRoom().clock.now()))
    expect(() => room.join('A')).toThrow(code('room_not_open'))
    expect(() => room.session.check(room.clock.now())).toThrow(code('room_not_open'))
    expect(room.session.size).toBe(0)
  })

  it('is possible at the first and at the last moment', () => {
    const now = new SampleRoom().clock.now()
    const room = new SampleRoom({ joinFrom: now, joinUntil: now })
    room.join('A')
    room.clock.advance(1)
    expect(() => room.join('B')).toThrow(code('room_not_open'))
    expect(room.share('S', 'A').type).toBe('screen')
  })

  it.each([
    ['a screen without a parent', { type: 'screen' as const }, 'room_member_unknown'],
    ['a device of a screen', { type: 'device' as const, parentId: 'S' }, 'room_member_unknown'],
    ['an unknown position', { requestedPosition: 'sofa' }, 'room_position_unknown'],
    ['long metadata', { meta: { text: 'x'.repeat(2048) } }, 'room_meta_too_large'],
    ['an unknown layout', { type: 'screen' as const, parentId: 'A', layout: 'x' }, 'room_layout_unknown'],
  ])('is rejected for %s, and changes nothing', (_, options, name) => {
    const room = new SampleRoom({ removeAfterMs: 1000 })
    room.join('A')
    room.share('S', 'A')
    room.takeEvents()
    const timers = room.clock.running
    expect(() => room.join('X', options)).toThrow(code(name))
    expect(room.session.size).toBe(2)
    expect(room.takeEvents()).toEqual([])
    expect(room.clock.running).toBe(timers)
  })

  it('fails for the id of a present member', () => {
    const room = new SampleRoom()
    room.join('A')
    expect(() => room.join('A')).toThrow('joins twice')
  })
})

describe('leaving a room', () => {
  it('removes the screens and devices of the member too, and calls their owners once', () => {
    const room = new SampleRoom()
    room.join('A')
    room.join('B')
    room.share('S', 'A', {
      onRemoved: (reason) => {
        room.removals.push(`S ${reason}`)
        room.session.leave('A', 'left')
      },
    })
    room.join('D', { type: 'device', parentId: 'A' })
    room.takeEvents()
    room.session.leave('A', 'left')
    room.session.leave('A', 'left')
    expect(room.removals.toSorted()).toEqual(['D removed', 'S removed'])
    expect(room.takeEvents().filter((event) => event.startsWith('member.left'))).toEqual([
      'member.left D removed',
      'member.left A left',
      'member.left S removed',
    ])
    expect(room.session.members.map(({ id }) => id)).toEqual(['B'])
  })

  it('ends the session with the last member', () => {
    const room = new SampleRoom({ removeAt: new SampleRoom().clock.now() + 60_000, removeAfterMs: 50_000 })
    room.join('A')
    room.share('S', 'A')
    room.takeEvents()
    expect(room.clock.running).toBe(2)
    room.session.leave('A', 'left')
    expect(room.takeEvents().at(-1)).toBe('room.ended')
    expect(room.session.isEnded).toBe(true)
    expect(room.clock.running).toBe(0)
    expect(() => room.join('B')).toThrow(code('room_ended'))
    expect(() => room.session.check(room.clock.now())).toThrow(code('room_ended'))
  })

  it('lets no member in while the last one leaves', () => {
    const room = new SampleRoom()
    room.join('A')
    const results: unknown[] = []
    room.session.listen((event) => {
      if (event.kind !== 'member.left') return
      try {
        room.join('B')
      } catch (error) {
        results.push(error)
      }
    })
    room.session.leave('A', 'left')
    expect(results).toEqual([code('room_ended')])
  })

  it('calls the owner of a removed member, and removes it even if the owner does not', () => {
    const room = new SampleRoom()
    room.join('A')
    room.join('B')
    room.session.remove('A')
    expect(room.removals).toEqual(['A removed'])
    expect(room.session.members.map(({ id }) => id)).toEqual(['B'])
    expect(room.takeEvents()).toContain('member.left A removed')
    expect(() => room.session.remove('A')).toThrow(code('room_member_unknown'))
  })

  it('uses the reason of an owner that leaves by itself', () => {
    const room = new SampleRoom()
    room.join('A')
    room.join('B', { onRemoved: () => room.session.leave('B', 'left') })
    room.session.remove('B')
    expect(room.takeEvents()).toContain('member.left B left')
  })

  it('removes a member whose owner fails', () => {
    const room = new SampleRoom()
    room.join('A')
    room.join('B', {
      onRemoved: () => {
        throw new Error('owner')
      },
    })
    room.session.remove('B')
    expect(room.session.size).toBe(1)
    expect(room.errors).toHaveLength(1)
  })

  it.each(['removed', 'ended'] as const)('of all members ends the session: %s', (reason) => {
    const room = new SampleRoom()
    room.join('A')
    room.join('B')
    room.share('S', 'B')
    room.session.end(reason)
    room.session.end(reason)
    expect(room.removals).toEqual([`A ${reason}`, `B ${reason}`, `S ${reason}`])
    expect(room.events.filter((event) => event === 'room.ended')).toHaveLength(1)
    expect(room.session.isEnded).toBe(true)
  })

  it('ends a session that no member has joined', () => {
    const room = new SampleRoom({ removeAt: new SampleRoom().clock.now() + 1000 })
    room.session.end()
    expect(room.takeEvents()).toEqual(['room.ended'])
    expect(room.clock.running).toBe(0)
  })
})

describe('time limits of a room', () => {
  it('remove all members at the time of the end', () => {
    const room = new SampleRoom({ removeAt: new SampleRoom().clock.now() + 5000 })
    room.join('A')
    room.join('B')
    room.clock.advance(4999)
    expect(room.removals).toEqual([])
    room.clock.advance(1)
    expect(room.removals).toEqual(['A expired', 'B expired'])
    expect(room.session.isEnded).toBe(true)
    expect(room.clock.running).toBe(0)
  })

  it('remove each member after its own time, with its screen', () => {
    const room = new SampleRoom({ removeAfterMs: 5000 })
    room.join('A')
    room.clock.advance(3000)
    room.join('B')
    room.clock.advance(1000)
    room.share('S', 'A')
    room.clock.advance(1000)
    expect(room.removals).toEqual(['A expired', 'S expired'])
    room.session.leave('B', 'left')
    expect(room.clock.running).toBe(0)
  })
})

describe('tones of a room', () => {
  it('play if another member is there, and not for screens', () => {
    const room = new SampleRoom()
    room.join('A')
    room.share('S', 'A')
    expect(room.tones).toEqual([])
    room.join('B')
    expect(room.tones).toEqual(['join'])
    room.session.leave('S', 'left')
    expect(room.tones).toEqual(['join'])
    room.session.leave('A', 'left')
    room.session.leave('B', 'left')
    expect(room.tones).toEqual(['join', 'leave'])
  })

  it('do not play at the end, or if the room has none', () => {
    const ended = new SampleRoom()
    ended.join('A')
    ended.join('B')
    ended.session.end()
    expect(ended.tones).toEqual(['join'])
    const silent = new SampleRoom({ hasTones: false })
    silent.join('A')
    silent.join('B')
    silent.session.leave('A', 'left')
    expect(silent.tones).toEqual([])
  })
})

describe('listeners of a room', () => {
  it('all receive the events in one order, even if one of them fails or causes more', () => {
    const room = new SampleRoom()
    const order: string[] = []
    room.session.listen(({ kind }) => {
      if (kind === 'member.joined') room.session.setLocked(true)
      throw new Error('listener')
    })
    const stop = room.session.listen((event) => order.push(event.kind))
    room.join('A')
    expect(order).toEqual(['member.joined', 'room.updated'])
    expect(room.errors).toHaveLength(2)
    stop()
    room.session.setLocked(false)
    expect(order).toHaveLength(2)
  })

  it('find the picture and the layout up to date', () => {
    const room = new SampleRoom()
    room.join('A')
    const layers: (readonly string[])[] = []
    room.session.listen(({ kind }) => {
      if (kind.startsWith('member')) layers.push(room.layersOf('A'))
    })
    room.join('B')
    room.session.leave('B', 'left')
    expect(layers).toEqual([
      ['full-screen B', 'standard-1 A'],
      ['standard-1 A', 'full-screen -'],
    ])
  })

  it('receive nothing after the end', () => {
    const room = new SampleRoom()
    room.join('A')
    const kinds: string[] = []
    room.session.listen(({ kind }) => {
      kinds.push(kind)
      if (kind === 'room.ended') room.session.setLocked(true)
    })
    room.session.end()
    room.session.changeMeta({ set: { a: 1 } })
    room.session.setVideoMutedHidden(true)
    room.session.setPictureKind('composed')
    expect(kinds.at(-1)).toBe('room.ended')
  })
})

describe('settings of a session', () => {
  it('start with those of the room', () => {
    const { session, clock } = new SampleRoom({ isHandraisePrioritized: true, meta: { a: 1 } })
    expect(session).toMatchObject({
      id: 'S',
      startedAt: clock.now(),
      isLocked: false,
      isVideoMutedHidden: false,
      isHandraisePrioritized: true,
      meta: { a: 1 },
      isEnded: false,
      size: 0,
    })
  })

  it('report each change, also without effect', () => {
    const room = new SampleRoom()
    const { session } = room
    session.setLocked(true)
    session.setLocked(true)
    session.setVideoMutedHidden(true)
    session.setHandraisePrioritized(true)
    expect(session).toMatchObject({ isLocked: true, isVideoMutedHidden: true, isHandraisePrioritized: true })
    expect(room.takeEvents()).toEqual([
      'room.updated locked',
      'room.updated locked',
      'room.updated hide_video_muted',
      'room.updated prioritize_handraise',
    ])
  })

  it('replace, merge and remove metadata of the room', () => {
    const room = new SampleRoom({ meta: { a: 1 } })
    room.session.changeMeta({ update: { b: 2 } })
    expect(room.session.meta).toEqual({ a: 1, b: 2 })
    room.session.changeMeta({ remove: ['a', 'x'] })
    expect(room.session.meta).toEqual({ b: 2 })
    room.session.changeMeta({ set: { c: 3 } })
    expect(room.session.meta).toEqual({ c: 3 })
    expect(room.takeEvents()).toEqual(Array(3).fill('room.updated meta'))
  })

  it('replace, merge and remove metadata of a member', () => {
    const room = new SampleRoom()
    const member: RoomMember = room.join('A', { meta: { a: 1 } })
    room.takeEvents()
    room.session.changeMemberMeta('A', { update: { b: 2 } })
    expect(member.meta).toEqual({ a: 1, b: 2 })
    room.session.changeMemberMeta('A', { remove: ['a'] })
    expect(member.meta).toEqual({ b: 2 })
    room.session.changeMemberMeta('A', { set: { c: 3 } })
    expect(member.meta).toEqual({ c: 3 })
    expect(room.takeEvents()).toEqual(Array(3).fill('member.updated A meta'))
    expect(() => room.session.changeMemberMeta('B', { set: {} })).toThrow(code('room_member_unknown'))
  })

  it('limit metadata to 2048 characters of JSON', () => {
    const room = new SampleRoom()
    room.join('A')
    room.takeEvents()
    // The braces, the key and the quotes take 8 characters.
    const fitting = { a: 'x'.repeat(2040) }
    room.session.changeMeta({ set: fitting })
    room.session.changeMemberMeta('A', { set: fitting })
    expect(() => room.session.changeMeta({ update: { b: 1 } })).toThrow(code('room_meta_too_large'))
    expect(() => room.session.changeMemberMeta('A', { update: { b: 1 } })).toThrow(
      code('room_meta_too_large'),
    )
    expect(room.session.meta).toEqual(fitting)
    expect(room.session.member('A')?.meta).toEqual(fitting)
    expect(room.takeEvents()).toHaveLength(2)
  })
})
