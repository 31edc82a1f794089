/** Times of a room as pages with the published SDK measure them. */
import type { Page } from 'playwright-core'
import { Browser, microphoneRate } from '../../test/support/browser.ts'
import { Gateway } from '../../test/support/gateway.ts'
import { rest } from '../../test/support/rest.ts'
import { SdkPage } from '../../test/support/sdk-page.ts'
import { peopleOf, tokenOf, withToken } from '../../test/support/sdk-people.ts'
import { sdkVersions } from '../../test/support/sdk-versions.ts'

const address = '/public/lounge?channel=video'

/** Time in ms from `start()` of the SDK to the first frame in the page's video element. */
const timeJoin = (page: Page): Promise<number> =>
  page.evaluate(async (to) => {
    // biome-ignore lint/suspicious/noExplicitAny: objects of the page.
    const window = globalThis as any
    const rootElement = window.document.getElementById('root')
    const call = await window.client.dial({ to, audio: true, video: true, rootElement })
    window.watch(call)
    const begun = window.performance.now()
    const seen = new Promise<number>((resolve) => {
      const look = () => {
        const video = rootElement.querySelector('.mcuContent video')
        if (!video) return window.setTimeout(look, 5)
        video.requestVideoFrameCallback((now: number) => resolve(now - begun))
      }
      look()
    })
    await call.start()
    return seen
  }, address)

/** Keeps the time and the colour of each frame that a page shows from now on. */
const watchColours = (page: Page): Promise<void> =>
  page.evaluate(() => {
    // biome-ignore lint/suspicious/noExplicitAny: objects of the page.
    const window = globalThis as any
    window.seenFrames = []
    const video = window.document.querySelector('.mcuContent video')
    const context = new window.OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true })
    const step = () => {
      context.drawImage(video, video.videoWidth / 2, video.videoHeight / 4, 1, 1, 0, 0, 1, 1)
      const [red, green, blue] = context.getImageData(0, 0, 1, 1).data
      const colour =
        red > 150 && green < 110 ? 'red' : green > 150 && red < 110 ? 'lime' : blue > 150 ? 'blue' : ''
      window.seenFrames.push([Date.now(), colour])
      video.requestVideoFrameCallback(step)
    }
    video.requestVideoFrameCallback(step)
  })

const framesOf = (page: Page): Promise<[at: number, colour: string][]> => page.evaluate('seenFrames')

const quantile = (values: readonly number[], share: number): number => {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN
}

const line = (what: string, values: readonly number[]): string =>
  `${what}: p50 ${Math.round(quantile(values, 0.5))} ms, p95 ${Math.round(quantile(values, 0.95))} ms, ` +
  `${Math.round(Math.min(...values))} to ${Math.round(Math.max(...values))} ms, ${values.length} times`

/** Ten seconds of syllables: a voice of 300 Hz for 160 ms, and 80 ms of the quiet noise of a room. */
const syllables = (): Int16Array =>
  Int16Array.from({ length: 10 * microphoneRate }, (_, at) =>
    (at / microphoneRate) % 0.24 < 0.16
      ? 9000 * Math.sin((2 * Math.PI * 300 * at) / microphoneRate)
      : 60 * (Math.random() - 0.5),
  )

/** Measures joins, and changes of the speaker. */
export const rooms = async (joins = 20, changes = 20): Promise<void> => {
  const browsing = Browser.start(syllables())
  const gateway = await Gateway.start({ ...withToken, subscribers: sdkVersions.flatMap(peopleOf) })
  await rest(gateway, 'POST', '/api/fabric/resources/conference_rooms', {
    name: 'lounge',
    tone_on_entry_and_exit: false,
  })
  const browser = await browsing
  const { folder, person, friend } = sdkVersions.at(-1)!
  const open = async (name: string, camera: 'red' | 'lime' | 'blue') =>
    SdkPage.open(browser, gateway, await tokenOf(gateway, name), { folder, camera })
  const first = await open(person, 'red')
  const second = await open(friend, 'lime')
  const third = await open(sdkVersions[0]!.friend, 'blue')
  try {
    await first.dial(address, { video: true })
    const times: number[] = []
    for (let i = 0; i < joins; i++) {
      times.push(await timeJoin(second.page))
      await second.hangUp()
    }
    console.log(line('Join of a room with one member, to the first frame', times))
    await second.dial(address, { video: true })
    await third.dial(address, { video: true })
    for (const page of [first, second, third]) await page.do('audioMute')
    await watchColours(first.page)
    const delays: number[] = []
    const gaps: number[] = []
    for (let i = 0; i < changes; i++) {
      const speaker = i % 2 === 0 ? second : third
      const colour = i % 2 === 0 ? 'lime' : 'blue'
      await new Promise((resolve) => setTimeout(resolve, 2_500))
      const at = Date.now()
      await speaker.do('audioUnmute')
      await new Promise((resolve) => setTimeout(resolve, 2_500))
      await speaker.do('audioMute')
      const frames = (await framesOf(first.page)).filter(([time]) => time >= at)
      const shown = frames.findIndex(([, seen]) => seen === colour)
      if (shown <= 0) continue
      delays.push(frames[shown]![0] - at)
      gaps.push(frames[shown]![0] - frames[shown - 1]![0])
    }
    console.log(line('Unmuted microphone to the first frame of the new speaker', delays))
    console.log(line('Time without a frame at the change', gaps))
  } finally {
    for (const page of [first, second, third]) await page.close()
    await browser.stop()
    await gateway.stop()
  }
}
