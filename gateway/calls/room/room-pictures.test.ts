/** Pictures and further sources of rooms: cameras, screens and second devices, with fake media. */
import { beforeEach, describe, expect, it } from 'vitest'
import type { BrowserSource } from '../../../media/types.ts'
import { settle } from '../testing/calls-fixture.ts'
import { FakePort, FakeVideo } from '../testing/fake-legs.ts'
import { FakeRoomFile } from '../testing/fake-room-files.ts'
import { RoomsFixture, seatOf, sourceOf } from '../testing/rooms-fixture.ts'

let fixture: RoomsFixture
let rooms: RoomsFixture['rooms']
let videos: RoomsFixture['videos']
let media: RoomsFixture['media']
let events: RoomsFixture['events']
let join: RoomsFixture['join']
let mixer: RoomsFixture['mixer']

beforeEach(() => {
  fixture = new RoomsFixture()
  ;({ rooms, videos, media, events, join, mixer } = fixture)
})

describe('a room', () => {
  it('has a composed picture while its video can compose, and the speaker else', async () => {
    const ann = await join('Ann')
    const camera = new FakeVideo()
    seatOf(ann).showVideo(camera)
    await settle()
    camera.change(true)
    const { session, member } = seatOf(ann)
    const video = videos[0]!
    video.report(true, 'free')
    expect(video.picture).toEqual({
      kind: 'composed',
      layers: [
        {
          id: member.id,
          x: 0,
          y: 0,
          width: 100,
          height: 100,
          z: expect.any(Number),
          isVisible: true,
          name: 'Ann',
        },
      ],
    })
    expect(session.layoutName).toBe('grid-responsive')
    video.report(false, 'killed')
    expect(video.picture).toEqual({ kind: 'speaker', main: member.id })
    expect(session.layoutName).toBe('full-screen')
    const changes = fixture.lines.filter(({ event }) => event === 'room.picture-changed')
    expect(changes).toMatchObject([
      { kind: 'composed', reason: 'free' },
      { kind: 'speaker', reason: 'killed' },
    ])
  })

  it('shows cameras and screens, and the speaker to the others', async () => {
    const ann = await join('Ann')
    const bob = await join('Bob')
    const annsCamera = new FakeVideo()
    const bobsCamera = new FakeVideo()
    seatOf(ann).showVideo(annsCamera)
    seatOf(bob).showVideo(bobsCamera)
    await settle()
    expect(videos).toHaveLength(1)
    const { member: a } = seatOf(ann)
    const { member: b } = seatOf(bob)
    expect(videos[0]!.sources).toEqual(new Set([a.id, b.id]))
    annsCamera.change(true)
    expect(videos[0]!.picture).toEqual({ kind: 'speaker', main: a.id })
    bobsCamera.change(true)
    expect(videos[0]!.picture).toEqual({ kind: 'speaker', main: a.id, other: b.id })
    const ends: string[] = []
    const screen = seatOf(bob).addSource({
      type: 'screen',
      source: sourceOf({ hasVideo: true }),
      callId: 'screen',
      onRemoved: () => ends.push('removed'),
    })
    expect(videos[0]!.picture).toEqual({ kind: 'speaker', main: screen.id })
    bob.leg.ended({ code: 'normal' })
    await settle()
    expect([ends, videos[0]!.picture, videos[0]!.sources]).toEqual([
      ['removed'],
      { kind: 'speaker', main: a.id },
      new Set([a.id]),
    ])
    // A camera that changes after its member has left changes nothing.
    bobsCamera.change(false)
    ann.leg.ended({ code: 'normal' })
    await settle()
    expect(videos[0]!.isClosed).toBe(true)
  })

  it('lets all but its owner hear the sound of a screen, which is no voice', async () => {
    const ann = await join('Ann')
    const bob = await join('Bob')
    const port = new FakePort('screen')
    const screen = seatOf(ann).addSource({
      type: 'screen',
      source: sourceOf({ hasVideo: true, port }),
      callId: 'screen',
      onRemoved: () => {},
    })
    await settle()
    const heard = { canSpeak: true, canHear: false, inaudibleTo: [ann.audio], isVoice: false }
    expect(mixer().members.get(port)).toEqual(heard)
    const { session } = seatOf(bob)
    session.change(screen.id, { audio_muted: true })
    expect(mixer().members.get(port)).toEqual({ ...heard, canSpeak: false })
    session.change(screen.id, { audio_muted: false })
    expect(mixer().members.get(port)).toEqual(heard)
    expect(videos[0]!.screens).toEqual(new Set([screen.id]))
    session.remove(screen.id)
    expect([mixer().members.has(port), videos[0]!.sources.has(screen.id)]).toEqual([false, false])
  })

  it('has a second microphone and a second camera of a page as members of their own', async () => {
    const ann = await join('Ann')
    const port = new FakePort('device')
    const add = (source: Pick<BrowserSource, 'hasVideo' | 'port'>) =>
      seatOf(ann).addSource({ type: 'device', source: sourceOf(source), callId: 'd', onRemoved: () => {} })
    const microphone = add({ hasVideo: false, port })
    const camera = add({ hasVideo: true })
    await settle()
    expect(mixer().members.get(port)).toEqual({
      canSpeak: true,
      canHear: false,
      inaudibleTo: [ann.audio],
    })
    expect([microphone, camera]).toMatchObject([
      { type: 'device', name: 'Ann', isVisible: false, state: { audio_muted: false, video_muted: true } },
      { type: 'device', name: 'Ann', isVisible: true, state: { audio_muted: true, video_muted: false } },
    ])
    expect(videos[0]!.sources).toEqual(new Set([camera.id]))
    expect(videos[0]!.screens.size).toBe(0)
    mixer().talks(port, 'speaking')
    expect(events.at(-1)).toMatchObject({ kind: 'member.talking', member: { id: microphone.id } })
    ann.leg.ended({ code: 'normal' })
    await settle()
    expect([mixer().members.size, rooms.count]).toEqual([0, 0])
  })

  it('limits cameras by their places in the composed picture, and reports their sizes', async () => {
    const page = await join('Ann')
    const seat = seatOf(page)
    const widths: number[] = []
    seat.onCameraSize(({ width }) => widths.push(width))
    seat.showVideo(new FakeVideo())
    await settle()
    const [video] = videos
    video!.canCompose = true
    video!.report(true, 'free')
    seat.session.setHasVideo(seat.member.id, true)
    seat.session.setLayout('2x2')
    expect([...video!.limits.values()]).toEqual([1_000_000])
    fixture.clock.advance(10_000)
    expect([...video!.limits.values()]).toEqual([600_000])
    expect(widths).toEqual([1280, 640])
  })

  it('sends a page the cameras that it shows, speakers first, on lines that end with the membership', async () => {
    const video = () => Object.assign(new FakeVideo(), { isSending: true, isReceiving: true })
    const pages = [await join('Ann'), await join('Bob'), await join('Eve')]
    const [ann, bob, eve] = pages.map(seatOf)
    for (const page of pages) seatOf(page).showVideo(video())
    await settle()
    const ends: string[] = []
    const listener = { changed: () => {}, ended: () => ends.push('ended') }
    const tracks = await ann!.openTracks(2, listener)
    const shown = () => media.opened.at(-1)!.wishes.map(({ id }) => id)
    expect([tracks.sdp, shown()]).toEqual(['offer of 2 lines', [bob!.member.id, eve!.member.id]])
    mixer().talks(pages[2]!.audio, 'speaking')
    fixture.clock.advance(2_000)
    expect(shown()).toEqual([eve!.member.id, bob!.member.id])
    tracks.show([{ memberId: bob!.member.id, width: 90 }])
    expect(media.opened[0]!.wishes).toMatchObject([{ id: bob!.member.id, width: 90 }])
    ann!.session.change(bob!.member.id, { video_muted: true })
    expect(shown()).toEqual([])
    const film = ann!.session.play({ url: 'https://c.example/film.mp4', volume: 0, fromMs: 0 })
    fixture.files.open(new FakeRoomFile())
    await settle()
    expect(media.opened[0]!.wishes).toMatchObject([{ id: film.id, width: 1280 }])
    ann!.session.playbacks.stop(film.id)
    expect(shown()).toEqual([])
    // Further lines replace the former ones.
    await ann!.openTracks(1, listener)
    expect(media.opened.map(({ isClosed }) => isClosed)).toEqual([true, false])
    media.opened[1]!.end()
    expect([media.opened[1]!.isClosed, ends]).toEqual([true, ['ended']])
    await ann!.openTracks(1, listener)
    pages[0]!.leg.ended({ code: 'normal' })
    await settle()
    expect([media.opened[2]!.isClosed, ends]).toEqual([true, ['ended']])
  })
})
