/** Pages that call and are called with video, and the video that they receive. */
import { expect } from 'vitest'
import type { BrowserMedia, BrowserSource } from '../../../media/types.ts'
import { type MediaStack, until } from './media-stack.ts'
import type { PhonePage } from './phone-page.ts'
import type { Seen } from './seen-video.ts'

/** A page with its session. */
export interface Party {
  readonly page: PhonePage
  readonly media: BrowserMedia
}

/**
 * Video of a browser: a picture of a colour, with these codecs only, and with payload types that differ from
 * its own.
 */
interface Sends {
  readonly codecs?: readonly string[]
  readonly numbers?: Readonly<Record<string, string>>
  /** Whether the picture is sent in three sizes, and video is received on a further m-line. */
  readonly simulcast?: boolean
  /** The page; default a new one. */
  readonly page?: PhonePage
  /** Port of a relay between the page and the stack. */
  readonly relay?: number
}

/** The pages and sessions of one test. */
export class Parties {
  readonly #fixture: MediaStack
  readonly #open: () => Promise<PhonePage>
  #pages: PhonePage[] = []
  #opened: { close(): unknown }[] = []
  #faults: Error[] = []

  constructor(fixture: MediaStack, open: () => Promise<PhonePage>) {
    this.#fixture = fixture
    this.#open = open
  }

  /** Opens a page that is closed with the others, by default in the usual browser. */
  async page(open: () => Promise<PhonePage> = this.#open): Promise<PhonePage> {
    const page = await open()
    this.#pages.push(page)
    return page
  }

  /** Lets a page call, with video of a colour or without. */
  async callIn(
    colour?: string,
    { codecs, numbers, simulcast, page: own, relay }: Sends = {},
  ): Promise<Party> {
    const page = own ?? (await this.page())
    await page.call('start', { audio: true })
    if (colour) await page.call(simulcast ? 'simulcast' : 'camera', colour)
    if (codecs) await page.call('preferVideo', codecs)
    const offer = await page.call('offer', false, numbers)
    const media = this.#keepMedia(await this.#fixture.webrtc.answer('g', offer, ['opus']))
    const sdp =
      relay === undefined ? media.sdp : media.sdp.replaceAll(` ${this.#fixture.port} typ`, ` ${relay} typ`)
    await page.call('take', 'answer', sdp)
    return { page, media }
  }

  /** Calls a page with video; the page sends a picture of a colour or none. */
  async callOut(colour?: string, { page: own }: Pick<Sends, 'page'> = {}): Promise<Party> {
    const page = own ?? (await this.page())
    const media = this.#keepMedia(await this.#fixture.webrtc.offer('g', 'opus', { video: true }))
    await media.accept(await page.call('answer', media.sdp, colour))
    return { page, media }
  }

  /** Shares a screen of a colour in the way of the published SDK. */
  async share(colour: string): Promise<{ page: PhonePage; screen: BrowserSource }> {
    const page = await this.page()
    await page.call('share', colour, { width: 640, height: 360 })
    const offer = await page.call('offer')
    expect(offer).toMatch(/m=video[\s\S]*m=audio/)
    const screen = this.#keep(await this.#fixture.webrtc.source('g', offer))
    await page.call('take', 'answer', screen.sdp)
    return { page, screen }
  }

  /** Connects the video of two parties. */
  join(a: Party, b: Party): { close(): void } {
    return this.#keep(
      this.#fixture.webrtc.joinVideo(a.media.video, b.media.video, (fault) => this.#faults.push(fault)),
    )
  }

  /** Closes everything, and expects that nothing is left. */
  async close(): Promise<void> {
    for (const one of this.#opened.reverse()) await one.close()
    for (const page of this.#pages) await page.close()
    const faults = this.#faults
    this.#opened = []
    this.#pages = []
    this.#faults = []
    expect(faults).toEqual([])
    const { webrtc, edge } = this.#fixture
    expect({ transports: webrtc.transports, ports: edge.portCount }).toEqual({ transports: 0, ports: 0 })
  }

  #keepMedia(media: BrowserMedia): BrowserMedia {
    this.#keep(media.port)
    return this.#keep(media)
  }

  #keep<T extends { close(): unknown }>(one: T): T {
    this.#opened.push(one)
    return one
  }
}

/** Lets the page make a new offer and apply its answer. */
export const offerAgain = async ({ page, media }: Party, restart = false) => {
  await page.call('take', 'answer', await media.renegotiate(await page.call('offer', restart)))
}

/** Waits until the page sees this colour and further frames arrive. */
export const sees = async ({ page }: Party, colour: string): Promise<Seen> => {
  const first = await until(
    () => page.call('seen'),
    (seen) => seen.colour === colour,
  )
  return until(
    () => page.call('seen'),
    (seen) => seen.frames > first.frames + 5 && seen.colour === colour,
  )
}

/** Returns a list that collects the changes of the session's video. */
export const changes = ({ media: { video } }: Party) => {
  const seen: { isSending: boolean; isReceiving: boolean }[] = []
  video.onChange(() => seen.push({ isSending: video.isSending, isReceiving: video.isReceiving }))
  return seen
}
