/** Video between Firefox and Chromium: other numbers, other extensions, and another idea of a stream whose SSRC nobody told. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { Firefox, firefox } from '../support/firefox.ts'
import { isInstalled } from '../support/program.ts'
import { toneFile } from './microphone.ts'
import { PhoneBrowser, PhonePage } from './page.ts'
import { offerAgain, Parties, sees } from './parties.ts'
import { type House, openHouse } from './setup.ts'

describe.skipIf(!isInstalled(firefox))('Firefox and Chromium', () => {
  let file: Awaited<ReturnType<typeof toneFile>>
  let chromium: PhoneBrowser
  let mozilla: Firefox
  let house: House
  let parties: Parties

  beforeAll(async () => {
    file = await toneFile(1000)
    chromium = await PhoneBrowser.start(file.path)
    mozilla = await Firefox.start(900)
    house = await openHouse()
    parties = new Parties(house, () => chromium.open())
  })
  afterAll(async () => {
    await house?.close()
    await mozilla?.stop()
    await chromium?.close()
    await file?.remove()
  })
  afterEach(() => parties.close())

  const foxPage = () =>
    parties.page(async () => {
      const page = await mozilla.page()
      await page.goto(chromium.url)
      return new PhonePage({ evaluate: page.evaluate, close: () => page.context().close() })
    })

  it('see each other, with a camera, a partner, ICE and a direction that change', async () => {
    const page = await foxPage()
    const fox = await parties.callIn('red', { page })
    const [a, b] = [await parties.callIn('blue'), await parties.callIn('green')]
    const first = parties.join(fox, a)
    expect(await sees(fox, 'blue')).toMatchObject({ width: 320, height: 240 })
    await sees(a, 'red')
    expect(fox.media.sdp).toMatch(/a=rtpmap:120 VP8/)
    await offerAgain(fox, true)
    await sees(fox, 'blue')
    await sees(a, 'red')
    first.close()
    parties.join(fox, b)
    await sees(fox, 'green')
    await sees(b, 'red')
    const { screen } = await parties.share('blue')
    b.media.present(screen)
    await sees(fox, 'blue')
    b.media.present(undefined)
    await sees(fox, 'green')
    await page.call('turnVideo', 'sendonly')
    await offerAgain(fox)
    expect(fox.media.video).toMatchObject({ sends: true, receives: false })
    await page.call('turnVideo', 'sendrecv')
    await offerAgain(fox)
    await sees(fox, 'green')
    await sees(b, 'red')
  })

  it('see each other where Firefox is called, and adds its camera later', async () => {
    const page = await foxPage()
    const fox = await parties.callOut(undefined, { page })
    const a = await parties.callIn('blue')
    parties.join(fox, a)
    expect(fox.media.video).toMatchObject({ sends: false, receives: true })
    await sees(fox, 'blue')
    await page.call('camera', 'red')
    await offerAgain(fox)
    await sees(a, 'red')
    await sees(fox, 'blue')
  })
})
