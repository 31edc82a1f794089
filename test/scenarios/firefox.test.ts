/** @schedule alone: two browsers with sound and video run at the same time. */

/**
 * The gateway's own SDK in Firefox, with carriers and with Chromium: other payload types and session
 * descriptions, the same calls.
 */
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { application, scripted } from '../support/applications.ts'
import { Browser, type PageOptions } from '../support/browser.ts'
import { Carrier } from '../support/carrier.ts'
import { act, answers, dials, reaches, reattaches } from '../support/client-calls.ts'
import { ClientPage, type ClientWindow } from '../support/client-page.ts'
import { CutLine } from '../support/cut-line.ts'
import { Firefox, type FirefoxPage, firefox } from '../support/firefox.ts'
import { alice, Gateway } from '../support/gateway.ts'
import { hears, type Measured } from '../support/page-audio.ts'
import { type Colour, sees, seesNothing } from '../support/page-video.ts'
import { isInstalled } from '../support/program.ts'
import { rest } from '../support/rest.ts'
import { type SeenTrack, TrackPage } from '../support/track-page.ts'
import { until } from '../support/until.ts'

const tones = { firefox: 900, chromium: 1200, carrier: 440 } as const
const bob = { email: 'bob@example.test', password: 'looking-glass-9' }

/** Payload types of the page's outgoing RTP. */
const payloads = (page: Measured): Promise<number[]> =>
  page.evaluate(`(async () => {
    const stats = await testPeers.at(-1).getStats()
    return [...stats.values()].filter(({ type }) => type === 'outbound-rtp').map(({ codecId }) => stats.get(codecId)?.payloadType).sort()
  })()`) as Promise<number[]>

/** Waits until the SDK shows or hides the video element, as the browser's events tell it. */
const isShown = async (page: Measured, wanted: boolean): Promise<void> => {
  const ask = () => page.evaluate(`document.querySelector('video')?.hidden === false`)
  await until(`the player is ${wanted ? '' : 'not '}shown`, ask, (shown) => shown === wanted)
}

interface FrameWindow {
  readonly location: { readonly href: string }
  readonly document: {
    createElement(name: 'iframe'): { contentWindow: ClientWindow; onload: unknown }
    readonly body: { append(element: object): void }
  }
}

/** Runs in the page: calls from a frame that may not use the microphone, and returns the error code. */
const refusedIn = async (options: object): Promise<string> => {
  const { document, location } = globalThis as unknown as FrameWindow
  const frame = document.createElement('iframe')
  Object.assign(frame, { allow: "microphone 'none'", src: location.href })
  const loaded = new Promise((resolve) => Object.assign(frame, { onload: resolve }))
  document.body.append(frame)
  await loaded
  const client = await frame.contentWindow.Trunkline.SignalWire(options)
  const call = await client.dial({ to: '/public/bob' })
  return call.start().then(
    () => 'nothing',
    ({ code }) => code,
  )
}

