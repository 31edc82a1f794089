import type { PageOptions } from './browser.ts'
import { ClientPage, type TestPage } from './client-page.ts'
import type { Gateway } from './gateway.ts'
import type { Colour, SeenColour } from './page-video.ts'
import { until } from './until.ts'

/** Camera or screen that a page receives on its own. */
export interface SeenTrack {
  readonly memberId: string
  readonly kind: string
  /** Colour of the present frame; `nothing`: none yet. */
  readonly colour: SeenColour
  readonly width: number
  /** Number of frames so far on its line. */
  readonly frames: number
}

/**
 * Colour of a member, and its width in pixels. A browser on a busy machine may not send its largest size.
 */
type Wanted = Colour | readonly [Colour, number] | readonly [Colour, 'more than', number]

interface TrackWindow {
  readonly client: { dial(options: object): Promise<TrackWindow['call']> }
  call: {
    readonly memberId: string
    start(): Promise<void>
    hangup(): Promise<void>
    startScreenShare(): Promise<{ leave(): Promise<void> }>
    readonly tracks: { show(members: unknown): void }
  }
  shared: { leave(): Promise<void> }
}

/** Runs in the page: a camera with few frames, whose sizes are cheap to encode. */
const cheapCamera = (colour: Colour, width: number): string => `(() => {
  const { mediaDevices } = navigator
  const before = mediaDevices.getUserMedia.bind(mediaDevices)
  mediaDevices.getUserMedia = async ({ audio, video }) => {
    const stream = audio ? await before({ audio }) : new MediaStream()
    if (!video) return stream
    const canvas = Object.assign(document.createElement('canvas'), { width: ${width}, height: ${(width * 9) / 16} })
    const context = canvas.getContext('2d')
    const paint = () => {
      context.fillStyle = '${colour}'
      context.fillRect(0, 0, canvas.width, canvas.height)
      context.fillStyle = 'white'
      context.fillRect((performance.now() / 10) % canvas.width, canvas.height * 0.85, 20, 20)
    }
    setInterval(paint, 125)
    paint()
    stream.addTrack(canvas.captureStream(8).getVideoTracks()[0])
    return stream
  }
})()`

/** Runs in the page: plays each separate camera, and reads what it shows. */
const look = `(() => {
  const colourOf = ([r, g, b]) => r > 150 && g > 150 && b < 110 ? 'yellow' : r > 150 && g < 110 && b < 110 ? 'red'
    : g > 150 && r < 110 && b < 110 ? 'lime' : b > 150 && r < 110 && g < 110 ? 'blue' : 'other'
  const players = (globalThis.testPlayers ??= new Map())
  const playerOf = (track) => {
    const known = players.get(track.id)
    if (known) return known
    const made = Object.assign(document.createElement('video'), { muted: true, playsInline: true, autoplay: true })
    made.srcObject = new MediaStream([track])
    document.body.append(made)
    players.set(track.id, made)
    return made
  }
  return [...call.tracks.all.values()].map(({ memberId, kind, track }) => {
    const player = playerOf(track)
    const { videoWidth: width, videoHeight: height } = player
    const frames = player.getVideoPlaybackQuality().totalVideoFrames
    if (width === 0) return { memberId, kind, colour: 'nothing', width, frames }
    const context = new OffscreenCanvas(1, 1).getContext('2d')
    context.drawImage(player, width / 2, height / 4, 1, 1, 0, 0, 1, 1)
    return { memberId, kind, colour: colourOf(context.getImageData(0, 0, 1, 1).data), width, frames }
  })
})()`

/** A page with the gateway's own SDK in a room, which receives cameras of their own. */
export class TrackPage {
  readonly #page: ClientPage<TestPage>
  /** Id of its member. */
  readonly id: string

  private constructor(page: ClientPage<TestPage>, id: string) {
    this.#page = page
    this.id = id
  }

