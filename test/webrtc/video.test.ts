import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { toneFile } from './microphone.ts'
import { PhoneBrowser } from './page.ts'
import { changes, offerAgain, Parties, sees } from './parties.ts'
import { type House, openHouse, until } from './setup.ts'

let file: Awaited<ReturnType<typeof toneFile>>
let browser: PhoneBrowser
let house: House
let parties: Parties

beforeAll(async () => {
  file = await toneFile(1000)
  browser = await PhoneBrowser.start(file.path)
  house = await openHouse({ workers: 2 })
  parties = new Parties(house, () => browser.open())
})
afterAll(async () => {
  await house?.close()
  await browser?.close()
  await file?.remove()
})
afterEach(() => parties.close())

describe('two browsers', () => {
  it('see each other, over two workers', async () => {
    const [a, b] = [await parties.callIn('red'), await parties.callIn('blue')]
    expect(a.media.video).toMatchObject({ sends: true, receives: true })
    parties.join(a, b)
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
    const a = await parties.callIn('red')
    const b = await parties.callIn('blue', { numbers: { 96: '120', 120: '96' } })
    const c = await parties.callIn('green', { numbers: { 96: '41', 41: '96' } })
    expect(b.media.sdp).toContain('a=rtpmap:120 VP8/90000')
    expect(c.media.sdp).toContain('a=rtpmap:41 VP8/90000')
    const first = parties.join(a, b)
    expect(await sees(a, 'blue')).toMatchObject({ codec: 'VP8 96' })
    expect(await sees(b, 'red')).toMatchObject({ codec: 'VP8 120' })
    first.close()
    parties.join(b, c)
    expect(await sees(b, 'green')).toMatchObject({ codec: 'VP8 120' })
    expect(await sees(c, 'blue')).toMatchObject({ codec: 'VP8 41' })
  })

  it('see nothing of each other where their codecs differ, which is told once', async () => {
    const a = await parties.callIn('red')
    const b = await parties.callIn('blue', { codecs: ['H264'] })
    expect(b.media.sdp).toMatch(/a=rtpmap:\d+ H264/)
    const faults: Error[] = []
    parties.join(a, b, faults)
    await until(
      () => faults.length,
      (length) => length === 2,
    )
    expect(faults).toEqual([
      expect.objectContaining({ code: 'no_common_codec' }),
      expect.objectContaining({ code: 'no_common_codec' }),
    ])
    await offerAgain(a)
    const c = await parties.callIn('green', { codecs: ['H264'] })
    parties.join(b, c)
    expect((await sees(c, 'blue')).codec).toMatch(/^H264/)
    await sees(b, 'green')
    expect(faults.length).toBe(2)
  })

  it('are joined to others in turn, the last of whom they see', async () => {
    const [a, b, c] = [
      await parties.callIn('red'),
      await parties.callIn('blue'),
      await parties.callIn('green'),
    ]
    const first = parties.join(a, b)
    await sees(a, 'blue')
    const second = parties.join(a, c)
    await sees(a, 'green')
    await sees(c, 'red')
    second.close()
    second.close()
    await sees(a, 'blue')
    first.close()
    for (let i = 0; i < 5; i++) {
      parties.join(a, c).close()
      parties.join(a, b).close()
    }
    parties.join(a, c)
    await sees(a, 'green')
    await sees(c, 'red')
  })
})

describe('one of two browsers', () => {
  it('adds video later, pauses it, takes it back, and switches it off', async () => {
    const [a, b] = [await parties.callIn('red'), await parties.callIn()]
    const seen = changes(b)
    parties.join(a, b)
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
    const [a, b] = [await parties.callIn('red'), await parties.callIn('blue')]
    parties.join(a, b)
    await sees(a, 'blue')
    for (const party of [a, b]) {
      await offerAgain(party, true)
      await sees(a, 'blue')
      await sees(b, 'red')
    }
  })

  it('comes back with another connection', async () => {
    const [a, b] = [await parties.callIn('red'), await parties.callIn('blue')]
    parties.join(a, b)
    await sees(b, 'red')
    await a.page.close()
    const page = await parties.page()
    await page.call('start', { audio: true })
    await page.call('camera', 'green')
    const again = { page, media: a.media }
    await offerAgain(again)
    await sees(b, 'green')
    await sees(again, 'blue')
  })

  it('shares its screen in place of its camera', async () => {
    const [a, b] = [await parties.callIn('red'), await parties.callIn('blue')]
    parties.join(a, b)
    await sees(b, 'red')
    const { page, screen } = await parties.share('green')
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
    const [a, b] = [await parties.callIn(), await parties.callIn('blue')]
    const seen = changes(a)
    parties.join(a, b)
    const { screen } = await parties.share('green')
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
    const a = await parties.callIn('red')
    const b = await parties.callOut('blue')
    expect(b.media.video).toMatchObject({ sends: true, receives: true })
    parties.join(a, b)
    expect(await sees(a, 'blue')).toMatchObject({ codec: 'VP8 96' })
    await sees(b, 'red')
    await offerAgain(b, true)
    await sees(b, 'red')
  })

  it('may only look, or refuse, and change its mind', async () => {
    const a = await parties.callIn('red')
    const b = await parties.callOut()
    expect(b.media.video).toMatchObject({ sends: false, receives: true })
    parties.join(a, b)
    await sees(b, 'red')
    await b.page.call('camera', 'blue')
    await offerAgain(b)
    await sees(a, 'blue')

    const c = await parties.callOut(undefined, { change: (sdp) => sdp.replace(/^m=video \d+/m, 'm=video 0') })
    expect(c.media.video).toMatchObject({ sends: false, receives: false })
  })
})
