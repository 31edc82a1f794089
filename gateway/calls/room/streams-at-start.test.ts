import { pino } from 'pino'
import { beforeEach, describe, expect, it } from 'vitest'
import { TrunklineError } from '../../core/errors/catalogue.ts'
import { SampleRoom } from '../../rooms/testing/sample-room.ts'
import { StreamsAtStart } from './streams-at-start.ts'

const settled = () => new Promise(setImmediate)
const urls = ['rtmp://a.example/live/secret', 'rtmp://b.example/live/secret']

describe('the streams of a room', () => {
  let room: SampleRoom
  let records: { readonly event: string; readonly reason: string; readonly waitMs?: number }[]
  let reads: string[]
  /** Answers to the reads; the last one is repeated. */
  let answers: (readonly string[] | Error)[]

  beforeEach(() => {
    room = new SampleRoom()
    records = []
    reads = []
    answers = [urls]
    const urlsOf = async (roomId: string) => {
      reads.push(roomId)
      const answer = answers.length > 1 ? answers.shift()! : answers[0]!
      if (answer instanceof Error) throw answer
      return answer
    }
    new StreamsAtStart(room.session, {
      urlsOf,
      clock: room.clock,
      log: pino({ base: null }, { write: (line: string) => records.push(JSON.parse(line)) }),
    })
  })

  const started = () => room.streams.map(({ url }) => url)

  it('start with the first member, once', async () => {
    expect(reads).toEqual([])
    room.join('A')
    room.join('B')
    await settled()
    expect([reads, started()]).toEqual([['R'], urls])
    room.session.end()
    expect(room.streams.every(({ isStopped }) => isStopped)).toBe(true)
  })

  it('are tried again if they cannot be read or started, without their keys in the log', async () => {
    answers = [new Error('the store is away'), urls.slice(0, 1)]
    room.join('A')
    await settled()
    const { streams } = room.session
    const start = streams.start.bind(streams)
    streams.start = () => {
      throw new TrunklineError('ffmpeg_busy')
    }
    room.clock.advance(2000)
    await settled()
    room.clock.advance(2000)
    expect(started()).toEqual([])
    streams.start = start
    room.clock.advance(10_000)
    expect([reads.length, started()]).toEqual([2, urls.slice(0, 1)])
    const lines = records.map(({ event, reason, waitMs }) => [event, reason, waitMs])
    expect(lines).toEqual([
      ['room.stream-failed', 'Error: the store is away', 2000],
      ['room.stream-failed', 'ffmpeg_busy', 2000],
      ['room.stream-failed', 'ffmpeg_busy', 10_000],
    ])
    expect(JSON.stringify(records)).not.toContain('secret')
  })

  it('are given up after four further attempts, and at the end of the session', async () => {
    answers = [new Error('the store is away')]
    room.join('A')
    for (const waitMs of [2000, 10_000, 60_000, 300_000, 900_000]) {
      await settled()
      room.clock.advance(waitMs)
    }
    await settled()
    expect([reads.length, records.at(-1)?.waitMs]).toEqual([5, undefined])
    const other = new SampleRoom()
    let count = 0
    const urlsOf = () => {
      count++
      return Promise.reject(new Error('away'))
    }
    new StreamsAtStart(other.session, { urlsOf, clock: other.clock, log: pino({ level: 'silent' }) })
    other.join('A')
    await settled()
    other.session.end()
    other.clock.advance(10_000)
    await settled()
    expect(count).toBe(1)
  })
})
