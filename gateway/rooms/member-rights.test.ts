import { describe, expect, it } from 'vitest'
import { SampleRoom } from './testing/sample-room.ts'

const silent = { canSpeak: false, canHear: true, canShow: false }

describe('a member of the audience', () => {
  it('is not listed, sends nothing, plays no tone, and keeps the room open', () => {
    const room = new SampleRoom()
    room.join('A')
    const viewer = room.join('V', { isAudience: true })
    const { session } = room
    expect(session.members.map(({ id }) => id)).toEqual(['A'])
    expect(session.present.map(({ id }) => id)).toEqual(['A', 'V'])
    expect([session.size, session.audienceCount, viewer.media]).toEqual([2, 1, silent])
    expect([viewer.hasVideo, viewer.state.audio_muted, viewer.state.video_muted]).toEqual([false, true, true])
    session.setHasVideo('V', true)
    session.change('V', { audio_muted: false })
    expect([viewer.hasVideo, viewer.state.audio_muted]).toEqual([false, true])
    session.leave('A', 'left')
    expect([room.tones, session.isEnded, session.audienceCount]).toEqual([['leave'], false, 1])
    expect(room.picture).toEqual({ kind: 'speaker' })
  })
})

describe('the holder of a room token', () => {
  const holder = { tokenId: 't', mediaAllowed: 'all' } as const
  const withAudience = () => {
    const room = new SampleRoom({ maxMembers: 2, removeAfterMs: 9_000 })
    room.join('A')
    room.join('V', { isAudience: true, holder, hasVideo: false })
    room.session.setLocked(true)
    room.takeEvents()
    return room
  }

  it('is promoted in its place, also in a locked and full room, with its time limit', () => {
    const room = withAudience()
    const { session } = room
    room.clock.advance(5_000)
    session.promote('V', { isAudioMuted: true, meta: { seat: 1 } })
    expect(room.takeEvents()).toEqual(['member.promoted V'])
    expect(session.members.map(({ id }) => id)).toEqual(['A', 'V'])
    expect(session.member('V')).toMatchObject({
      isAudience: false,
      media: { canSpeak: true, canHear: true, canShow: true },
      state: { audio_muted: true, video_muted: false },
      meta: { seat: 1 },
    })
    expect(session.audienceCount).toBe(0)
    session.setHasVideo('V', true)
    expect(room.picture).toEqual({ kind: 'speaker', main: 'A', other: 'V' })
    room.clock.advance(4_000)
    expect(room.removals).toEqual(['A expired', 'V expired'])
  })

  it('is promoted to the media that its token or the request permits', () => {
    const room = withAudience()
    room.session.promote('V', { mediaAllowed: 'audio-only' })
    expect(room.session.member('V')).toMatchObject({
      media: { canSpeak: true, canHear: true, canShow: false },
      state: { audio_muted: false, video_muted: true },
    })
    room.session.demote('V')
    room.session.promote('V')
    expect(room.session.member('V')?.media.canShow).toBe(false)
  })

  it('is demoted at once, without its screen, and stays so with its token', () => {
    const room = withAudience()
    const { session } = room
    session.setLocked(false)
    session.leave('A', 'left')
    session.promote('V')
    session.setHasVideo('V', true)
    room.share('S', 'V')
    room.takeEvents()
    session.demote('V')
    expect(room.removals).toEqual(['S removed'])
    expect(room.takeEvents()).toEqual([
      'member.left S removed',
      'layout.changed',
      'member.demoted V',
      'layout.changed',
    ])
    expect(session.member('V')).toMatchObject({ isAudience: true, hasVideo: false, media: silent })
    session.setHasVideo('V', true)
    expect(room.picture).toEqual({ kind: 'speaker' })
    room.join('A')
    session.leave('V', 'left')
    expect(room.join('W', { holder }).isAudience).toBe(true)
  })

  it('is unknown in the role that it has already; others keep theirs', () => {
    const { session } = withAudience()
    const unknown = expect.objectContaining({ code: 'room_member_unknown' })
    expect(() => session.demote('V')).toThrow(unknown)
    expect(() => session.promote('A')).toThrow(unknown)
    expect(() => session.promote('X')).toThrow(unknown)
    expect(() => session.demote('A')).toThrow(expect.objectContaining({ code: 'not_permitted' }))
    expect(() => session.promote('V', { meta: { text: 'x'.repeat(3_000) } })).toThrow(
      expect.objectContaining({ code: 'room_meta_too_large' }),
    )
    expect(session.member('V')?.isAudience).toBe(true)
  })
})

describe('a member', () => {
  it('stays muted in media that it may not send', () => {
    const room = new SampleRoom()
    const member = room.join('A', { media: { canSpeak: true, canHear: true, canShow: false } })
    room.session.change('A', { video_muted: false, audio_muted: true })
    expect([member.state.video_muted, member.state.audio_muted, member.isVisible]).toEqual([
      true,
      true,
      false,
    ])
    room.session.change('A', { audio_muted: false })
    expect(member.state.audio_muted).toBe(false)
  })

  it('is removed by the shorter of its own limit and that of the room', () => {
    const room = new SampleRoom({ removeAfterMs: 5_000 })
    room.join('A', { removeAfterMs: 2_000 })
    room.join('B', { removeAfterMs: 9_000 })
    room.clock.advance(2_000)
    expect(room.removals).toEqual(['A expired'])
    room.clock.advance(3_000)
    expect(room.removals).toEqual(['A expired', 'B expired'])
    expect(room.clock.running).toBe(0)
  })

  it('ends the session when it leaves, if it joined so', () => {
    const room = new SampleRoom()
    room.join('A', { endsSessionOnLeave: true })
    room.join('B')
    room.join('C')
    room.session.leave('C', 'left')
    expect(room.session.isEnded).toBe(false)
    room.session.leave('A', 'left')
    expect([room.removals, room.session.isEnded]).toEqual([['B ended'], true])
  })
})
