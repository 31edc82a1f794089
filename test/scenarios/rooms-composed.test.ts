/** @schedule alone: two pages with video and a composing process need both cores. */

/** Composed pictures of rooms: two pages with the published SDK, and the colours of their cameras. */
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { composerReason } from '../../media/compose/pictures.ts'
import { busiestComposer, composerPids, isComposerReady } from '../../media/compose/testing/composer-pids.ts'
import { Browser } from '../support/browser.ts'
import { DocumentServer } from '../support/documents.ts'
import { filmOf, noFfmpeg } from '../support/film.ts'
import { Gateway } from '../support/gateway.ts'
import { killWorker } from '../support/mediasoup-worker.ts'
import { type Colour, coloursIn, recordColours, seesNothing } from '../support/page-video.ts'
import { rest } from '../support/rest.ts'
import { openVersion4 } from '../support/room-applications.ts'
import { leavesOf, memberIds } from '../support/room-members.ts'
import { camerasOf, layoutOf, seesLayers } from '../support/room-picture.ts'
import { SdkPage } from '../support/sdk-page.ts'
import { peopleOf, tokenOf, withToken } from '../support/sdk-people.ts'
import { sdkVersions } from '../support/sdk-versions.ts'
import { until } from '../support/until.ts'

const address = '/public/lounge?channel=video'
const reason = composerReason()
const versions = sdkVersions.filter(({ isOld }) => !isOld)

/** Middles of both tiles of `grid-responsive`. */
const middles = [
  { x: 25, y: 50 },
  { x: 75, y: 50 },
]

/** SSRCs of the video that a page receives, or has received. */
const streamsOf = async ({ page }: SdkPage): Promise<number[]> => {
  const ssrcs: number[] =
    await page.evaluate(`Promise.all(testPeers.map((peer) => peer.getStats())).then((all) =>
    all.flatMap((stats) => [...stats.values()])
      .filter(({ type, kind }) => type === 'inbound-rtp' && kind === 'video')
      .map(({ ssrc }) => ssrc))`)
  expect(ssrcs).not.toEqual([])
  return ssrcs
}

