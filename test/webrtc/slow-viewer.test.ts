/** @schedule alone: two pages and a composing process encode video, while packets are counted by time. */

/** Rooms with a viewer behind a narrow path. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createComposers } from '../../media/compose/composers.ts'
import { composerReason } from '../../media/compose/pictures.ts'
import type { Composers, RoomVideo } from '../../media/types.ts'
import { type MediaStack, openMediaStack, until } from '../support/webrtc/media-stack.ts'
import { toneFile } from '../support/webrtc/microphone.ts'
import { Parties, type Party } from '../support/webrtc/parties.ts'
import { PhoneBrowser } from '../support/webrtc/phone-page.ts'
import type { Received } from '../support/webrtc/seen-video.ts'
import { WebRtcRelay } from '../support/webrtc-relay.ts'

const reason = composerReason()
const narrow = { bitRate: 400_000, queueMs: 600 }
const seconds = 8

describe.skipIf(reason !== undefined)(`a narrow path${reason ? ` (${reason})` : ''}`, () => {
  let file: Awaited<ReturnType<typeof toneFile>>
  let browser: PhoneBrowser
  let fixture: MediaStack
  let composers: Composers
  let parties: Parties
  let room: RoomVideo
  beforeAll(async () => {
    file = await toneFile(1000)
    browser = await PhoneBrowser.start(file.path)
    composers = createComposers()
    fixture = await openMediaStack({ composers })
    parties = new Parties(fixture, () => browser.open())
  })
  afterAll(async () => {
    await fixture?.close()
    await composers?.close()
    await browser?.close()
    await file?.remove()
  })
  beforeEach(async () => {
    room = await fixture.webrtc.openRoom((fault) => {
      throw fault
    })
  })
  afterEach(async () => {
    room.close()
    await parties.close()
  })

  /** Lets a quick and a slow page with noisy cameras join. */
  const join = async () => {
    const relay = await WebRtcRelay.narrow(fixture.port, narrow)
    const quick = await parties.callIn('red')
    const slow = await parties.callIn('blue', { relay: relay.port })
    for (const { page } of [quick, slow]) {
      await page.call('camera', page === quick.page ? 'red' : 'blue', { width: 640, height: 360 })
      await page.call('addNoise')
    }
    fixture.edge.join(quick.media.port, slow.media.port)
    room.add('quick', quick.media.video)
    room.add('slow', slow.media.video)
    return { quick, slow, relay }
  }

  const half = { y: 0, width: 50, height: 100, z: 0, isVisible: true }
  const compose = () =>
    room.show({
      kind: 'composed',
      layers: [
        { id: 'quick', x: 0, ...half },
        { id: 'slow', x: 50, ...half },
      ],
    })

  /** Returns what the pages receive in a second, on average. */
  const measure = async (...all: readonly Party[]) => {
    const read = () => Promise.all(all.map(({ page }) => page.call('received')))
    const before = await read()
    const start = performance.now()
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000))
    const after = await read()
    const passed = (performance.now() - start) / 1000
    return after.map((now, at) => {
      const rate = (name: keyof Received) => (now[name] - before[at]![name]) / passed
      return {
        audioPackets: rate('audioPackets'),
        audioLost: now.audioLost - before[at]!.audioLost,
        videoFrames: rate('videoFrames'),
        videoBits: 8 * rate('videoBytes'),
      }
    })
  }

  it('gets the low rendition of a composed picture, with all audio; others have the high one', async () => {
    const { quick, slow } = await join()
    compose()
    await until(
      () => quick.page.call('seen'),
      ({ width }) => width === 1280,
    )
    const [fast, narrowed] = await measure(quick, slow)
    expect(narrowed!.audioLost).toBe(0)
    expect(narrowed!.audioPackets).toBeGreaterThan(45)
    expect(narrowed!.videoFrames).toBeGreaterThanOrEqual(10)
    expect(fast!.videoFrames).toBeGreaterThanOrEqual(10)
    expect(fast!.videoBits).toBeGreaterThan(2 * narrowed!.videoBits)
    const seen = await Promise.all([quick, slow].map(({ page }) => page.call('seen')))
    expect(seen).toMatchObject([
      { width: 1280, height: 720, streams: 1 },
      { width: 640, height: 360, streams: 1 },
    ])
  })
})
