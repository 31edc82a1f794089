import { expect, it } from 'vitest'
import type { Browser } from '../../support/browser.ts'
import type { Carrier } from '../../support/carrier.ts'
import { noFfmpeg } from '../../support/film.ts'
import { shareOf } from '../../support/media-files.ts'
import { killWorker } from '../../support/mediasoup-worker.ts'
import { heardIn, tonesIn } from '../../support/page-audio.ts'
import { colourOf, screenColour, screenTone, sees } from '../../support/page-video.ts'
import { rest } from '../../support/rest.ts'
import { leavesOf, memberIds, memberNamed, membersOf } from '../../support/room-members.ts'
import { memberIdOf } from '../../support/room-picture.ts'
import { completeRecording, playIn, soundIn, webmOf } from '../../support/room-recording.ts'
import type { SdkPage } from '../../support/sdk-page.ts'
import { until } from '../../support/until.ts'
import { type CrashFilesFixture, filesAreWhole, type RecordedCrash } from './room-crash-files.ts'

const room = '/api/video/rooms/lounge'
/** Sampling rate of the sound of a played file, in samples per ms. */
const perMs = 8

/** Parts of the scenario that the tests share. */
export interface RoomCrashFixture extends CrashFilesFixture {
  readonly browser: Browser
  /** Pages with the three versions of the published SDK. */
  readonly pages: readonly [SdkPage, SdkPage, SdkPage]
  /** Lets a telephone join the room. */
  readonly phoneJoins: () => Promise<Carrier>
  /** Address of the room. */
  readonly address: string
}

/** Waits until a page hears exactly these of all tones of the room. */
const hearsTones = async (
  { page }: SdkPage,
  wanted: readonly number[],
  all: readonly number[],
): Promise<void> => {
  await until(
    `the browser hears ${wanted} Hz`,
    () => tonesIn(page, all),
    (heard) => `${heard}` === `${wanted}`,
  )
}

/** Returns the time for which a sound has a tone, in s. */
const secondsOf = (sound: Int16Array, hz: number): number =>
  (shareOf(sound, hz) * sound.length) / (1000 * perMs)

/**
 * Checks that a recording has picture and sound of the pages before and after the death. The telephone must
 * be heard for most of its stay.
 */
const isWhole = async ({ gateway, browser, tones }: RoomCrashFixture, crash: RecordedCrash) => {
  const recording = await completeRecording(gateway, crash.recordingId)
  const file = await webmOf(recording)
  const page = await browser.page()
  const seen = await playIn(page, file, 4)
  const sound = await soundIn(page, file)
  await page.context().close()
  const startedAt = Date.parse(recording.started_at)
  expect(seen.durationMs).toBeGreaterThan(crash.end.from - startedAt - 500)
  expect(seen.durationMs).toBeLessThan(crash.end.to - startedAt)
  expect(Math.abs(seen.durationMs - recording.duration * 1000)).toBeLessThan(50)
  const died = crash.diedAt - startedAt
  const shared = seen.frames.filter(({ rgb }) => colourOf(rgb) === screenColour)
  const shownAt = shared.map(({ atMs }) => atMs)
  expect([shownAt.some((ms) => ms < died), shownAt.some((ms) => ms > died + 1000)]).toEqual([true, true])
  expect(seen.frames.at(-1)!.atMs).toBeGreaterThan(seen.durationMs - 1500)
  const before = secondsOf(sound.subarray(0, died * perMs), tones.page)
  const after = secondsOf(sound.subarray((died + 1000) * perMs), tones.page)
  expect([before > 1, after > 0.5], `${before} s before, ${after} s after`).toEqual([true, true])
  const stay = [crash.phone.from, crash.phone.to].map((at) => (at - startedAt) * perMs)
  expect(shareOf(sound.subarray(...stay), tones.phone)).toBeGreaterThan(0.6)
}

/** The death of the mediasoup process while a room has a shared screen, and is recorded. */
export const roomCrash = (fixture: () => RoomCrashFixture): void => {
  let crash: RecordedCrash | undefined

  it('goes on after the death of its mediasoup process: pages and their screen come back as the same members, the telephone and the recording stay', async () => {
    const { gateway, pages, phoneJoins, address, tones } = fixture()
    const [first, second, third] = pages
    const all = [screenTone, tones.phone, tones.page]
    /** Waits until each page hears the others and the screen, and sees the screen. */
    const isComplete = async () => {
      await Promise.all([
        hearsTones(first, all, all),
        hearsTones(second, [screenTone, tones.phone], all),
        hearsTones(third, [tones.phone, tones.page], all),
      ])
      await Promise.all(pages.map(({ page }) => sees(page, screenColour)))
    }
    await rest(gateway, 'PATCH', room, { record_on_start: true, record_members: true })
    for (const page of pages) await page.dial(address, { video: true })
    const ids = pages.map(memberIdOf)
    await rest(gateway, 'PATCH', room, { record_on_start: false, record_members: false })
    const { id: sessionId } = (await rest(gateway, 'GET', room)).body.active_session
    const phone = await phoneJoins()
    const phoneFrom = Date.now()
    for (const page of [first, third]) await page.do('audioMute')
    await third.shareScreen()
    await isComplete()
    const before = await memberIds(second)
    const leaves = pages.map(leavesOf)
    killWorker(gateway)
    const diedAt = Date.now()
    // The silence of all pages ends some seconds later.
    await Promise.all(
      pages.map(({ page }) =>
        until(
          'silence',
          () => heardIn(page),
          (frequency) => frequency === 0,
        ),
      ),
    )
    // The SDK makes an offer when Chrome reports its media as disconnected: after at most 8 s.
    await isComplete()
    const backAt = Date.now()
    expect(await memberIds(second)).toEqual(before)
    expect(pages.map(leavesOf)).toEqual(leaves)
    expect((await membersOf(first)).map(({ type }) => type)).toContain('screen')
    await third.stopSharing()
    await Promise.all([phone.hears(tones.page), sees(first.page, 'lime'), sees(third.page, 'lime')])
    expect(pages.map(leavesOf)).toEqual(leaves.map((count) => count + 1))
    const { member_id: memberId } = await memberNamed(second, 'Carrier')
    const phoneTo = Date.now()
    await second.do('removeMember', { memberId })
    await phone.done()
    for (const page of [first, third]) await page.hangUp()
    const endFrom = Date.now()
    await second.hangUp()
    const end = { from: endFrom, to: Date.now() }
    const { data } = (await rest(gateway, 'GET', `/api/video/room_sessions/${sessionId}/recordings`)).body
    const [{ id: recordingId }] = data
    const phoneStay = { from: phoneFrom, to: phoneTo }
    crash = { recordingId, ids, diedAt, backAt, phone: phoneStay, end }
    await isWhole(fixture(), crash)
  })

  it('has files of the members that go through this death, with picture and sound in their places', async ({
    skip,
  }) => {
    if (noFfmpeg !== undefined) skip(noFfmpeg)
    if (!crash) throw new Error('the test before this one has failed')
    await filesAreWhole(fixture(), crash)
  })
}
