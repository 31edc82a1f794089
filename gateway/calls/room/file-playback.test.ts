import { beforeEach, describe, expect, it } from 'vitest'
import { TrunklineError } from '../../core/errors/catalogue.ts'
import { FakeRoomFile } from '../testing/fake-room-files.ts'
import { RoomsFixture } from '../testing/rooms-fixture.ts'

const settled = () => new Promise(setImmediate)
const film = { url: 'https://me:pw@c.example/film.mp4?key=1', volume: -5, fromMs: 2000 }

let fixture: RoomsFixture

beforeEach(() => {
  fixture = new RoomsFixture()
})

const roomWithPage = async () => {
  const { seats } = await fixture.join('A')
  return seats[0]!.session
}

/** Plays a file into a room until it is open. */
const playing = async () => {
  const session = await roomWithPage()
  const { id } = session.play(film)
  const port = fixture.caller().audio
  const file = new FakeRoomFile(port)
  fixture.files.open(file)
  await settled()
  return { session, playbacks: session.playbacks, id, file, port }
}

describe('a playback of a file', () => {
  it('fetches the file, then shows it and mixes its sound, and shows no secret of its URL', async () => {
    const { session, id, file, port } = await playing()
    expect(fixture.files.urls).toEqual([film.url])
    expect(session.playbacks.list).toMatchObject([{ url: 'https://c.example/film.mp4', positionMs: 2000 }])
    expect(file.calls).toEqual(['play 2000'])
    expect(fixture.mixer().members.get(port)).toEqual({ canHear: false, isVoice: false })
    expect(fixture.videos[0]!.picture).toMatchObject({ main: id })
  })

  it('ends with its file, and leaves nothing behind', async () => {
    const { playbacks, id, file, port } = await playing()
    file.end({})
    await settled()
    expect(playbacks.list).toMatchObject([{ id, state: 'completed' }])
    expect(fixture.mixer().members.has(port)).toBe(false)
    expect(fixture.videos[0]!.sources.has(id)).toBe(false)
    expect([file.isClosed, fixture.files.count]).toEqual([true, 0])
  })

  it('follows requests, also those that come before the file is open', async () => {
    const session = await roomWithPage()
    const { id } = session.play(film)
    session.playbacks.pause(id)
    session.playbacks.seek(id, 7000)
    const file = new FakeRoomFile()
    fixture.files.open(file)
    await settled()
    session.playbacks.resume(id)
    session.playbacks.seek(id, 99_000)
    expect(file.calls).toEqual(['seek 7000', 'play 7000', 'seek 10000'])
  })

  it('is stopped while its file is fetched', async () => {
    const session = await roomWithPage()
    session.playbacks.stop(session.play(film).id)
    expect(fixture.files.signal?.aborted).toBe(true)
    const file = new FakeRoomFile()
    fixture.files.open(file)
    await settled()
    expect([file.calls, file.isClosed, fixture.files.count]).toEqual([[], true, 0])
  })

  it('ends with the reason if its file cannot be fetched or read', async () => {
    const session = await roomWithPage()
    const fails = async (error: Error) => {
      session.play(film)
      fixture.files.fail(error)
      await settled()
      return session.playbacks.list.at(-1)?.failure
    }
    expect(await fails(new TrunklineError('document_unreachable', 'Its server answered 404.'))).toBe(
      'The file cannot be fetched. Its server answered 404.',
    )
    expect(await fails(Object.assign(new Error('nothing'), { code: 'empty_file' }))).toBe(
      'The file cannot be played: it has neither pictures nor sound.',
    )
    expect(await fails(new Error('/proc/self/fd/3: Invalid data'))).toBe(
      'The file cannot be played: it could not be read.',
    )
    expect(fixture.files.count).toBe(0)
  })

  it('shows no message of ffmpeg if it ends early, but logs it', async () => {
    const { session, file } = await playing()
    file.end({ failure: 'spawn /usr/bin/ffmpeg EMFILE' })
    await settled()
    expect(session.playbacks.list[0]?.failure).toBe('The file cannot be played: it ended early.')
    expect(fixture.lines).toContainEqual(
      expect.objectContaining({ event: 'room.playback-ended', reason: 'spawn /usr/bin/ffmpeg EMFILE' }),
    )
  })

  it('ends after a pause of 30 minutes', async () => {
    const { playbacks, id, file } = await playing()
    playbacks.pause(id)
    fixture.clock.advance(29 * 60_000)
    playbacks.resume(id)
    fixture.clock.advance(30 * 60_000)
    playbacks.pause(id)
    fixture.clock.advance(30 * 60_000 - 1)
    await settled()
    expect(file.isClosed).toBe(false)
    fixture.clock.advance(1)
    await settled()
    expect(playbacks.list).toMatchObject([{ failure: 'The playback was paused for 30 minutes.' }])
    expect([file.isClosed, fixture.files.count]).toEqual([true, 0])
  })

  it('needs ffmpeg, and a URL of the web', async () => {
    const session = await roomWithPage()
    for (const url of ['rtmp://c.example/live', 'file:///etc/passwd', 'film'])
      expect(() => session.play({ ...film, url })).toThrow(
        expect.objectContaining({ code: 'bad_playback_url' }),
      )
    fixture.files.hasFfmpeg = false
    expect(session.hasFfmpeg).toBe(false)
    expect(() => session.play(film)).toThrow(expect.objectContaining({ code: 'ffmpeg_missing' }))
  })
})
