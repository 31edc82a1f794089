import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { HeardAudio, PortStats, RoomVideoFigures } from '../../../media/types.ts'
import { FakeClock } from '../../core/clock.ts'
import { type MeasuredMember, type MemberFigures, RoomFigures } from './room-figures.ts'

const stats = (changes: Partial<PortStats> = {}): PortStats => ({
  received: 0,
  sent: 0,
  octetsReceived: 0,
  octetsSent: 0,
  lost: 0,
  jitterMs: 3,
  refused: { source: 0, malformed: 0, 'payload-type': 0, ssrc: 0, srtp: 0, rate: 0 },
  ...changes,
})

describe('the figures of a room', () => {
  let clock: FakeClock
  let members: MeasuredMember[]
  let videos: Map<string, RoomVideoFigures>
  let heard: HeardAudio | undefined
  let videoOf: (id: string) => Promise<RoomVideoFigures>
  let samples: MemberFigures[]
  let asked: string[]
  let figures: RoomFigures
  beforeEach(() => {
    clock = new FakeClock()
    members = []
    videos = new Map()
    heard = undefined
    videoOf = async (id) => videos.get(id) ?? {}
    samples = []
    asked = []
    figures = new RoomFigures({
      clock,
      members: () => members,
      isPresent: (id) => members.some((each) => each.id === id),
      heardOf: async () => heard,
      videoOf: (id) => {
        asked.push(id)
        return videoOf(id)
      },
      onSample: (sample) => samples.push(sample),
    })
  })
  afterEach(() => {
    figures.close()
    expect(clock.running).toBe(0)
  })

  const pass = async (seconds: number) => {
    for (let i = 0; i < seconds; i++) {
      clock.advance(1000)
      for (let turn = 0; turn < 5; turn++) await undefined
    }
  }

  it('are sampled once in 5 s for each member, a part of them in each second', async () => {
    members = Array.from({ length: 300 }, (_, at) => ({ id: `${at}`, isPhone: false, port: undefined }))
    await pass(1)
    expect(asked).toHaveLength(60)
    await pass(4)
    expect(new Set(asked).size).toBe(300)
    expect([asked.length, figures.all.length, samples.length]).toEqual([300, 300, 300])
  })

  it('have the rates and the loss of audio since the sample before, and the video as it is', async () => {
    let now = stats()
    members = [{ id: 'a', isPhone: true, port: { stats: async () => now } }]
    await pass(1)
    expect(figures.of('a')).toEqual({ at: expect.any(Number) })
    const reported = { roundTripMs: 80, far: { lost: 0, jitterMs: 1 } }
    now = stats({ received: 240, lost: 10, octetsReceived: 40_000, octetsSent: 20_000, ...reported })
    videos.set('a', { sent: { bitRate: 500_000, loss: 0.01 } })
    await pass(5)
    expect(figures.of('a')).toEqual({
      at: clock.now(),
      sent: { bitRate: 500_000, loss: 0.01 },
      audio: { sentBitRate: 64_000, receivedBitRate: 32_000, sentLoss: 0.04, jitterMs: 3, roundTripMs: 80 },
    })
    // The member came back over another port.
    now = stats({ received: 3 })
    await pass(5)
    expect(figures.of('a')?.audio).toBeUndefined()
  })

  it('have the loss of the received audio by the reports of browsers and telephones', async () => {
    let now = stats({ sent: 100, far: { lost: 3, jitterMs: 1 }, roundTripMs: 1 })
    const port = { stats: async () => now }
    members = [
      { id: 'page', isPhone: false, port },
      { id: 'phone', isPhone: true, port },
    ]
    heard = { sent: 100, lost: 2 }
    await pass(5)
    now = stats({ sent: 300, far: { lost: 13, jitterMs: 1 }, roundTripMs: 70 })
    heard = { sent: 350, lost: 7, roundTripMs: 40 }
    await pass(5)
    expect(figures.of('page')?.audio).toMatchObject({ receivedLoss: 0.02, roundTripMs: 40 })
    expect(figures.of('phone')?.audio).toMatchObject({ receivedLoss: 0.05, roundTripMs: 70 })
    // A late report of more packets than were sent since.
    heard = { sent: 352, lost: 40 }
    await pass(5)
    expect(figures.of('page')?.audio?.receivedLoss).toBe(1)
    // Another stream, and none.
    heard = { sent: 10, lost: 0 }
    await pass(5)
    expect(figures.of('page')?.audio).not.toHaveProperty('receivedLoss')
    heard = undefined
    await pass(5)
    expect(figures.of('page')?.audio).not.toHaveProperty('receivedLoss')
  })

  it('are at most 5 s old for those who stay while others leave and join', async () => {
    const member = (id: string): MeasuredMember => ({ id, isPhone: false, port: undefined })
    members = Array.from({ length: 20 }, (_, at) => member(`stays ${at}`))
    members = members.flatMap((each, at) => [member(`leaves ${at}`), each])
    await pass(5)
    for (let second = 0; second < 20; second++) {
      const gone = members.find(({ id }) => id.startsWith('leaves'))
      if (gone) figures.remove(gone.id)
      members = [...members.filter((each) => each !== gone), member(`joins ${second}`)]
      await pass(1)
      for (const { id } of members.filter(({ id }) => !id.startsWith('joins')))
        expect(clock.now() - figures.of(id)!.at).toBeLessThanOrEqual(5000)
    }
  })

  it('are none after a sample that failed, until the next one', async () => {
    members = [{ id: 'a', isPhone: false, port: undefined }]
    let video = async (): Promise<RoomVideoFigures> => ({ sent: { bitRate: 1, loss: 0 } })
    videoOf = () => video()
    await pass(1)
    expect(figures.all).toHaveLength(1)
    video = () => Promise.reject(new Error('closed'))
    await pass(5)
    expect([figures.of('a'), figures.all]).toEqual([undefined, []])
    video = async () => ({})
    await pass(5)
    expect(figures.of('a')).toEqual({ at: clock.now() })
  })

  it('end with the member, also while a sample is taken, and with the port', async () => {
    const { promise, resolve } = Promise.withResolvers<PortStats>()
    const closed = Promise.reject(new Error('closed'))
    closed.catch(() => undefined)
    members = [
      { id: 'a', isPhone: false, port: { stats: () => promise } },
      { id: 'b', isPhone: false, port: { stats: () => closed } },
    ]
    await pass(5)
    members = []
    figures.remove('a')
    resolve(stats())
    await pass(1)
    expect(figures.all).toEqual([])
  })
})
