/** Files of members in a recording that went through the death of the mediasoup process. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import type { Gateway } from '../../support/gateway.ts'
import { coloursOf, picturesOf, shareOf, soundOf } from '../../support/media-files.ts'
import { memberFile, type SavedFile, type SavedRecording, saveRecording } from '../../support/member-files.ts'
import { type Colour, screenColour, screenTone } from '../../support/page-video.ts'

/** Sampling rate of sound, in samples per ms. */
const perMs = 8
/**
 * Maximum distance of times that belong together, in ms. Packets wait for the processes of a busy machine.
 * Unit tests have the exact placement.
 */
const maxShiftMs = 1000
/** Minimum duration of a colour, in ms. Shorter ones are mixtures, while one colour follows another. */
const minColourMs = 200

/** Parts of the scenario that the checks need. */
export interface CrashFilesFixture {
  readonly gateway: Gateway
  /** Cameras of the three pages. */
  readonly colours: readonly [Colour, Colour, Colour]
  /** Frequencies of the microphones, in Hz. */
  readonly tones: { readonly page: number; readonly phone: number }
}

/** Recording that went through the death. Times of the clock, in ms. */
export interface RecordedCrash {
  readonly recordingId: string
  /** Ids of the members of the pages, in the order of the pages. */
  readonly ids: readonly unknown[]
  readonly diedAt: number
  /** Time at which all pages had their media again. */
  readonly backAt: number
  /** Stay of the telephone. */
  readonly phone: { readonly from: number; readonly to: number }
  /** Last leave of a page. */
  readonly end: { readonly from: number; readonly to: number }
}

/** Times in a recording, in ms. */
interface FileTimes {
  readonly died: number
  readonly back: number
}

/**
 * Checks that a picture is plain from the death on, until its page is back. Returns the time in the recording
 * at which it shows its colour again.
 */
const pictureReturns = async ({ path, startMs, duration }: SavedFile, colour: Colour, times: FileTimes) => {
  const spans = coloursOf(await picturesOf(path), minColourMs)
  const found = JSON.stringify({ spans, startMs, duration, times })
  // A page that hangs up may end its camera before it leaves.
  const seen = spans.map((span) => span.colour).join()
  expect([seen, seen.replace(/,grey$/, '')], found).toContain([colour, 'grey', colour].join())
  const plain = spans[1]!
  expect(Math.abs(startMs + plain.from - times.died), found).toBeLessThan(maxShiftMs)
  expect(Math.abs(spans.at(-1)!.to - duration * 1000), found).toBeLessThan(maxShiftMs)
  const returned = startMs + spans[2]!.from
  expect(returned, found).toBeGreaterThan(times.died + 1000)
  expect(returned, found).toBeLessThan(times.back + maxShiftMs)
  return returned
}

/** Returns the first time in ms from which a sound has a tone for most of 300 ms; undefined: never. */
const beginningOf = (sound: Int16Array, hz: number): number | undefined => {
  const times = Array.from({ length: Math.floor(sound.length / perMs / 20) }, (_, i) => i * 20)
  return times.find((at) => shareOf(sound.subarray(at * perMs, (at + 300) * perMs), hz) > 0.6)
}

/**
 * Checks that a sound has a tone until the death, and again once its page is back. Returns the time in the
 * recording at which it has the tone again.
 */
const toneReturns = async ({ path, startMs, duration }: SavedFile, hz: number, times: FileTimes) => {
  const sound = await soundOf(path)
  const part = (from: number, to = startMs + duration * 1000) =>
    sound.subarray((from - startMs) * perMs, (to - startMs) * perMs)
  const silent = times.died + 500
  const returned = silent + (beginningOf(part(silent), hz) ?? Number.NaN)
  const before = shareOf(part(times.died - 1000, times.died - 200), hz)
  const between = shareOf(part(silent, returned), hz)
  const after = shareOf(part(returned), hz)
  const found = JSON.stringify({ before, between, after, returned, startMs, duration, times })
  expect([before > 0.6, between < 0.05, after > 0.6], found).toEqual([true, true, true])
  expect(returned, found).toBeGreaterThan(times.died + 1000)
  expect(returned, found).toBeLessThan(times.back)
  expect(Math.abs(sound.length / perMs - duration * 1000), found).toBeLessThan(100)
  return returned
}