  /**
   * Opens a page of a subscriber in Chromium or Firefox, and joins a room. `width` of its camera in pixels;
   * default 320.
   */
  static async join(
    browser: { page(options: Pick<PageOptions, 'camera'>): Promise<TestPage> },
    gateway: Gateway,
    options: {
      readonly email: string
      readonly camera: Colour
      readonly tracks: number
      readonly width?: number
      /** Address of the room; default `/public/lounge`. */
      readonly room?: string
    },
  ): Promise<TrackPage> {
    const { email, camera, tracks, width = 320, room = '/public/lounge' } = options
    const pages = { page: () => browser.page({ camera }) }
    const page = await ClientPage.open(pages, gateway, await gateway.token(email), { logLevel: 'debug' })
    await page.page.evaluate(cheapCamera(camera, width))
    await page.page.evaluate(
      async (options) => {
        const window = globalThis as unknown as TrackWindow
        window.call = await window.client.dial(options)
        await window.call.start()
      },
      { to: `${room}?channel=video`, video: true, tracks },
    )
    const id = await until(
      'the page knows its member',
      () => page.page.evaluate(() => (globalThis as unknown as TrackWindow).call.memberId),
      Boolean,
    )
    return new TrackPage(page, id)
  }

  /** The page, for measurements. */
  get page(): TestPage {
    return this.#page.page
  }

  /** Returns what the page sees of each camera and screen, by member. */
  async tracks(): Promise<readonly SeenTrack[]> {
    return (await this.#page.page.evaluate(look)) as readonly SeenTrack[]
  }

  /** Waits until the page sees exactly these members, moving. */
  async sees(wanted: Readonly<Record<string, Wanted>>): Promise<void> {
    const first = new Map<string, number>()
    const holds = (seen: readonly SeenTrack[]): boolean => {
      const isMoving = seen.every(({ memberId, frames }) => frames > (first.get(memberId) ?? Infinity))
      for (const { memberId, frames } of seen) first.set(memberId, first.get(memberId) ?? frames)
      return isMoving && seen.length === Object.keys(wanted).length && seen.every(isWanted)
    }
    const isWanted = ({ memberId, colour, width }: SeenTrack): boolean => {
      const want = wanted[memberId]
      if (want === undefined || typeof want === 'string') return colour === want
      const [ofColour, ...size] = want
      return ofColour === colour && (size.length === 1 ? width === size[0] : width > size[1])
    }
    await until(`the page sees ${JSON.stringify(wanted)}`, () => this.tracks(), holds)
  }

  /** Sets the members that the page shows, by their widths; undefined: all. */
  show(widths?: Readonly<Record<string, number>>): Promise<void> {
    const members = widths && Object.entries(widths).map(([memberId, width]) => ({ memberId, width }))
    return this.#page.page.evaluate((members) => {
      ;(globalThis as unknown as TrackWindow).call.tracks.show(members)
    }, members)
  }

  /** Returns a function that waits until the page has lost all tracks since. */
  async expectLoss(): Promise<() => Promise<void>> {
    await this.#page.page.evaluate(`(() => {
      const { promise, resolve } = Promise.withResolvers()
      globalThis.testLoss = promise
      call.on('tracks', ({ size }) => { if (size === 0) resolve() })
    })()`)
    return () => this.#page.page.evaluate('testLoss')
  }

  /** Shares a yellow screen. */
  share(): Promise<void> {
    return this.#page.page.evaluate(async () => {
      const window = globalThis as unknown as TrackWindow
      window.shared = await window.call.startScreenShare()
    })
  }

  /** Ends the shared screen. */
  unshare(): Promise<void> {
    return this.#page.page.evaluate(() => (globalThis as unknown as TrackWindow).shared.leave())
  }

  /** Hangs up and closes the page. */
  async close(): Promise<void> {
    await this.#page.page.evaluate(() => (globalThis as unknown as TrackWindow).call.hangup())
    await this.#page.close()
  }
}
