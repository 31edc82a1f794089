/** @schedule alone: two pages with video need both cores. */

/** Recordings of rooms, by pages with `Video.RoomSession` of the published SDK. */
import { mkdtempSync, readdirSync, rmSync, utimesSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { application, scripted } from '../support/applications.ts'
import { Browser } from '../support/browser.ts'
import { Carrier } from '../support/carrier.ts'
import { noFfmpeg } from '../support/film.ts'
import { Gateway } from '../support/gateway.ts'
import {
  flashesOf,
  medianDistance,
  onsetsOf,
  type Picture,
  picturesOf,
  shareOf,
  soundOf,
} from '../support/media-files.ts'
import { medianOf } from '../support/median.ts'
import { memberFile, saveRecording } from '../support/member-files.ts'
import { rest } from '../support/rest.ts'
import {
  completeRecording,
  flashAndBeep,
  flashes,
  flashTimes,
  type PlayedFile,
  playIn,
  sendsPicture,
  stepsOf,
  unevennessOf,
  webmOf,
} from '../support/room-recording.ts'
import { withToken } from '../support/sdk-people.ts'
import {
  memberNamed,
  roomToken,
  VideoPage,
  type VideoPageOptions,
  withVideoPage,
} from '../support/video-page.ts'

const tone = 1200
const veraTone = 1000
const phoneTone = 440

let gateway: Gateway
let browser: Browser

beforeAll(async () => {
  const browsing = Browser.start(tone)
  gateway = await Gateway.start({
    ...withToken,
    media: { rooms: { picture: 'speaker' } },
    domains: [application('studio.test', scripted({ join_room: { name: 'studio' } }))],
  })
  await rest(gateway, 'POST', '/api/fabric/resources/conference_rooms', {
    name: 'lounge',
    tone_on_entry_and_exit: false,
  })
  await rest(gateway, 'POST', '/api/fabric/resources/conference_rooms', {
    name: 'studio',
    tone_on_entry_and_exit: false,
    record_members: true,
  })
  browser = await browsing
})

afterEach(() => gateway.settled())
afterAll(async () => {
  await browser?.stop()
  await gateway?.stop()
})

const tokenFor = (user_name: string, more: object = {}) =>
  roomToken(gateway, { room_name: 'lounge', user_name, ...more })

const withPage = (options: VideoPageOptions, work: (page: VideoPage) => Promise<void>): Promise<void> =>
  withVideoPage(browser, gateway, { options, work })

/** Fetches the file of a recording, once it is complete. */
const fileOf = async (at: Gateway, id: string): Promise<Buffer> => webmOf(await completeRecording(at, id))

/** Plays a file in a page of its own. */
const played = async (file: Buffer): Promise<PlayedFile> => {
  const page = await browser.page()
  try {
    return await playIn(page, file)
  } finally {
    await page.context().close()
  }
}

/** Lets the room go on. */
const passes = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

describe('a recording', () => {
  it('has the picture and the sound of the room in step, without its pauses', async () => {
    await withPage({}, async (page) => {
      await page.page.evaluate(flashAndBeep())
      await page.join(await tokenFor('Vera', { permissions: ['room.recording'] }))
      await page.page.evaluate(
        'call.startRecording().then((recording) => { globalThis.recording = recording })',
      )
      const state = () => page.page.evaluate('recording.state')
      expect(await state()).toBe('recording')
      await flashes(page.page, 5)
      await page.page.evaluate('recording.pause()')
      await expect.poll(state).toBe('paused')
      await passes(1500)
      await page.page.evaluate('recording.resume()')
      await expect.poll(state).toBe('recording')
      await flashes(page.page, 2)
      await page.page.evaluate('recording.stop()')
      await expect.poll(state).toBe('completed')
      // The test sees a frame of the page later than the page does.
      const updates = () =>
        page.wire
          .events('video.room.updated')
          .map(({ room_session: { updated, recording } }) => [updated, recording])
      await expect.poll(updates).toEqual([
        [['recording'], true],
        [['recording'], false],
      ])
      const { id, duration, started_at, ended_at } = page.wire.events('video.recording.ended')[0]!.recording
      expect(ended_at - started_at - duration).toBeGreaterThan(1.4)
      const { data } = (await rest(gateway, 'GET', '/api/video/room_recordings')).body
      expect(data).toMatchObject([{ id, duration }])
      const file = await fileOf(gateway, id)
      const seen = await played(file)
      expect(Math.abs(seen.durationMs - duration * 1000)).toBeLessThan(50)
      expect(seen.frames[0]!.atMs).toBeLessThan(1000)
      const steps = stepsOf(seen, file)
      expect(steps.length).toBeGreaterThanOrEqual(3)
      // The goal of 60 ms is measured by a bench: a busy page sends its sound late.
      expect(Math.abs(medianOf(steps))).toBeLessThan(150)
    })
  })

  it('has files of each member', async ({ skip }) => {
    if (noFfmpeg !== undefined) skip(noFfmpeg)
    const folder = mkdtempSync(join(tmpdir(), 'member-files-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const enters = async (page: VideoPage, user_name: string) =>
      page.join(
        await tokenFor(user_name, {
          room_name: 'studio',
          permissions: ['room.recording', 'room.member.remove'],
        }),
      )
    let id = ''
    let unevenness = 0
    await withPage({}, async (vera) => {
      await vera.page.evaluate(flashAndBeep())
      await enters(vera, 'Vera')
      await vera.page.evaluate(
        'call.startRecording().then((recording) => { globalThis.recording = recording })',
      )
      id = await vera.page.evaluate('recording.id')
      const phone = await Carrier.calls(gateway, { domain: 'studio.test', scenario: 'caller-released' })
      await withPage({}, async (dora) => {
        await dora.page.evaluate(flashAndBeep({ hz: tone, dark: 'darkgreen' }))
        await enters(dora, 'Dora')
        await flashes(dora.page, 3)
        await phone.talks('answered', phoneTone)
        await flashes(dora.page, 2)
        await vera.page.evaluate('recording.pause()')
        await passes(1000)
        await vera.page.evaluate('recording.resume()')
        await flashes(dora.page, 2)
        unevenness = unevennessOf(await flashTimes(dora.page), await flashTimes(vera.page))
      })
      await passes(1000)
      await vera.page.evaluate('recording.stop()')
      await completeRecording(gateway, id)
      await vera.do('removeMember', { memberId: (await memberNamed(vera, 'Carrier')).id })
      await phone.sipp.succeeded()
    })
    const saved = await saveRecording(gateway, id, folder)
    const { recording, manifest, room } = saved
    const member = (name: string) => manifest.members.find((each) => each.name === name)!.id
    const file = (name: string, kind: 'camera' | 'audio') => memberFile(saved, member(name), kind)
    const roomSound = await soundOf(room)
    /** Returns the times of flashes and beeps of a member in the recording. */
    const signsOf = async (name: string, hz: number) => {
      const camera = file(name, 'camera')
      const audio = file(name, 'audio')
      const pictures = await picturesOf(camera.path)
      const sound = await soundOf(audio.path)
      return {
        audio,
        pictures,
        sound,
        flashes: flashesOf(pictures).map((ms) => ms + camera.startMs),
        beeps: onsetsOf(sound, hz).map((ms) => ms + audio.startMs),
      }
    }
    const vera = await signsOf('Vera', veraTone)
    const dora = await signsOf('Dora', tone)
    /**
     * Checks that beeps follow flashes at a steady distance. A page without time leaves some of them out. Its
     * sound is late by 40 to 450 ms all the time, of which its reports know nothing. Unit tests have the
     * exact placement.
     */
    const areSteady = (flashes: readonly number[], beeps: readonly number[], limit = 150) => {
      const steps = flashes.flatMap((flash) =>
        beeps.map((beep) => beep - flash).filter((step) => step >= -250 && step < 750),
      )
      const found = JSON.stringify({ flashes, beeps, limit })
      expect(steps.length, found).toBeGreaterThanOrEqual(3)
      const middle = medianOf(steps)
      expect(medianOf(steps.map((step) => Math.abs(step - middle))), found).toBeLessThan(limit)
    }
    areSteady(vera.flashes, vera.beeps)
    areSteady(dora.flashes, dora.beeps)
    // Both pages flash and beep at the same time, as far as they had their cores.
    areSteady(dora.flashes, vera.beeps, 150 + unevenness)
    const isGreen = ({ rgb: [r, g, b] }: Picture) => g > 60 && r < 40 && b < 40
    expect([vera.pictures.some(isGreen), dora.pictures.some(isGreen)]).toEqual([false, true])
    expect([shareOf(vera.sound, tone) < 0.1, shareOf(dora.sound, veraTone) < 0.1]).toEqual([true, true])
    // Dora left a second before the end.
    expect(dora.audio.start).toBeGreaterThan(0)
    expect(dora.audio.start + dora.audio.duration).toBeLessThan(recording.duration - 0.8)

    const phoneAudio = file('Carrier', 'audio')
    expect(phoneAudio).toMatchObject({ format: 'audio/wav' })
    const [phoneAt = 0] = onsetsOf(await soundOf(phoneAudio.path), phoneTone)
    expect(medianDistance([phoneAt + phoneAudio.startMs], onsetsOf(roomSound, phoneTone))).toBeLessThan(1000)

    expect(manifest.timeline[0]).toMatchObject({ at: 0, layout: 'full-screen' })
    expect(manifest.timeline.map(({ speaker }) => speaker)).toContain(member('Vera'))
  })

  it('is playable after the death of the gateway, and available from the next one', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'room-recordings-'))
    const options = { ...withToken, dataDir, media: { rooms: { picture: 'speaker' as const } } }
    const first = await Gateway.start(options)
    await rest(first, 'POST', '/api/fabric/resources/conference_rooms', {
      name: 'lounge',
      record_on_start: true,
      record_members: true,
    })
    const page = await VideoPage.open(browser, first, { camera: 'lime' })
    await page.join(await roomToken(first, { room_name: 'lounge', user_name: 'Vera' }))
    const subscribed = page.wire.events('video.room.subscribed')[0]!
    expect(subscribed.room_session).toMatchObject({ recording: true, recordings: [{ state: 'recording' }] })
    await sendsPicture(page.page)
    await passes(4000)
    process.kill(first.pid, 'SIGKILL')
    await first.ended()
    await page.close()
    const folder = join(dataDir, 'recordings', 'default')
    // Three minutes without a write mark the files as abandoned.
    for (const name of readdirSync(folder, { encoding: 'utf8', recursive: true }))
      utimesSync(join(folder, name), new Date(), new Date(Date.now() - 180_000))
    const next = await Gateway.start(options)
    try {
      const { id } = subscribed.room_session
      const { data } = (await rest(next, 'GET', `/api/video/room_sessions/${id}/recordings`)).body
      expect(data).toMatchObject([{ status: 'completed', room_session_id: id }])
      const seen = await played(await fileOf(next, data[0].id))
      expect(seen.durationMs).toBeGreaterThan(2000)
      expect(Math.abs(seen.durationMs - data[0].duration * 1000)).toBeLessThan(1)
      const [r, g, b] = seen.frames.at(-1)!.rgb
      expect([r < 110, g > 150, b < 110]).toEqual([true, true, true])
      expect(data[0].files.map(({ kind }: { kind: string }) => kind).sort()).toEqual(['audio', 'camera'])
      for (const { uri, duration } of data[0].files) {
        expect(duration).toBeGreaterThan(2)
        expect(
          Buffer.from(await (await fetch(uri)).arrayBuffer())
            .subarray(0, 4)
            .toString('hex'),
        ).toBe('1a45dfa3')
      }
    } finally {
      await next.stop()
      await first.stop()
      rmSync(dataDir, { recursive: true, force: true })
    }
  })
})
