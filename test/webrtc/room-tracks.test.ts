/** @schedule alone: three pages with cameras encode and decode video at the same time. */

/** Separate cameras of rooms, as browsers see them. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { BrowserTracks, RoomTracks, RoomVideo, TrackLineUse } from '../../media/types.ts'
import { type MediaStack, openMediaStack, until } from '../support/webrtc/media-stack.ts'
import { toneFile } from '../support/webrtc/microphone.ts'
import { Parties, type Party, sees } from '../support/webrtc/parties.ts'
import { PhoneBrowser } from '../support/webrtc/phone-page.ts'
import type { SeenTrack } from '../support/webrtc/seen-tracks.ts'

let file: Awaited<ReturnType<typeof toneFile>>
let browser: PhoneBrowser
let fixture: MediaStack
let parties: Parties
let room: RoomVideo
let sessions: BrowserTracks[] = []
let faults: Error[] = []

beforeAll(async () => {
  file = await toneFile(1000)
  browser = await PhoneBrowser.start(file.path)
  // Two processes: members of a room are in both.
  fixture = await openMediaStack({ workers: 2 })
  parties = new Parties(fixture, () => browser.open())
})
afterAll(async () => {
  await fixture?.close()
  await browser?.close()
  await file?.remove()
})
beforeEach(async () => {
  faults = []
  sessions = []
  room = await fixture.webrtc.openRoom((fault) => faults.push(fault))
})
afterEach(async () => {
  room.close()
  expect(faults).toEqual([])
  for (const session of sessions) await session.close()
  await parties.close()
})

/** Lets a page call and join the room; a member's id is the colour of its camera. */
const join = async (colour: string, simulcast = false): Promise<Party> => {
  const party = await parties.callIn(colour, { simulcast })
  room.add(colour, party.media.video)
  return party
}

interface Watching extends RoomTracks {
  readonly reports: (readonly TrackLineUse[])[]
  /** Returns what the page receives of a colour; undefined if its line shows another one. */
  seen(colour: string): Promise<SeenTrack | undefined>
  /** Waits until the page receives further frames of a colour, of this width if given. */
  sees(colour: string, width?: number): Promise<SeenTrack>
}

const watch = async (id: string, { page }: Party, lines: number): Promise<Watching> => {
  const session = await fixture.webrtc.tracks('g', lines)
  sessions.push(session)
  const reports: (readonly TrackLineUse[])[] = []
  const tracks = room.watchTracks(id, session, (uses) => reports.push(uses))
  await session.accept(await page.call('answerTracks', session.sdp))
  const seen = async (colour: string) =>
    (await page.call('tracksSeen')).find((each) => each.colour === colour)
  const sees = async (colour: string, width?: number) => {
    const isSeen = (now: SeenTrack | undefined) => now && (width === undefined || now.width === width)
    const first = await until(
      () => seen(colour),
      (now) => Boolean(isSeen(now)),
    )
    return (await until(
      () => seen(colour),
      (now) => Boolean(isSeen(now)) && now!.frames > first!.frames + 5,
    ))!
  }
  return {
    reports,
    seen,
    sees,
    show: (wishes) => tracks.show(wishes),
    refresh: (mid, isRenewed) => tracks.refresh(mid, isRenewed),
    close: () => tracks.close(),
  }
}

const wish = (id: string, width = 320) => ({ id, width, priority: 1 })

describe('a browser with lines of its own', () => {
  it('receives each camera on its line in the wanted size, and the picture of the room afterwards', async () => {
    const viewer = await join('red')
    await join('green', true)
    await join('blue')
    const watching = await watch('red', viewer, 2)
    watching.show([wish('green'), wish('blue')])
    const green = await watching.sees('green', 160)
    const blue = await watching.sees('blue')
    expect(green.mid).not.toBe(blue.mid)
    expect(watching.reports.at(-1)).toEqual([
      { mid: green.mid, id: 'green', isLive: true, layer: 0 },
      { mid: blue.mid, id: 'blue', isLive: true },
    ])
    watching.show([wish('green', 1280), wish('blue')])
    // A browser on a busy machine may not send its largest size.
    await until(
      async () => (await watching.seen('green'))?.width ?? 0,
      (width) => width > 160,
    )
    watching.show([wish('green')])
    await watching.sees('green', 160)
    const { frames } = (await watching.seen('blue'))!
    await watching.sees('green')
    // Frames that were on their way.
    expect((await watching.seen('blue'))!.frames).toBeLessThan(frames + 5)
    watching.show([wish('red'), wish('blue')])
    expect((await watching.sees('red')).mid).toBe(green.mid)
    watching.close()
    room.show({ kind: 'speaker', main: 'green', other: 'blue' })
    await sees(viewer, 'green')
  })

  it('receives a further stream on a line that is renewed', async () => {
    const viewer = await join('red')
    await join('green')
    const watching = await watch('red', viewer, 1)
    watching.show([wish('green')])
    const { mid } = await watching.sees('green')
    watching.refresh(mid, false)
    watching.refresh(mid, true)
    await until(
      async () => (await watching.seen('green'))?.streams,
      (streams) => streams === 2,
    )
    await watching.sees('green')
  })
})
