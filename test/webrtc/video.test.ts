/** @schedule alone: two browsers with video need both cores. */

import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { Firefox, firefox } from '../support/firefox.ts'
import { isInstalled } from '../support/program.ts'
import { type MediaStack, openMediaStack, until } from '../support/webrtc/media-stack.ts'
import { toneFile } from '../support/webrtc/microphone.ts'
import { changes, offerAgain, Parties, type Party, sees } from '../support/webrtc/parties.ts'
import { PhoneBrowser, PhonePage } from '../support/webrtc/phone-page.ts'

let file: Awaited<ReturnType<typeof toneFile>>
let browser: PhoneBrowser
let fixture: MediaStack
let parties: Parties

beforeAll(async () => {
  file = await toneFile(1000)
  browser = await PhoneBrowser.start(file.path)
  fixture = await openMediaStack({ workers: 2 })
  parties = new Parties(fixture, () => browser.open())
})
afterAll(async () => {
  await fixture?.close()
  await browser?.close()
  await file?.remove()
})
afterEach(() => parties.close())

/** Returns the port of the worker that has the party's session. */
const workerOf = ({ media }: Party) => media.sdp.match(/^m=audio (\d+)/m)![1]

describe('two browsers', () => {
  it('see each other across workers and payload types, and after several changes see the partner joined last', async () => {
    const a = await parties.callOut('red')
    // The second browser has the payload types of Firefox, and the third has unusual ones.
    const b = await parties.callIn('blue', { numbers: { 96: '120', 120: '96' } })
    const c = await parties.callIn('green', { numbers: { 96: '41', 41: '96' } })
    expect(workerOf(a)).not.toBe(workerOf(b))
    expect(a.media.video).toMatchObject({ isSending: true, isReceiving: true })
    expect(b.media.sdp).toContain('a=rtpmap:120 VP8/90000')
    expect(c.media.sdp).toContain('a=rtpmap:41 VP8/90000')
    const first = parties.join(a, b)
    expect(await sees(a, 'blue')).toMatchObject({ width: 320, height: 240, codec: 'VP8 96' })
    expect(await sees(b, 'red')).toMatchObject({ codec: 'VP8 120' })
    await a.page.call('camera', 'red', { width: 480, height: 360 })
    await until(
      () => b.page.call('seen'),
      ({ width, height }) => width === 480 && height === 360,
    )
    const second = parties.join(b, c)
    expect(await sees(b, 'green')).toMatchObject({ codec: 'VP8 120' })
    expect(await sees(c, 'blue')).toMatchObject({ codec: 'VP8 41' })
    second.close()
    second.close()
    await sees(b, 'red')
    first.close()
    for (let i = 0; i < 5; i++) {
      parties.join(a, c).close()
      parties.join(a, b).close()
    }
    parties.join(a, c)
    await offerAgain(a, true)
    await Promise.all([sees(a, 'green'), sees(c, 'red')])
  })

  it('see each other in H.264', async () => {
    const codecs = ['H264']
    const [a, b] = await Promise.all([parties.callIn('red', { codecs }), parties.callIn('blue', { codecs })])
    parties.join(a, b)
    expect((await sees(a, 'blue')).codec).toMatch(/^H264/)
    await sees(b, 'red')
  })

  it('see a shared screen instead of a camera, through all changes of direction', async () => {
    const [a, b] = await Promise.all([parties.callIn('red'), parties.callIn()])
    const seen = changes(b)
    parties.join(a, b)
    expect(b.media.video).toMatchObject({ isSending: false, isReceiving: false })
    const { page, screen } = await parties.share('green')
    const turnScreen = async (direction: 'inactive' | 'sendonly') => {
      await page.call('turnVideo', direction)
      await page.call('take', 'answer', await screen.renegotiate(await page.call('offer')))
    }
    b.media.present(screen)
    expect(await sees(a, 'green')).toMatchObject({ width: 640 })
    await turnScreen('inactive')
    await b.page.call('camera', 'blue')
    await offerAgain(b)
    await Promise.all([sees(a, 'blue'), sees(b, 'red')])
    await turnScreen('sendonly')
    await sees(a, 'green')
    await screen.close()
    await screen.close()
    await sees(a, 'blue')
    await b.page.call('turnVideo', 'recvonly')
    await offerAgain(b)
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
    await Promise.all([sees(a, 'blue'), sees(b, 'red')])
    expect(seen).toEqual([
      { isSending: true, isReceiving: false },
      { isSending: false, isReceiving: false },
      { isSending: true, isReceiving: true },
      { isSending: false, isReceiving: true },
      { isSending: false, isReceiving: false },
      { isSending: true, isReceiving: false },
      { isSending: false, isReceiving: false },
      { isSending: true, isReceiving: true },
    ])
  })
})

/**
 * Browsers with different payload types and extensions. Firefox also differs on streams without a signalled
 * SSRC.
 */
describe.skipIf(!isInstalled(firefox))('Firefox and Chromium', () => {
  let mozilla: Firefox

  beforeAll(async () => {
    mozilla = await Firefox.start(900)
  })
  afterAll(() => mozilla?.stop())

  const foxPage = () =>
    parties.page(async () => {
      const page = await mozilla.page()
      await page.goto(browser.url)
      return new PhonePage({ evaluate: page.evaluate, close: () => page.context().close() })
    })

  it('see each other through changes of partner, ICE, screen and direction', async () => {
    const page = await foxPage()
    const others = [parties.callIn('blue'), parties.callIn('green')] as const
    const [fox, a, b] = await Promise.all([parties.callIn('red', { page }), ...others])
    const first = parties.join(fox, a)
    expect(await sees(fox, 'blue')).toMatchObject({ width: 320, height: 240 })
    await sees(a, 'red')
    expect(fox.media.sdp).toMatch(/a=rtpmap:120 VP8/)
    first.close()
    parties.join(fox, b)
    await offerAgain(fox, true)
    await Promise.all([sees(fox, 'green'), sees(b, 'red')])
    const { screen } = await parties.share('blue')
    b.media.present(screen)
    await sees(fox, 'blue')
    await page.call('turnVideo', 'sendonly')
    await offerAgain(fox)
    expect(fox.media.video).toMatchObject({ isSending: true, isReceiving: false })
    b.media.present(undefined)
    await page.call('turnVideo', 'sendrecv')
    await offerAgain(fox)
    await Promise.all([sees(fox, 'green'), sees(b, 'red')])
  })

  it('see each other when Firefox is called and adds its camera later', async () => {
    const page = await foxPage()
    const fox = await parties.callOut(undefined, { page })
    const a = await parties.callIn('blue')
    parties.join(fox, a)
    expect(fox.media.video).toMatchObject({ isSending: false, isReceiving: true })
    await sees(fox, 'blue')
    await page.call('camera', 'red')
    await offerAgain(fox)
    await Promise.all([sees(a, 'red'), sees(fox, 'blue')])
  })
})
