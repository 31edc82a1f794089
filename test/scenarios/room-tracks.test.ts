/** @schedule alone: four pages with video and a composing process need both cores. */

/**
 * Separate cameras: three pages with the gateway's own SDK, and a page with the published SDK, in one room.
 * Each page's camera has a colour of its own. Each test continues the room of the one before.
 */
import { afterAll, beforeAll, describe, it } from 'vitest'
import { composerReason } from '../../media/compose/pictures.ts'
import { Browser } from '../support/browser.ts'
import { alice, Gateway } from '../support/gateway.ts'
import { killWorker } from '../support/mediasoup-worker.ts'
import { type Colour, coloursIn, sees } from '../support/page-video.ts'
import { rest } from '../support/rest.ts'
import { SdkPage } from '../support/sdk-page.ts'
import { withToken } from '../support/sdk-people.ts'
import { TrackPage } from '../support/track-page.ts'
import { until } from '../support/until.ts'

const email = (name: string) => `${name}@example.test`
const password = 'looking-glass-9'
const composes = composerReason() === undefined

let gateway: Gateway
let browser: Browser
let a: TrackPage
let b: TrackPage
let c: TrackPage
let published: SdkPage
/** Member of the published SDK's page. */
let p: string

beforeAll(async () => {
  const browsing = Browser.start(1200)
  gateway = await Gateway.start({
    ...withToken,
    subscribers: [
      { ...alice, displayName: 'Alice' },
      ...['bob', 'carol', 'dora'].map((name) => ({ email: email(name), password, displayName: name })),
    ],
  })
  await rest(gateway, 'POST', '/api/fabric/resources/conference_rooms', { name: 'lounge' })
  browser = await browsing
  a = await TrackPage.join(browser, gateway, { email: alice.email, camera: 'red', tracks: 9, width: 640 })
  b = await TrackPage.join(browser, gateway, { email: email('bob'), camera: 'lime', tracks: 9 })
  c = await TrackPage.join(browser, gateway, { email: email('carol'), camera: 'blue', tracks: 1 })
  published = await SdkPage.open(browser, gateway, await gateway.token(email('dora')), { camera: 'yellow' })
  await published.dial('/public/lounge?channel=video', { video: true })
  p = published.wire.events('call.joined').at(-1)?.member_id as string
})

afterAll(async () => {
  for (const page of [a, b, c]) await page?.close()
  await published?.hangUp()
  await published?.close()
  await gateway?.settled()
  await browser?.stop()
  await gateway?.stop()
})

/** Waits until a page with one picture sees all cameras in it, or the speaker's. */
const seesAll = async ({ page }: SdkPage): Promise<void> => {
  if (!composes) return sees(page, 'red')
  const wanted: readonly Colour[] = ['red', 'lime', 'blue', 'yellow']
  const places = [25, 75].flatMap((y) => [25, 75].map((x) => ({ x, y: y - 10 })))
  await until(
    'the page sees all cameras',
    () => coloursIn(page, places),
    (seen) => wanted.every((colour) => seen.includes(colour)),
  )
}

/** Waits until the only track of a page has a screen, and returns the screen's member. */
const seesScreen = async (page: TrackPage): Promise<string> => {
  const [screen] = await until(
    'the page sees the screen',
    () => page.tracks(),
    ([first, ...others]) => first?.kind === 'screen' && first.colour === 'yellow' && others.length === 0,
  )
  return screen!.memberId
}

describe('a room of pages with separate cameras and a page with one picture', () => {
  it('shows each page every other camera on its own track', async () => {
    await Promise.all([
      a.sees({ [b.id]: 'lime', [c.id]: 'blue', [p]: 'yellow' }),
      b.sees({ [a.id]: 'red', [c.id]: 'blue', [p]: 'yellow' }),
    ])
  })

  it('shows the published SDK the same cameras in its one picture', () => seesAll(published))

  it('sends only what a page shows, in the size that it shows', async () => {
    await b.show({ [a.id]: 300 })
    await b.sees({ [a.id]: ['red', 160] })
    await b.show({ [a.id]: 1280, [c.id]: 300 })
    await b.sees({ [a.id]: ['red', 'more than', 160], [c.id]: 'blue' })
    await b.show({ [a.id]: 300, [c.id]: 0 })
    await b.sees({ [a.id]: ['red', 160] })
    await b.show({})
    await b.sees({})
    await b.show()
    await b.sees({ [a.id]: 'red', [c.id]: 'blue', [p]: 'yellow' })
  })

  it('gives the only track of a page to a screen, and back afterwards', async () => {
    await b.share()
    await seesScreen(c)
    await b.unshare()
    // The camera of the latest speaker: each page has a microphone with a tone.
    await until(
      'the page sees a camera again',
      () => c.tracks(),
      ([first]) => first?.kind === 'camera' && first.colour !== 'nothing',
    )
  })

  it('removes the track of a member that leaves', async () => {
    await c.close()
    await a.sees({ [b.id]: 'lime', [p]: 'yellow' })
    c = await TrackPage.join(browser, gateway, { email: email('carol'), camera: 'blue', tracks: 1 })
    await a.sees({ [b.id]: 'lime', [p]: 'yellow', [c.id]: 'blue' })
  })

  it('shows every camera and a screen again after the death of the mediasoup process, in the wanted sizes', async () => {
    await a.share()
    const screen = await seesScreen(c)
    await b.show({ [a.id]: 300, [c.id]: 300, [screen]: 640 })
    const cameras = { [a.id]: ['red', 160], [c.id]: 'blue', [screen]: 'yellow' } as const
    await b.sees(cameras)
    const losses = await Promise.all([a, b, c].map((page) => page.expectLoss()))
    killWorker(gateway)
    for (const lost of losses) await lost()
    await Promise.all([
      b.sees(cameras),
      c.sees({ [screen]: 'yellow' }),
      a.sees({ [b.id]: 'lime', [c.id]: 'blue', [p]: 'yellow' }),
    ])
    await b.show({ [a.id]: 1280 })
    await b.sees({ [a.id]: ['red', 'more than', 160] })
    await a.unshare()
    await Promise.all([b.sees({ [a.id]: 'red' }), seesAll(published)])
    await a.sees({ [b.id]: 'lime', [c.id]: 'blue', [p]: 'yellow' })
  })
})
