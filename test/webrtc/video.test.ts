import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { BrowserMedia } from '../../media/types.ts'
import { toneFile } from './microphone.ts'
import { PhoneBrowser, type PhonePage } from './page.ts'
import type { Seen } from './page-video.ts'
import { type House, openHouse, until } from './setup.ts'

/** A page with its session. */
interface Party {
  readonly page: PhonePage
  readonly media: BrowserMedia
}

let file: Awaited<ReturnType<typeof toneFile>>
let browser: PhoneBrowser
let house: House
let pages: PhonePage[] = []
let opened: { close(): unknown }[] = []

beforeAll(async () => {
  file = await toneFile(1000)
  browser = await PhoneBrowser.start(file.path)
  house = await openHouse({ workers: 2 })
})
afterAll(async () => {
  await house?.close()
  await browser?.close()
  await file?.remove()
})
afterEach(async () => {
  for (const one of opened.reverse()) await one.close()
  for (const page of pages) await page.close()
  ;[opened, pages] = [[], []]
  expect({ transports: house.webrtc.transports, ports: house.edge.portCount }).toEqual({
    transports: 0,
    ports: 0,
  })
})

const newPage = async () => {
  const page = await browser.open()
  pages.push(page)
  return page
}

const keep = <T extends { close(): unknown }>(one: T): T => {
  opened.push(one)
  return one
}

/** What a browser sends: a picture of a colour, with these codecs alone, and with other payload types than its own. */
interface Sends {
  readonly codecs?: readonly string[]
  readonly numbers?: Readonly<Record<string, string>>
}

/** A browser that calls, with video of a colour or without. */
const callIn = async (colour?: string, { codecs, numbers }: Sends = {}): Promise<Party> => {
  const page = await newPage()
  await page.call('start', { audio: true })
  if (colour) await page.call('camera', colour)
  if (codecs) await page.call('preferVideo', codecs)
  const media = await house.webrtc.answer('g', await page.call('offer', false, numbers), ['opus'])
  keep(media.port)
  keep(media)
  await page.call('take', 'answer', media.sdp)
  return { page, media }
}

/** A browser that is called with video, and sends a picture of a colour or none. */
const callOut = async (colour?: string, change: (sdp: string) => string = (sdp) => sdp): Promise<Party> => {
  const page = await newPage()
  const media = await house.webrtc.offer('g', 'opus', { video: true })
  keep(media.port)
  keep(media)
  await media.accept(change(await page.call('answer', media.sdp, colour)))
  return { page, media }
}

/** A screen of a colour, as the published SDK shares it. */
const share = async (colour: string) => {
  const page = await newPage()
  await page.call('share', colour, { width: 640, height: 360 })
  const offer = await page.call('offer')
  expect(offer).toMatch(/m=video[\s\S]*m=audio/)
  const screen = keep(await house.webrtc.screen('g', offer))
  await page.call('take', 'answer', screen.sdp)
  return { page, screen }
}

const offerAgain = async ({ page, media }: Party, restart = false) => {
  await page.call('take', 'answer', await media.renegotiate(await page.call('offer', restart)))
}

/** Waits until the page sees this colour, and frames of it go on coming. */
const sees = async ({ page }: Party, colour: string): Promise<Seen> => {
  const first = await until(
    () => page.call('seen'),
    (seen) => seen.colour === colour,
  )
  return until(
    () => page.call('seen'),
    (seen) => seen.frames > first.frames + 15 && seen.colour === colour,
  )
}

const join = (a: Party, b: Party, faults: Error[] = []) =>
  keep(house.webrtc.joinVideo(a.media.video, b.media.video, (fault) => faults.push(fault)))

/** Each change of what the session's video does. */
const changes = ({ media: { video } }: Party) => {
  const seen: { sends: boolean; receives: boolean }[] = []
  video.onChange(() => seen.push({ sends: video.sends, receives: video.receives }))
  return seen
}

describe('two browsers', () => {
  it('see each other, over two workers', async () => {
    const [a, b] = [await callIn('red'), await callIn('blue')]
    expect(a.media.video).toMatchObject({ sends: true, receives: true })
    join(a, b)
    expect(await sees(a, 'blue')).toMatchObject({ width: 320, height: 240, codec: 'VP8 96' })
    await sees(b, 'red')
    await a.page.call('camera', 'red', { width: 480, height: 360 })
    await until(
      () => b.page.call('seen'),
      ({ width, height }) => width === 480 && height === 360,
    )
  })

  it('see each other with the numbers of each', async () => {
    // Those of Firefox, and those of nobody.
    const a = await callIn('red')
    const b = await callIn('blue', { numbers: { 96: '120', 120: '96' } })
    const c = await callIn('green', { numbers: { 96: '41', 41: '96' } })
    expect(b.media.sdp).toContain('a=rtpmap:120 VP8/90000')
    expect(c.media.sdp).toContain('a=rtpmap:41 VP8/90000')
    const first = join(a, b)
    expect(await sees(a, 'blue')).toMatchObject({ codec: 'VP8 96' })
    expect(await sees(b, 'red')).toMatchObject({ codec: 'VP8 120' })
    first.close()
    join(b, c)
    expect(await sees(b, 'green')).toMatchObject({ codec: 'VP8 120' })
    expect(await sees(c, 'blue')).toMatchObject({ codec: 'VP8 41' })
  })

  it('see nothing of each other where their codecs differ, which is told once', async () => {
    const a = await callIn('red')
    const b = await callIn('blue', { codecs: ['H264'] })
    expect(b.media.sdp).toMatch(/a=rtpmap:\d+ H264/)
    const faults: Error[] = []
    join(a, b, faults)
    await until(
      () => faults.length,
      (length) => length === 2,
    )
    expect(faults).toEqual([
      expect.objectContaining({ code: 'no_common_codec' }),
      expect.objectContaining({ code: 'no_common_codec' }),
    ])
    await offerAgain(a)
    const c = await callIn('green', { codecs: ['H264'] })
    join(b, c)
    expect((await sees(c, 'blue')).codec).toMatch(/^H264/)
    await sees(b, 'green')
    expect(faults.length).toBe(2)
  })

  it('are joined to others in turn, the last of whom they see', async () => {
    const [a, b, c] = [await callIn('red'), await callIn('blue'), await callIn('green')]
    const first = join(a, b)
    await sees(a, 'blue')
    const second = join(a, c)
    await sees(a, 'green')
    await sees(c, 'red')
    second.close()
    second.close()
    await sees(a, 'blue')
    first.close()
    for (let i = 0; i < 5; i++) {
      join(a, c).close()
      join(a, b).close()
    }
    join(a, c)
    await sees(a, 'green')
    await sees(c, 'red')
  })
})

