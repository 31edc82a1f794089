import { describe, expect, it } from 'vitest'
import { FakeClock } from '../../core/clock.ts'
import { FakePort, FakeVideo, FakeVideos, fakeLeg } from '../testing/fake-legs.ts'
import { Bridges } from './bridges.ts'
import type { LegOwner } from './leg.ts'

const clock = new FakeClock()

const owned = () => {
  const heard: string[] = []
  const owner: LegOwner = {
    legEarly: () => heard.push('early'),
    legAnswered: () => heard.push('answered'),
    legDigit: (_leg, digit) => heard.push(`digit ${digit}`),
    legHeld: (_leg, held) => heard.push(`held ${held}`),
    legEnded: () => heard.push('ended'),
  }
  const made = fakeLeg(clock, 'call')
  made.leg.own(owner)
  return { ...made, heard }
}

describe('a leg', () => {
  it('ends once from either side, and closes its port', () => {
    const { leg, far, port, heard } = owned()
    leg.ended({ code: 'canceled' })
    leg.end({ code: 'no_answer' })
    leg.ended({ code: 'normal' })
    expect(leg.state).toMatchObject({ kind: 'ended', by: 'far', cause: { code: 'canceled' } })
    expect([far.requests, heard, port.closed]).toEqual([['end canceled'], ['ended'], true])
  })

  it('reports nothing after its end', async () => {
    const { leg, far, port, heard } = owned()
    leg.end({ code: 'normal' })
    leg.early(true)
    leg.answered()
    leg.digit('1')
    leg.hold(true)
    port.report({ kind: 'timeout', phase: 'media' })
    leg.ring()
    await Promise.all([leg.progress(), leg.answer(), leg.sendDigits('1')])
    expect([heard, far.requests]).toEqual([['ended'], ['end normal']])
  })

  it('releases everything even if its signalling fails', () => {
    const { leg, far, port, heard } = owned()
    far.end = () => {
      throw new Error('the far side is broken')
    }
    expect(() => leg.end({ code: 'normal' })).toThrow('broken')
    expect([port.closed, heard]).toEqual([true, ['ended']])
  })

  it('closes a port that is set after its end', () => {
    const { leg } = owned()
    leg.end({ code: 'canceled' })
    const late = new FakePort('call')
    leg.setPort(late)
    expect(late.closed).toBe(true)
  })

  it('reports a digit once that arrives both in the audio and by a message', () => {
    const audio = owned()
    const message = owned()
    for (const digit of '12') {
      audio.port.report({ kind: 'digit', digit, durationMs: 100, by: 'event' })
      audio.leg.digit(digit)
      message.leg.digit(digit)
      message.port.report({ kind: 'digit', digit, durationMs: 100, by: 'event' })
    }
    expect(audio.heard).toEqual(['digit 1', 'digit 2'])
    expect(message.heard).toEqual(['digit 1', 'digit 2'])
  })

  it('ends at a media time-out only after its answer', () => {
    const { leg, port } = owned()
    port.report({ kind: 'timeout', phase: 'start' })
    expect(leg.isEnded).toBe(false)
    leg.answered()
    port.report({ kind: 'timeout', phase: 'media' })
    expect(leg.state).toMatchObject({ kind: 'ended', by: 'us', cause: { code: 'media_timeout' } })
  })

  it('runs each listener to its end once, and no removed one', () => {
    const { leg } = owned()
    const ran: string[] = []
    leg.whenGone(() => ran.push('kept'))
    leg.whenGone(() => ran.push('taken back'))()
    leg.end({ code: 'normal' })
    leg.whenGone(() => ran.push('late'))
    expect(ran).toEqual(['kept', 'late'])
  })
})

describe('a bridge', () => {
  it('closes when either leg ends, and parts its ports once', () => {
    let parted = 0
    const bridges = new Bridges({ join: () => {}, detach: () => parted++ }, new FakeVideos())
    const a = owned().leg
    const b = owned().leg
    const first = bridges.join(a, b)
    first.close()
    const second = bridges.join(a, b)
    b.end({ code: 'normal' })
    second.close()
    a.end({ code: 'normal' })
    expect([bridges.count, parted]).toEqual([0, 2])
  })

  it('joins the video of two browsers until its end, and of no other pair', () => {
    const videos = new FakeVideos()
    const bridges = new Bridges({ join: () => {}, detach: () => {} }, videos)
    const browser = () => {
      const { leg, port } = owned()
      const video = new FakeVideo()
      leg.setPort(port, video)
      return { leg, video }
    }
    const a = browser()
    const b = browser()
    const telephone = owned()
    const alone = bridges.join(a.leg, telephone.leg)
    expect([bridges.count, bridges.videos]).toEqual([1, 0])
    alone.close()
    const first = bridges.join(a.leg, b.leg)
    expect([...videos.joined]).toEqual([[a.video, b.video]])
    first.close()
    first.close()
    expect([bridges.videos, videos.joined.size]).toEqual([0, 0])
    bridges.join(a.leg, b.leg)
    expect(bridges.videos).toBe(1)
    a.leg.end({ code: 'normal' })
    expect([bridges.videos, videos.joined.size]).toEqual([0, 0])
  })
})
