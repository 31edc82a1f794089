import { beforeEach, describe, expect, it } from 'vitest'
import { SampleRoom } from './testing/sample-room.ts'

const code = (name: string) => expect.objectContaining({ code: name })
const settled = () => new Promise(setImmediate)
const film = { url: 'https://c.example/film.mp4', volume: 0, fromMs: 0 }

describe('a playback into a room session', () => {
  let room: SampleRoom
  beforeEach(() => {
    room = new SampleRoom()
    room.join('A')
    room.join('B')
    room.takeEvents()
  })
  const playbacks = () => room.session.playbacks
  const media = () => room.playbacks.at(-1)!

  it('is started, changed and stopped, with an event for each change', () => {
    const { id } = room.session.play({ ...film, volume: -10, fromMs: 500 })
    expect(room.takeEvents()).toEqual([`playback.started ${id} playing`])
    expect(playbacks().list).toEqual([
      {
        id,
        url: film.url,
        state: 'playing',
        volume: -10,
        positionMs: 500,
        startedAt: room.clock.now(),
      },
    ])
    playbacks().pause(id)
    playbacks().pause(id)
    playbacks().resume(id)
    playbacks().resume(id)
    expect(playbacks().setVolume(id, 20).volume).toBe(20)
    playbacks().seek(id, 4000)
    expect(playbacks().seekBy(id, -1500).positionMs).toBe(2500)
    playbacks().seekBy(id, -9000)
    expect(media().calls).toEqual(['pause', 'resume', 'volume 20', 'seek 4000', 'seek 2500', 'seek 0'])
    expect(room.takeEvents()).toEqual(
      ['paused', 'playing', 'playing', 'playing', 'playing', 'playing'].map(
        (state) => `playback.updated ${id} ${state}`,
      ),
    )
    room.clock.advance(1000)
    playbacks().stop(id)
    expect(room.takeEvents()).toEqual([`playback.ended ${id} completed`])
    expect(playbacks().list).toMatchObject([{ state: 'completed', endedAt: room.clock.now() }])
    for (const act of ['pause', 'resume', 'stop'] as const)
      expect(() => playbacks()[act](id)).toThrow(code('unknown_playback'))
  })

  it('is the only one of its time, and ends by itself, also with a failure', async () => {
    room.session.play(film)
    expect(() => room.session.play(film)).toThrow(code('too_many_playbacks'))
    media().end({ failure: 'broken' })
    await settled()
    expect(playbacks().list).toMatchObject([{ state: 'completed', failure: 'broken' }])
    room.session.play(film)
    media().end({})
    await settled()
    expect(room.takeEvents().filter((event) => event.startsWith('playback.ended'))).toHaveLength(2)
  })

  it('ends with the room, before it', () => {
    const { id } = room.session.play(film)
    room.session.end()
    expect(media().calls).toEqual(['stop'])
    expect(room.takeEvents().slice(-2)).toEqual([`playback.ended ${id} completed`, 'room.ended'])
    expect(() => room.session.play(film)).toThrow(code('room_ended'))
  })

  it('is shown to all once it has pictures, and the cameras again after its end', () => {
    const { id } = room.session.play(film)
    expect(room.picture).toEqual({ kind: 'speaker', main: 'A', other: 'B' })
    media().showPicture()
    expect(room.picture).toEqual({ kind: 'speaker', main: id })
    expect(room.layersOf('A')).toEqual(['playback -', 'standard-1 A'])
    expect(room.session.layoutFor('B').layers[0]).toMatchObject({
      playbackId: id,
      isVisible: true,
      width: 100,
    })
    expect(room.takeEvents().at(-1)).toBe('layout.changed')
    playbacks().stop(id)
    expect(room.picture).toEqual({ kind: 'speaker', main: 'A', other: 'B' })
    media().showPicture()
    expect(room.picture).toEqual({ kind: 'speaker', main: 'A', other: 'B' })
  })

  it('covers the composed picture, whose hidden members are not drawn', () => {
    room = new SampleRoom({}, 'composed')
    room.join('A')
    const { id } = room.session.play(film)
    media().showPicture()
    room.join('B', { requestedPosition: 'playback' })
    const layers = room.picture?.kind === 'composed' ? room.picture.layers : []
    expect(layers.map(({ memberId, isVisible }) => [memberId, isVisible])).toEqual([
      ['A', false],
      ['B', false],
      [id, true],
    ])
    room.share('S', 'A')
    expect(room.layersOf()).toContain('full-screen S')
    expect(room.session.layoutFor().layers.find(({ memberId }) => memberId === 'S')?.isVisible).toBe(true)
  })

  it('brings a layout and positions, and its layout ends with it', () => {
    room = new SampleRoom({}, 'composed')
    room.join('A')
    const { id } = room.session.play({ ...film, layout: '3x3', positions: { A: 'standard-5' } })
    expect([room.session.layoutName, room.session.positionOf('A')]).toEqual(['3x3', 'standard-5'])
    playbacks().stop(id)
    expect(room.session.layoutName).toBe('grid-responsive')
    expect(() => room.session.play({ ...film, layout: 'spiral' })).toThrow(code('room_layout_unknown'))
    expect(() => room.session.play({ ...film, positions: { X: 'auto' } })).toThrow(
      code('room_member_unknown'),
    )
    expect(room.playbacks).toHaveLength(1)
  })

  it('brings no layout that the picture does not have', () => {
    expect(() => room.session.play({ ...film, layout: '3x3' })).toThrow(
      expect.objectContaining({
        code: 'room_layout_unknown',
        message: 'The room has no layout of this name at present. It has full-screen, 1x1.',
      }),
    )
    expect(room.playbacks).toEqual([])
    room.session.play({ ...film, layout: '1x1' })
    expect(room.session.layoutName).toBe('1x1')
  })

  it('is kept in the list with the latest 50', () => {
    for (let i = 0; i < 60; i++) playbacks().stop(room.session.play(film).id)
    room.session.play(film)
    expect(playbacks().list).toHaveLength(51)
  })
})