describe('one of two browsers', () => {
  it('adds video later, pauses it, takes it back, and switches it off', async () => {
    const [a, b] = [await callIn('red'), await callIn()]
    const seen = changes(b)
    join(a, b)
    expect(b.media.video).toMatchObject({ sends: false, receives: false })
    await b.page.call('camera', 'blue')
    await offerAgain(b)
    await sees(a, 'blue')
    await sees(b, 'red')
    await b.page.call('turnVideo', 'recvonly')
    await offerAgain(b)
    await sees(b, 'red')
    await b.page.call('turnVideo', 'inactive')
    await offerAgain(b)
    expect(b.media.sdp).toMatch(/m=video [1-9][\s\S]*a=inactive/)
    await b.page.call('turnVideo', 'sendonly')
    await b.page.call('camera', 'green')
    await offerAgain(b)
    await sees(a, 'green')
    await b.page.call('turnVideo', 'stopped')
    await offerAgain(b)
    expect(b.media.sdp).toMatch(/m=video 0 /)
    await b.page.call('camera', 'blue')
    await offerAgain(b)
    await sees(a, 'blue')
    await sees(b, 'red')
    expect(seen).toEqual([
      { sends: true, receives: true },
      { sends: false, receives: true },
      { sends: false, receives: false },
      { sends: true, receives: false },
      { sends: false, receives: false },
      { sends: true, receives: true },
    ])
  })

  it('restarts ICE, and both go on seeing', async () => {
    const [a, b] = [await callIn('red'), await callIn('blue')]
    join(a, b)
    await sees(a, 'blue')
    for (const party of [a, b]) {
      await offerAgain(party, true)
      await sees(a, 'blue')
      await sees(b, 'red')
    }
  })

  it('comes back with another connection', async () => {
    const [a, b] = [await callIn('red'), await callIn('blue')]
    join(a, b)
    await sees(b, 'red')
    await a.page.close()
    const page = await newPage()
    await page.call('start', { audio: true })
    await page.call('camera', 'green')
    const again = { page, media: a.media }
    await offerAgain(again)
    await sees(b, 'green')
    await sees(again, 'blue')
  })

  it('shares its screen in place of its camera', async () => {
    const [a, b] = [await callIn('red'), await callIn('blue')]
    join(a, b)
    await sees(b, 'red')
    const { page, screen } = await share('green')
    a.media.present(screen)
    expect(await sees(b, 'green')).toMatchObject({ width: 640 })
    await page.call('turnVideo', 'inactive')
    await page.call('take', 'answer', await screen.renegotiate(await page.call('offer')))
    await sees(b, 'red')
    await page.call('turnVideo', 'sendonly')
    await page.call('take', 'answer', await screen.renegotiate(await page.call('offer', true)))
    await sees(b, 'green')
    await screen.close()
    await screen.close()
    await sees(b, 'red')
    await sees(a, 'blue')
  })

  it('shares its screen without a camera', async () => {
    const [a, b] = [await callIn(), await callIn('blue')]
    const seen = changes(a)
    join(a, b)
    const { screen } = await share('green')
    a.media.present(screen)
    await sees(b, 'green')
    a.media.present(undefined)
    expect(seen).toEqual([
      { sends: true, receives: false },
      { sends: false, receives: false },
    ])
  })
})

describe('a browser that is called with video', () => {
  it('sees and is seen', async () => {
    const a = await callIn('red')
    const b = await callOut('blue')
    expect(b.media.video).toMatchObject({ sends: true, receives: true })
    join(a, b)
    expect(await sees(a, 'blue')).toMatchObject({ codec: 'VP8 96' })
    await sees(b, 'red')
    await offerAgain(b, true)
    await sees(b, 'red')
  })

  it('may only look, or refuse, and change its mind', async () => {
    const a = await callIn('red')
    const b = await callOut()
    expect(b.media.video).toMatchObject({ sends: false, receives: true })
    join(a, b)
    await sees(b, 'red')
    await b.page.call('camera', 'blue')
    await offerAgain(b)
    await sees(a, 'blue')

    const c = await callOut(undefined, (sdp) => sdp.replace(/^m=video \d+/m, 'm=video 0'))
    expect(c.media.video).toMatchObject({ sends: false, receives: false })
  })
})
