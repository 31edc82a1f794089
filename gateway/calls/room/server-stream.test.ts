import { beforeEach, describe, expect, it } from 'vitest'
import { RtmpForbidden } from '../../callbacks/rtmp-target.ts'
import { FakeClock } from '../../core/clock.ts'
import { type FakeRoomStream, FakeRoomStreams } from '../testing/fake-room-streams.ts'
import { RoomsFixture } from '../testing/rooms-fixture.ts'
import { ServerStream, type StreamFailure } from './server-stream.ts'

describe('a stream to a server', () => {
  let clock: FakeClock
  let streams: FakeRoomStreams
  let failures: StreamFailure[]

  beforeEach(() => {
    clock = new FakeClock()
    streams = new FakeRoomStreams()
    failures = []
  })

  const start = (connect: () => Promise<never> = () => Promise.reject(new Error('no network'))) => {
    const { masked, ...target } = streams.target('rtmp://c.example/live/secret')
    return new ServerStream({ ...target, connect }, masked, {
      start: (to) => streams.streamRoom({} as never, to),
      clock,
      onFailure: (failure) => failures.push(failure),
    })
  }

  const last = (): FakeRoomStream => streams.streams.at(-1)!

  /** Ends the present attempt. */
  const fails = async (sentMs = 0) => {
    last().end({ fault: 'lost', failure: 'The connection is lost.', sentMs })
    await new Promise(setImmediate)
  }

  it('is tried again after growing waits, and then ends with the reason', async () => {
    const stream = start()
    for (const waitMs of [1000, 3000, 10_000, 30_000]) {
      await fails()
      expect(failures.at(-1)).toMatchObject({ fault: 'lost', waitMs })
      const tries = streams.streams.length
      clock.advance(waitMs - 1)
      expect(streams.streams).toHaveLength(tries)
      clock.advance(1)
      expect(streams.streams).toHaveLength(tries + 1)
    }
    await fails()
    expect(failures.at(-1)).not.toHaveProperty('waitMs')
    expect(await stream.done).toEqual({ failure: 'The connection is lost.' })
    clock.advance(100_000)
    expect(streams.streams).toHaveLength(5)
  })

  it('has all attempts again after a minute', async () => {
    start()
    await fails()
    clock.advance(1000)
    await fails()
    expect(failures.at(-1)).toMatchObject({ waitMs: 3000 })
    clock.advance(3000)
    await fails(60_000)
    expect(failures.at(-1)).toMatchObject({ waitMs: 1000 })
  })

  it('ends between two attempts, and in one', async () => {
    const waiting = start()
    await fails()
    waiting.stop()
    expect(await waiting.done).toEqual({})
    clock.advance(100_000)
    expect(streams.streams).toHaveLength(1)
    const running = start()
    running.stop()
    running.stop()
    expect(await running.done).toEqual({})
    expect(failures).toHaveLength(1)
  })

  it('is not tried again at an address that is not permitted', async () => {
    const stream = start(() => Promise.reject(new RtmpForbidden('not public')))
    await expect(last().target.connect(new AbortController().signal)).rejects.toThrow('not public')
    last().end({ fault: 'unreachable', failure: 'not public', sentMs: 0 })
    expect(await stream.done).toEqual({ failure: 'not public' })
    expect(streams.streams).toHaveLength(1)
    expect(stream.url).toBe('rtmp://c.example/live/***')
  })
})

it('a stream of a room takes a place of ffmpeg, and logs its faults without the key and what ffmpeg says', async () => {
  const fixture = new RoomsFixture()
  const { seats } = await fixture.join('A')
  const { streams } = seats[0]!.session
  expect(() => streams.start('rtmp://c.example/live')).toThrow(
    expect.objectContaining({ code: 'bad_room_stream_url' }),
  )
  const { id } = streams.start('rtmp://c.example/live/secret')
  expect(fixture.files.streams).toBe(1)
  const end = { fault: 'encoder', failure: 'It cannot be encoded.', detail: 'no memory', sentMs: 0 } as const
  for (const waitMs of [1000, 3000, 10_000, 30_000, undefined]) {
    fixture.streams.streams.at(-1)!.end(end)
    await new Promise(setImmediate)
    if (waitMs !== undefined) fixture.clock.advance(waitMs)
  }
  await new Promise(setImmediate)
  expect(streams.list).toMatchObject([{ id, state: 'completed', failure: 'It cannot be encoded.' }])
  expect(fixture.files.streams).toBe(0)
  const lines = fixture.lines.filter(({ event }) => String(event).startsWith('room.stream'))
  expect(lines.map(({ event }) => event)).toEqual([
    'room.stream-started',
    ...Array(5).fill('room.stream-failed'),
    'room.stream-ended',
  ])
  expect(lines[1]).toMatchObject({ stream: id, fault: 'encoder', detail: 'no memory', waitMs: 1000 })
  expect(JSON.stringify(fixture.lines)).not.toContain('secret')
})