describe.skipIf(reason !== undefined)(`the composed picture of a room${reason ? ` (${reason})` : ''}`, () => {
  let gateway: Gateway
  let browser: Browser
  let pages: [SdkPage, SdkPage]
  const cameras = ['red', 'blue'] as const satisfies readonly Colour[]

  beforeAll(async () => {
    const browsing = Browser.start(1200)
    gateway = await Gateway.start({ ...withToken, subscribers: versions.flatMap(peopleOf) })
    await rest(gateway, 'POST', '/api/fabric/resources/conference_rooms', { name: 'lounge' })
    browser = await browsing
    const open = async ({ person, folder }: (typeof versions)[number], camera: Colour) =>
      SdkPage.open(browser, gateway, await tokenOf(gateway, person), { folder, camera })
    pages = (await Promise.all(versions.map((sdk, at) => open(sdk, cameras[at]!)))) as typeof pages
  })
  afterEach(async () => {
    for (const page of pages)
      if (await page.page.evaluate('globalThis.call?.active === true')) await page.hangUp()
    await gateway.settled()
  })
  afterAll(async () => {
    await Promise.all(pages?.map((page) => page.close()) ?? [])
    await browser?.stop()
    await gateway?.stop()
  })

  /** Waits as `seesLayers` does. The tiles of the cameras `plain` are grey, with the name in the middle. */
  const seesTiles = async (page: SdkPage, name: string, count: number, plain: readonly Colour[] = []) => {
    const colours = [...camerasOf(pages, cameras)].map(
      ([id, colour]) => [id, plain.includes(colour) ? ('grey' as const) : colour] as const,
    )
    await seesLayers(page, { name, count, colours: new Map(colours) })
  }

  const seeLayers = async (...wanted: [name: string, count: number, plain?: readonly Colour[]]) => {
    await Promise.all(pages.map((page) => seesTiles(page, ...wanted)))
  }

  const bothJoin = async () => {
    for (const page of pages) await page.dial(address, { video: true })
    await seeLayers('grid-responsive', 2)
  }

  it('needs no process while no member sends video', async () => {
    const [first] = pages
    await first.dial(address, { audio: true, video: false })
    await expect.poll(() => gateway.metric('room_members')).toBe(1)
    expect(composerPids(gateway.pid)).toEqual([])
  })

  it('has each member in the rectangle that the layout names', async () => {
    const [first, second] = pages
    await first.dial(address, { video: true })
    await seesTiles(first, 'grid-responsive', 1)
    await second.dial(address, { video: true })
    await seeLayers('grid-responsive', 2)
    const taken = layoutOf(first).layers?.filter(({ member_id }) => member_id !== undefined)
    expect(taken).toMatchObject([
      { x: 0, y: 25, width: 50, height: 50 },
      { x: 50, y: 25, width: 50, height: 50 },
    ])
    expect(await gateway.metric('composed_rooms')).toBe(1)
  })

  it('follows changes of the layout', async () => {
    await bothJoin()
    await pages[1].do('setLayout', { name: '1x1' })
    await seeLayers('1x1', 1)
    await pages[1].do('setLayout', { name: 'grid-responsive' })
    await seeLayers('grid-responsive', 2)
  })

  it('has a plain tile for a muted video', async () => {
    await bothJoin()
    await pages[1].do('videoMute')
    await seeLayers('grid-responsive', 2, ['blue'])
    await pages[1].do('videoUnmute')
    await seeLayers('grid-responsive', 2)
  })

  it.skipIf(noFfmpeg !== undefined)('is covered by a file that an application plays', async () => {
    const documents = await DocumentServer.open()
    const application = await openVersion4(gateway)
    onTestFinished(async () => {
      application.close()
      await documents.close()
    })
    await bothJoin()
    const room = await until('the room starts', () => application.started[0])
    let hasEnded = false
    const playing = room!.play({ url: documents.put('/film.mp4', filmOf('yellow', 500, 6)) })
    void Promise.resolve(playing).then(() => {
      hasEnded = true
    })
    const places = [20, 50, 80].map((x) => ({ x, y: 50 }))
    const seeFilm = async ({ page }: SdkPage) =>
      until(
        'the film covers the picture',
        () => coloursIn(page, places),
        (colours) => colours.every((colour) => colour === 'yellow'),
      )
    await Promise.all(pages.map(seeFilm))
    const { layers = [] } = layoutOf(pages[0])
    expect(layers.filter(({ visible }) => visible)).toMatchObject([
      { position: 'playback', playing_file: true, width: 100 },
      { position: 'full-screen' },
    ])
    expect(hasEnded).toBe(false)
    // The SDK resolves at the end of the file.
    await playing
    await seeLayers('grid-responsive', 2)
  })

  it('gives way to the speaker when its process dies, and comes back complete in the same stream', async () => {
    await bothJoin()
    const composing = busiestComposer(gateway.pid)
    const spare = await until(
      'another process is ready',
      () => composerPids(gateway.pid).filter((pid) => pid !== composing && isComposerReady(pid)),
      (pids) => pids.length > 0,
    )
    const streams = await Promise.all(pages.map(streamsOf))
    const before = pages.map(({ wire }) => wire.received.length)
    const lines = gateway.log.length
    const ends = await Promise.all(pages.map(({ page }) => recordColours(page, middles)))
    process.kill(composing!, 'SIGKILL')
    const changes = () => gateway.log.slice(lines).filter(({ event }) => event === 'room.picture-changed')
    await until('the picture is composed again', changes, (found) => found.length === 2)
    expect(changes().map(({ kind }) => kind)).toEqual(['speaker', 'composed'])
    await seeLayers('grid-responsive', 2)
    for (const end of ends) {
      const frames = await end()
      const seen = frames.filter(({ colours }, at) => `${colours}` !== `${frames[at - 1]?.colours}`)
      // Both cameras, one of them, and both again: neither a plain picture nor a plain tile between.
      expect(seen.flatMap(({ colours }) => colours)).not.toContain('grey')
      expect(`${seen.at(-1)?.colours}`).toBe('red,blue')
    }
    expect(composerPids(gateway.pid)).toEqual(expect.arrayContaining(spare))
    expect(composerPids(gateway.pid)).not.toContain(composing)
    expect(await Promise.all(pages.map(streamsOf))).toEqual(streams)
    for (const [at, { wire }] of pages.entries()) {
      const layouts = wire
        .events('layout.changed', before[at])
        .map(({ layout }) => (layout as { name: string }).name)
      expect(layouts).toEqual(['full-screen', 'grid-responsive'])
    }
  })

  it('comes back complete after the death of the mediasoup process, with the same members', async () => {
    await bothJoin()
    const before = await memberIds(pages[0])
    const leaves = pages.map(leavesOf)
    killWorker(gateway)
    await Promise.all(pages.map(({ page }) => seesNothing(page)))
    await seeLayers('grid-responsive', 2)
    expect(await memberIds(pages[0])).toEqual(before)
    expect(pages.map(leavesOf)).toEqual(leaves)
    expect(await gateway.metric('composed_rooms')).toBe(1)
  })
})
