import type { Page } from 'playwright-core'
import { pageScript } from '../../../test/support/sdk-window.ts'
import { printFigure } from './figures.ts'
import { lounge, onStage } from './stage.ts'

/**
 * Defines in the page `benchJoin`: time in ms from a start to the first frame that the SDK's video element
 * shows.
 */
const timing = `globalThis.benchJoin = (start) => {
  const begun = performance.now()
  const seen = new Promise((resolve) => {
    const look = () => {
      const video = document.querySelector('.mcuContent video')
      if (!video) return setTimeout(look, 5)
      video.requestVideoFrameCallback((now) => resolve(now - begun))
    }
    look()
  })
  return Promise.all([seen, start()]).then(([ms]) => ms)
}`

const dialling = (to: string): string => `(async () => {
  ${timing}
  const rootElement = document.getElementById('root')
  rootElement.replaceChildren()
  const call = watch(await client.dial({ to: '${to}', audio: true, video: true, rootElement }))
  return benchJoin(() => call.start())
})()`

const joining = (options: object): string => `(async () => {
  ${timing}
  const rootElement = document.getElementById('root')
  rootElement.replaceChildren()
  const room = watch(new SignalWire.Video.RoomSession({ ...${JSON.stringify(options)}, rootElement }))
  return benchJoin(() => room.join({ audio: true, video: true }))
})()`

const timed = (page: Page, script: string): Promise<number> => page.evaluate(script)

/** Measures joins of a room with one member: goal G2. */
export const joins = (rounds = 20): Promise<void> =>
  onStage({}, async (stage) => {
    await stage.member('ann', { colour: 'red' })
    const caller = await stage.subscriber('ben', { colour: 'lime' })
    const dialled: number[] = []
    for (let i = 0; i < rounds; i++) {
      dialled.push(await timed(caller.page, dialling(lounge)))
      await caller.hangUp()
    }
    await caller.close()
    printFigure('Fabric: start() to the first frame', dialled, { p95: 1000 })
    printFigure('– the first of them', dialled.slice(0, 1))
    const guest = await stage.guest({ colour: 'blue' })
    const host = `gw.localhost:${stage.gateway.tlsPort}`
    await guest.page.evaluate(pageScript)
    const joined: number[] = []
    for (let i = 0; i < rounds; i++) {
      joined.push(await timed(guest.page, joining({ host, token: await stage.token('Vera') })))
      await guest.leave()
    }
    printFigure('RoomSession: join() to the first frame', joined, { p95: 1000 })
    printFigure('– the first of them', joined.slice(0, 1))
  })
