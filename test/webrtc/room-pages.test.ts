/** @schedule alone: three pages with cameras encode and decode video at the same time. */

/** Pictures of rooms, as browsers see them. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import type { RoomVideo } from '../../media/types.ts'
import { type MediaStack, openMediaStack, until } from '../support/webrtc/media-stack.ts'
import { toneFile } from '../support/webrtc/microphone.ts'
import { Parties, type Party, sees } from '../support/webrtc/parties.ts'
import { PhoneBrowser } from '../support/webrtc/phone-page.ts'
import { WebRtcRelay } from '../support/webrtc-relay.ts'

let file: Awaited<ReturnType<typeof toneFile>>
let browser: PhoneBrowser
let fixture: MediaStack
let parties: Parties
let room: RoomVideo
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
  room = fixture.webrtc.openRoom((fault) => faults.push(fault))
})
afterEach(async () => {
  room.close()
  expect(faults).toEqual([])
  await parties.close()
})

/** Lets pages call and join the room; a member's id is the colour of its camera. */
const join = async (...colours: readonly string[]): Promise<Record<string, Party>> => {
  const members: Record<string, Party> = {}
  for (const colour of colours) {
    const party = await parties.callIn(colour)
    room.add(colour, party.media.video)
    members[colour] = party
  }
  return members
}

describe('a room of three browsers with cameras', () => {
  const colours = ['red', 'green', 'blue']

  it('shows `main` to all and `other` to `main` over 10 changes, in one stream for each', async () => {
    const members = await join(...colours)
    for (let i = 0; i < 10; i++) {
      const main = colours[i % 3]!
      const other = colours[(i + 2) % 3]!
      room.show({ kind: 'speaker', main, other })
      for (const colour of colours) await sees(members[colour]!, colour === main ? other : main)
    }
    for (const { page } of Object.values(members)) expect((await page.call('seen')).streams).toBe(1)
  })
})

describe('a browser behind a path of 400 kbit/s', () => {
  it('keeps its sound and a small picture of the speaker, while another one gets a larger picture', async () => {
    const relay = await WebRtcRelay.narrow(fixture.port, { bitRate: 400_000, queueMs: 600 })
    onTestFinished(() => relay.close())
    // The first session is in the first process, whose port the relay has.
    const slow = await parties.callIn('blue', { relay: relay.port })
    const speaker = await parties.callIn('red', { simulcast: true })
    const quick = await parties.callIn('green')
    await speaker.page.call('addNoise', 40)
    fixture.edge.join(speaker.media.port, slow.media.port)
    for (const [id, { media }] of Object.entries({ speaker, slow, quick })) room.add(id, media.video)
    room.show({ kind: 'speaker', main: 'speaker', other: 'slow' })
    for (const each of [slow, quick]) await sees(each, 'red')
    // A busy machine sends the middle size at most.
    await until(
      () => quick.page.call('seen'),
      ({ width }) => width > 160,
      90_000,
    )
    let before = await slow.page.call('received')
    const gained = async () => {
      const now = await slow.page.call('received')
      const gain = {
        audioPackets: now.audioPackets - before.audioPackets,
        audioLost: now.audioLost - before.audioLost,
        videoFrames: now.videoFrames - before.videoFrames,
      }
      // The relay loses packets while it waits for a core: the sound is measured again.
      if (gain.audioLost >= 5) before = now
      return gain
    }
    await until(
      gained,
      ({ audioPackets, audioLost, videoFrames }) => audioPackets > 250 && audioLost < 5 && videoFrames > 25,
      60_000,
    )
    expect(await slow.page.call('seen')).toMatchObject({ width: 160, streams: 1, colour: 'red' })
    expect((await room.figures('slow')).received).toMatchObject({ layer: 'low' })
    expect((await fixture.webrtc.heard(slow.media.port))?.sent).toBeGreaterThan(250)
    // The layer of the quick viewer is tried for up to 25 s, again and again.
  }, 240_000)
})
