/** @schedule tones first: two pages with sound and video, in a minute of changes. */

/**
 * Two browsers with the gateway's own SDK see and hear each other. Each test continues the call of the one
 * before.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Browser } from '../support/browser.ts'
import { ClientPage } from '../support/client-page.ts'
import { CutLine } from '../support/cut-line.ts'
import { alice, Gateway } from '../support/gateway.ts'
import { heardIn, hears } from '../support/page-audio.ts'
import { type Colour, screenColour, sees, seesNothing } from '../support/page-video.ts'
import { until } from '../support/until.ts'

const bob = { email: 'bob@example.test', password: 'looking-glass-9' }
const tones = { alice: 1200, bob: 700, headset: 500 }

let gateway: Gateway
let line: CutLine
const browsers: Browser[] = []

beforeAll(async () => {
  const browsing = Promise.all([tones.alice, tones.bob].map((tone) => Browser.start(tone)))
  gateway = await Gateway.start({
    subscribers: [
      { ...alice, displayName: 'Alice' },
      { ...bob, displayName: 'Bob' },
    ],
  })
  line = await CutLine.open(gateway.httpPort)
  browsers.push(...(await browsing))
})

afterAll(async () => {
  for (const browser of browsers) await browser.stop()
  line?.close()
  await gateway?.stop()
})

/** Runs in the page: a second microphone, `headset`, and a second camera, `front`, which shows lime. */
const moreDevices = (tone: number): string => `(() => {
  const { mediaDevices } = navigator
  const before = mediaDevices.getUserMedia.bind(mediaDevices)
  const hum = () => {
    const context = new AudioContext()
    const source = context.createOscillator()
    const out = context.createMediaStreamDestination()
    source.frequency.value = ${tone}
    source.connect(out)
    source.start()
    return out.stream
  }
  const lime = () => {
    const canvas = Object.assign(document.createElement('canvas'), { width: 320, height: 180 })
    const context = canvas.getContext('2d')
    setInterval(() => {
      context.fillStyle = 'lime'
      context.fillRect(0, 0, 320, 180)
      context.fillStyle = 'white'
      context.fillRect((performance.now() / 10) % 320, 150, 10, 30)
    }, 66)
    return canvas.captureStream(15)
  }
  mediaDevices.getUserMedia = async (constraints) =>
    constraints.audio?.deviceId === 'headset' ? hum() : constraints.video?.deviceId === 'front' ? lime() : before(constraints)
})()`

/** Members of a page's call that this file uses. */
interface VideoCall {
  readonly state: string
  readonly video: { readonly local: boolean; readonly remote: boolean }
  readonly localVideoTrack: object | null
  readonly members: readonly { readonly type: string; readonly visible: boolean }[]
}

type Methods = Readonly<Record<string, (argument?: object | string) => Promise<unknown>>>

interface Screen {
  readonly state: string
  readonly localStream: { getVideoTracks(): { stop(): void; dispatchEvent(event: Event): void }[] }
  leave(): Promise<void>
}

/** Members of the page's `window` that this file uses. */
interface VideoWindow {
  readonly document: {
    readonly body: object
    querySelector(of: string): { readonly hidden: boolean; readonly videoWidth: number } | null
  }
  readonly testPeers: readonly { readonly localDescription: { readonly sdp: string } }[]
  readonly received: string[]
  readonly client: Methods
  readonly call: VideoCall & Methods
  shared: Screen
  watch(call: unknown): void
  dispatchEvent(event: Event): void
}

/** Runs in the page: records the events of its call. */
const watching = `(() => {
  globalThis.received = []
  globalThis.watch = (call) => {
    globalThis.call = call
    call.on('video', ({ local, remote }) => received.push('video ' + local + ' ' + remote))
    for (const name of ['media.reconnecting', 'media.connected', 'camera.updated', 'microphone.updated', 'destroy'])
      call.on(name, () => received.push(name))
  }
})()`

const open = async (index: number, email: string, camera: Colour, port: number): Promise<ClientPage> => {
  const browser = { page: () => browsers[index]!.page({ camera }) }
  const options = { host: `localhost:${port}`, logLevel: 'debug' }
  const page = await ClientPage.open(browser, gateway, await gateway.token(email), options)
  await page.page.evaluate(watching)
  return page
}