describe.skipIf(!isInstalled(firefox))('a page with the gateway’s own SDK in Firefox', () => {
  let gateway: Gateway
  let mozilla: Firefox
  let chromium: Browser

  beforeAll(async () => {
    const to = '/public/alice'
    const domains = [application('sdk.test', scripted({ connect: { to, answer_on_bridge: true } }))]
    const subscribers = [
      { ...alice, displayName: 'Alice', mayDialOut: true },
      { ...bob, displayName: 'Bob', mayDialOut: true },
    ]
    // Started one after the other, so that `afterAll` stops the earlier ones if a later start fails.
    gateway = await Gateway.start({ domains, subscribers })
    mozilla = await Firefox.start(tones.firefox)
    chromium = await Browser.start(tones.chromium)
  })

  afterAll(async () => {
    await Promise.all([mozilla?.stop(), chromium?.stop(), gateway?.stop()])
  })

  const open = async (
    options: object = {},
    page: Pick<PageOptions, 'camera'> = {},
  ): Promise<ClientPage<FirefoxPage>> => {
    const browser = { page: () => mozilla.page(page) }
    const opened = await ClientPage.open(browser, gateway, await gateway.token(), options)
    onTestFinished(() => opened.close())
    return opened
  }

  const openChromium = async (camera?: Colour): Promise<ClientPage> => {
    const browser = { page: () => chromium.page({ camera }) }
    const opened = await ClientPage.open(browser, gateway, await gateway.token(bob.email))
    onTestFinished(() => opened.close())
    return opened
  }

  it('is called by a carrier, talks, mutes, holds and hangs up', async () => {
    const opened = await open()
    await answers(opened)
    const carrier = await Carrier.calls(gateway, { domain: 'sdk.test', scenario: 'caller-released' })
    await carrier.talks('answered', tones.carrier)
    const talk = async () => {
      await Promise.all([hears(opened.page, tones.carrier), carrier.hears(tones.firefox, 500)])
    }
    await talk()
    await reaches(opened, 'active')
    await act(opened, 'audioMute')
    await carrier.hearsNothing()
    await hears(opened.page, tones.carrier)
    await act(opened, 'audioUnmute')
    await talk()
    await act(opened, 'hold')
    await carrier.hearsNothing()
    await hears(opened.page, 0)
    await act(opened, 'unhold')
    await talk()
    await act(opened, 'hangup')
    await carrier.done()
    await gateway.settled()
  })

  it('calls a carrier, keeps the call over a lost connection and a reload, sends digits, and is hung up', async () => {
    const carrier = await Carrier.listens({ scenario: 'callee-hangs-up', holdMs: 'manual' })
    const line = await CutLine.to(gateway.httpPort)
    const opened = await open({ host: `localhost:${line.port}` })
    await dials(opened, carrier.uri)
    await carrier.talks('invited', tones.carrier)
    const talk = async () => {
      await Promise.all([hears(opened.page, tones.carrier), carrier.hears(tones.firefox, 500)])
    }
    await talk()
    line.cut()
    await until('it has connected again', () => line.connections === 2)
    await act(opened, 'sendDigits', '26#')
    await carrier.receivesDigits('26#')
    await talk()
    await opened.page.reload()
    await opened.signIn()
    await reattaches(opened)
    await talk()
    await carrier.goesOn()
    await carrier.done()
    await reaches(opened, 'ended')
    await gateway.settled()
  })

  it('reports microphone_refused when the page may not use the microphone', async () => {
    const opened = await open()
    const options = { host: `localhost:${gateway.httpPort}`, token: await gateway.token() }
    const refused = await opened.page.evaluate(refusedIn, options)
    expect(refused).toBe('microphone_refused')
    await gateway.settled()
  })

  it('lists addresses over TLS, and exchanges messages with Chromium', async () => {
    const opened = await open({ host: `wss://gw.localhost:${gateway.tlsPort}` })
    const other = await openChromium()
    const listen = async ({ page }: Pick<ClientPage, 'page'> | typeof opened, name: string) =>
      (page as Measured).evaluate(async (name) => {
        const { client, heard } = globalThis as unknown as ClientWindow
        const { id: addressId } = await client.address.getAddress({ name })
        client.chat.subscribe({ addressId, onMessage: ({ text }) => heard.push(text) })
        return addressId
      }, name)
    const say = ({ page }: { readonly page: Measured }, addressId: string, text: string) =>
      page.evaluate(
        async (message) => {
          await (globalThis as unknown as ClientWindow).client.chat.sendMessage(message)
        },
        { addressId, text },
      )
    const toBob = await listen(opened, '/public/bob')
    const toAlice = await listen(other, '/public/alice')
    await say(opened, toBob, 'Good morning')
    const heard = ({ page }: { readonly page: Measured }, all: string) =>
      until(
        `the page hears ${all}`,
        () => page.evaluate(() => (globalThis as unknown as ClientWindow).heard.join()),
        (said) => said === all,
      )
    await heard(other, 'Good morning')
    await say(other, toAlice, 'Good evening')
    await heard(opened, 'Good morning,Good evening')
    const names = await opened.page.evaluate(async () => {
      const { client } = globalThis as unknown as ClientWindow
      const { email } = await client.getSubscriberInfo()
      const { data } = await client.address.getAddresses({ type: 'subscriber' })
      return [email, ...data.map(({ name }) => name)]
    })
    expect(names).toEqual([alice.email, 'alice', 'bob'])
  })

  it('exchanges sound and video with Chromium, each with its own payload types', async () => {
    const a = await open({}, { camera: 'red' })
    const b = await openChromium('blue')
    await answers(a)
    await dials(b, '/public/alice')
    const talk = async () => {
      await Promise.all([hears(a.page, tones.chromium), hears(b.page, tones.firefox)])
    }
    const together = async () => {
      await Promise.all([sees(a.page, 'blue'), sees(b.page, 'red')])
      await isShown(a.page, true)
      await talk()
    }
    await talk()
    await isShown(a.page, false)
    await act(a, 'updateMedia', { video: { enable: true } })
    await act(b, 'updateMedia', { video: { enable: true } })
    await together()
    // Chromium's offer gave Firefox payload type 111 for sound; Firefox chose 120 for video.
    expect([await payloads(a.page), await payloads(b.page)]).toEqual([
      [111, 120],
      [111, 96],
    ])
    await act(a, 'setVideoDirection', 'inactive')
    await Promise.all([seesNothing(a.page), seesNothing(b.page)])
    await isShown(a.page, false)
    await talk()
    await act(a, 'setVideoDirection', 'sendrecv')
    await together()
    await act(b, 'hangup')
    await reaches(a, 'ended')
    await gateway.settled()
  })

  it('calls Chromium with video from the start', async () => {
    const a = await open({}, { camera: 'red' })
    const b = await openChromium('blue')
    await answers(b, { video: true })
    await dials(a, '/public/bob?channel=video', { video: true })
    await Promise.all([sees(a.page, 'blue'), sees(b.page, 'red')])
    await Promise.all([hears(a.page, tones.chromium), hears(b.page, tones.firefox)])
    expect(await payloads(a.page)).toEqual([109, 120])
    await act(a, 'hangup')
    await reaches(b, 'ended')
    await gateway.settled()
  })

  it('sends a camera to a room, and receives those of others on tracks of their own', async () => {
    await rest(gateway, 'POST', '/api/fabric/resources/conference_rooms', { name: 'lounge' })
    const size = { tracks: 9, width: 640 }
    const a = await TrackPage.join(mozilla, gateway, { email: alice.email, camera: 'red', ...size })
    onTestFinished(() => a.close())
    const b = await TrackPage.join(chromium, gateway, { email: bob.email, camera: 'blue', ...size })
    // Firefox does not count the frames of these players.
    const hasCamera = (seen: readonly SeenTrack[]) => seen.map(({ colour }) => colour).join() === 'blue'
    const seesCamera = () => until('Firefox sees the camera', () => a.tracks(), hasCamera)
    await Promise.all([seesCamera(), b.sees({ [a.id]: 'red' })])
    await b.show({ [a.id]: 100 })
    await b.sees({ [a.id]: ['red', 160] })
    await b.show({ [a.id]: 640 })
    await b.sees({ [a.id]: ['red', 'more than', 160] })
    await b.share()
    const hasScreen = (seen: readonly SeenTrack[]) =>
      seen.some(({ kind, colour }) => kind === 'screen' && colour === 'yellow')
    await until('Firefox sees the screen', () => a.tracks(), hasScreen)
    await b.unshare()
    await seesCamera()
    await b.close()
    await a.sees({})
  })
})
