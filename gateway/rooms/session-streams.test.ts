import { beforeEach, describe, expect, it } from 'vitest'
import { SampleRoom } from './testing/sample-room.ts'

const code = (name: string) => expect.objectContaining({ code: name })
const settled = () => new Promise(setImmediate)
const url = 'rtmp://c.example/live/***'

describe('a stream of a room session', () => {
  let room: SampleRoom
  beforeEach(() => {
    room = new SampleRoom()
    room.join('A')
    room.takeEvents()
  })
  const streams = () => room.session.streams

  it('is started and stopped, and the room says whether there is one', () => {
    const { id } = streams().start(url)
    expect(room.takeEvents()).toEqual([`stream.started ${id} streaming`, 'room.updated streaming'])
    room.clock.advance(3000)
    expect(streams().list).toMatchObject([{ id, url, state: 'streaming', durationMs: 3000 }])
    expect(streams().isStreaming).toBe(true)
    streams().stop(id)
    expect(room.streams[0]!.isStopped).toBe(true)
    expect(room.takeEvents()).toEqual([`stream.ended ${id} completed`, 'room.updated streaming'])
    expect(streams().isStreaming).toBe(false)
    expect(() => streams().stop(id)).toThrow(code('unknown_room_stream'))
  })

  it('is one of at most three, and ends by itself with its reason', async () => {
    for (let i = 0; i < 3; i++) streams().start(url)
    expect(() => streams().start(url)).toThrow(code('too_many_room_streams'))
    room.takeEvents()
    room.streams[1]!.end({ failure: 'refused' })
    await settled()
    expect(room.takeEvents()).toEqual(['stream.ended stream-1 completed'])
    expect(streams().list[1]).toMatchObject({ state: 'completed', failure: 'refused' })
  })

  it('ends with the room, before it', () => {
    streams().start(url)
    room.session.end()
    expect(room.takeEvents().slice(-3)).toEqual([
      'stream.ended stream-0 completed',
      'room.updated streaming',
      'room.ended',
    ])
    expect(() => streams().start(url)).toThrow(code('room_ended'))
  })
})