/** Calls a method of the page's call. */
const act = ({ page }: ClientPage, method: string, argument?: object | string): Promise<unknown> =>
  page.evaluate(
    async ({ method, argument }) => {
      await (globalThis as unknown as VideoWindow).call[method]!(argument)
    },
    { method, argument },
  )

const received = ({ page }: ClientPage): Promise<string[]> =>
  page.evaluate(() => (globalThis as unknown as VideoWindow).received)

const video = ({ page }: ClientPage): Promise<VideoCall['video']> =>
  page.evaluate(() => (globalThis as unknown as VideoWindow).call.video)

const tells = async (page: ClientPage, wanted: VideoCall['video']): Promise<void> => {
  const is = ({ local, remote }: VideoCall['video']) => local === wanted.local && remote === wanted.remote
  await until(`video is ${JSON.stringify(wanted)}`, () => video(page), is)
}

const hearsNothing = ({ page }: ClientPage): Promise<unknown> =>
  until(
    'the browser hears nothing',
    () => heardIn(page),
    (heard) => heard === 0,
  )

describe('a call between two pages with the gateway’s own SDK', () => {
  let a: ClientPage
  let b: ClientPage

  beforeAll(async () => {
    a = await open(0, alice.email, 'red', line.port)
    b = await open(1, bob.email, 'blue', gateway.httpPort)
    await b.page.evaluate(async () => {
      const window = globalThis as unknown as VideoWindow
      const all = async ({ invite }: { readonly invite: Methods }) =>
        window.watch(await invite.accept!({ rootElement: window.document.body }))
      await window.client.online!({ incomingCallHandlers: { all } })
    })
    await a.page.evaluate(async () => {
      const window = globalThis as unknown as VideoWindow
      window.watch(await window.client.dial!({ to: '/public/bob', rootElement: window.document.body }))
      await window.call.start!()
    })
  })

  afterAll(async () => {
    for (const page of [a, b]) await page?.close()
  })

  const heardBoth = async (ofAlice = tones.alice): Promise<void> => {
    await Promise.all([hears(a.page, tones.bob), hears(b.page, ofAlice)])
  }

  /** Waits until sound and video are received both ways. */
  const together = async (): Promise<void> => {
    await Promise.all([sees(a.page, 'blue'), sees(b.page, 'red'), heardBoth()])
    const both = { local: true, remote: true }
    for (const page of [a, b]) await tells(page, both)
  }

  it('begins with sound and without video', async () => {
    await heardBoth()
    await seesNothing(a.page)
    expect(await video(a)).toEqual({ local: false, remote: false })
  })

  it('gains video when one side sends, the other agrees to receive, and then sends as well', async () => {
    await act(a, 'updateMedia', { video: { enable: true } })
    const others = () =>
      b.page.evaluate(() => (globalThis as unknown as VideoWindow).call.members.map(({ visible }) => visible))
    await until('the other page learns of it', others, (visible) => visible.includes(true))
    await act(b, 'setVideoDirection', 'recvonly')
    await sees(b.page, 'red')
    await tells(b, { local: false, remote: true })
    await tells(a, { local: true, remote: false })
    await act(b, 'setVideoDirection', 'sendrecv')
    await together()
    const shown = () =>
      a.page.evaluate(() => {
        const { document } = globalThis as unknown as VideoWindow
        const player = document.querySelector('body > video')
        return player?.hidden ? 0 : player?.videoWidth
      })
    expect(await shown()).toBeGreaterThan(0)
    await heardBoth()
  })

  it('continues after mutes of sound, video and hearing', async () => {
    await act(a, 'audioMute')
    await hearsNothing(b)
    await hears(a.page, tones.bob)
    await act(a, 'audioUnmute')
    await act(a, 'videoMute')
    await tells(b, { local: true, remote: false })
    await seesNothing(b.page)
    await until(
      'the muted camera is closed',
      () => a.page.evaluate(() => (globalThis as unknown as VideoWindow).call.localVideoTrack === null),
      (closed) => closed,
    )
    await sees(a.page, 'blue')
    await act(a, 'videoUnmute')
    await together()
    await act(a, 'deaf')
    await hearsNothing(a)
    await sees(a.page, 'blue')
    await act(a, 'undeaf')
    await together()
  })

  it('can be held and resumed', async () => {
    await act(b, 'hold')
    await Promise.all([hearsNothing(a), hearsNothing(b), seesNothing(a.page)])
    await act(b, 'unhold')
    await together()
  })

  it('switches to another microphone and camera, and back', async () => {
    await a.page.evaluate(moreDevices(tones.headset))
    await act(a, 'updateMicrophone', { deviceId: 'headset' })
    await act(a, 'updateCamera', { deviceId: 'front' })
    await hears(b.page, tones.headset)
    await sees(b.page, 'lime')
    await act(a, 'updateMicrophone', {})
    await act(a, 'updateCamera', {})
    await together()
    const changes = (await received(a)).filter((event) => event.endsWith('.updated'))
    // The first camera event is from the test that added video.
    expect(changes.sort()).toEqual([
      'camera.updated',
      'camera.updated',
      'camera.updated',
      'microphone.updated',
      'microphone.updated',
    ])
  })

  it('shows a shared screen in place of the camera until the page or the browser stops it', async () => {
    const share = () =>
      a.page.evaluate(async () => {
        const window = globalThis as unknown as VideoWindow
        window.shared = (await window.call.startScreenShare!()) as Screen
      })
    await share()
    await sees(b.page, screenColour)
    await sees(a.page, 'blue')
    await heardBoth()
    await a.page.evaluate(() => (globalThis as unknown as VideoWindow).shared.leave())
    await together()
    await share()
    await sees(b.page, screenColour)
    const state = await a.page.evaluate(() => {
      const { shared } = globalThis as unknown as VideoWindow
      const [track] = shared.localStream.getVideoTracks()
      // The browser's own stop button has the same effect.
      track?.stop()
      track?.dispatchEvent(new Event('ended'))
      return shared.state
    })
    expect(state).toBe('ended')
    await together()
  })

  it('restarts ICE when the network changes', async () => {
    const credentials = () =>
      a.page.evaluate(
        () =>
          /a=ice-ufrag:(\S+)/.exec(
            (globalThis as unknown as VideoWindow).testPeers[0]?.localDescription.sdp ?? '',
          )?.[1],
      )
    const before = await credentials()
    await a.page.evaluate(() => {
      ;(globalThis as unknown as VideoWindow).dispatchEvent(new Event('online'))
    })
    await until(
      'the path is another one',
      () => received(a),
      (events) => events.lastIndexOf('media.connected') > events.indexOf('media.reconnecting'),
    )
    expect(await credentials()).not.toBe(before)
    await together()
  })

  it('continues while one WebSocket is lost, and after it is connected again', async () => {
    const { connections } = line
    line.cut()
    await together()
    await until('it has connected again', () => line.connections > connections)
    await act(a, 'audioMute')
    await hearsNothing(b)
    await act(a, 'audioUnmute')
    await together()
  })

  it('continues when one side stops and resumes all video', async () => {
    await act(a, 'setVideoDirection', 'inactive')
    await Promise.all([seesNothing(b.page), seesNothing(a.page)])
    await tells(a, { local: false, remote: false })
    await tells(b, { local: true, remote: false })
    await heardBoth()
    await act(a, 'setVideoDirection', 'sendrecv')
    await together()
  })

  it('continues after one page was reloaded', async () => {
    await a.page.reload()
    await a.signIn()
    await a.page.evaluate(watching)
    await a.page.evaluate(async () => {
      const window = globalThis as unknown as VideoWindow
      window.watch(await window.client.reattach!({ video: true }))
      await window.call.start!()
    })
    await together()
  })

  it('ends for both pages when one hangs up, and leaves nothing in the gateway', async () => {
    await act(b, 'hangup')
    await until(
      'the other page sees the end',
      () => received(a),
      (events) => events.includes('destroy'),
    )
    await gateway.settled()
  })
})
