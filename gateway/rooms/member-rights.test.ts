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