/** Checks the manifest: each member with its files once, from its entry to its leave. */
const isConsistent = (
  { recording, manifest, files }: SavedRecording,
  ids: readonly unknown[],
  back: number,
) => {
  const screen = manifest.members.find(({ type }) => type === 'screen')
  const phone = manifest.members.find(({ name }) => name === 'Carrier')
  expect(manifest.members.map(({ id }) => id)).toEqual([...ids, phone?.id, screen?.id])
  expect(screen?.parent_id).toBe(ids[2])
  const kinds = [
    ...[...ids, screen?.id].map((id) => `${id} ${id === screen?.id ? 'screen' : 'camera'}`),
    ...manifest.members.map(({ id }) => `${id} audio`),
  ]
  expect(files.map((file) => `${file.member_id} ${file.kind}`).toSorted()).toEqual(kinds.toSorted())
  expect(recording.files).toMatchObject(manifest.files)
  expect(manifest.is_truncated).toBe(false)
  for (const { name, start, duration } of files) {
    const end = start + duration
    expect(start * 1000, name).toBeLessThan(back)
    // A busy machine leaves out frames of the sound that the gateway decodes.
    if (!name.endsWith('.wav')) expect(end * 1000, name).toBeGreaterThan(back)
    expect(end, name).toBeLessThan(recording.duration + 0.5)
  }
  const moments = manifest.timeline.map(({ at }) => at)
  expect(moments).toEqual(moments.toSorted((a, b) => a - b))
  return { screen: screen!.id, phone: phone!.id }
}

/** Checks that the file of the room has screen and voice again when the files of their members have. */
const roomReturns = async (
  path: string,
  { died }: FileTimes,
  { shown, voice, hz }: { readonly shown: number; readonly voice: number; readonly hz: number },
) => {
  const spans = coloursOf(await picturesOf(path), minColourMs)
  const roomShown = spans.find(({ colour, from }) => colour === screenColour && from > died)?.from ?? 0
  const silent = died + 500
  const roomSound = await soundOf(path)
  const roomVoice = silent + (beginningOf(roomSound.subarray(silent * perMs), hz) ?? Number.NaN)
  const found = JSON.stringify({ shown, roomShown, voice, roomVoice })
  expect(Math.abs(roomShown - shown), found).toBeLessThan(maxShiftMs)
  expect(Math.abs(roomVoice - voice), found).toBeLessThan(maxShiftMs)
}

/**
 * Checks the files of the members of a recording that went through the death. The first and the third page
 * are muted, and the third one shares its screen.
 */
export const filesAreWhole = async (
  { gateway, colours, tones }: CrashFilesFixture,
  crash: RecordedCrash,
): Promise<void> => {
  const folder = mkdtempSync(join(tmpdir(), 'member-files-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const saved = await saveRecording(gateway, crash.recordingId, folder)
  expect(gateway.log.filter(({ event }) => event === 'room.member-file-failed')).toEqual([])
  const startedAt = Date.parse(saved.manifest.started_at)
  const times = { died: crash.diedAt - startedAt, back: crash.backAt - startedAt }
  const { screen, phone } = isConsistent(saved, crash.ids, times.back)
  const file = (id: unknown, kind: SavedFile['kind']) => memberFile(saved, String(id), kind)

  const [first, second, third] = crash.ids
  await pictureReturns(file(first, 'camera'), colours[0], times)
  await pictureReturns(file(third, 'camera'), colours[2], times)
  const camera = await pictureReturns(file(second, 'camera'), colours[1], times)
  const voice = await toneReturns(file(second, 'audio'), tones.page, times)
  const shown = await pictureReturns(file(screen, 'screen'), screenColour, times)
  const shownTone = await toneReturns(file(screen, 'audio'), screenTone, times)
  // Picture and sound of a page return together.
  const found = JSON.stringify({ camera, voice, shown, shownTone, times })
  expect(Math.abs(camera - voice), found).toBeLessThan(2 * maxShiftMs)
  expect(Math.abs(shown - shownTone), found).toBeLessThan(2 * maxShiftMs)
  await roomReturns(saved.room, times, { shown, voice, hz: tones.page })
  for (const muted of [first, third]) {
    const { path, startMs } = file(muted, 'audio')
    const later = (await soundOf(path)).subarray((times.died - startMs) * perMs)
    expect(shareOf(later, tones.page)).toBeLessThan(0.05)
  }
  // The telephone notices nothing. A busy machine leaves out some frames.
  expect(shareOf(await soundOf(file(phone, 'audio').path), tones.phone)).toBeGreaterThan(0.6)
}
