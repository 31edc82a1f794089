import type { Page } from 'playwright-core'
import { ClientPage } from '../../../test/support/client-page.ts'
import { killWorker } from '../../../test/support/mediasoup-worker.ts'
import { until } from '../../../test/support/until.ts'
import { printCount, printFigure } from './figures.ts'
import { framesOf, type PersonOptions, personScript, watch } from './person.ts'
import { lounge, onStage, passes, type Stage } from './stage.ts'

/** Opens a page with the SDK of Trunkline that has joined the room with its camera. */
const ownMember = async (stage: Stage, person: PersonOptions): Promise<ClientPage> => {
  const open = async () => {
    const page = await stage.browser.page({ camera: person.colour })
    await page.addInitScript(personScript(person))
    return page
  }
  const token = await stage.gateway.token('own@example.test')
  const opened = await ClientPage.open({ page: open }, stage.gateway, token)
  await opened.page.evaluate(
    `(async () => {
      globalThis.call = await client.dial({ to: '${lounge}', video: true })
      await call.start()
    })()`,
  )
  return opened
}

/** Time in ms from the death of the worker until a page has its picture again. */
const backAfter = async (page: Page, killed: number): Promise<number> => {
  // Frames that were on their way arrive soon after the death.
  const first = (seen: Awaited<ReturnType<typeof framesOf>>) =>
    seen.find((frame, i) => frame.at > killed && frame.at - (seen[i - 1]?.at ?? frame.at) > 300)
  const frames = await until(
    'a picture again',
    () => framesOf(page),
    (seen) => first(seen) !== undefined,
    20_000,
  )
  return first(frames)!.at - killed
}

/** Measures the death of the mediasoup process: the other part of goal G13. */
export const worker = async (rounds = 3): Promise<void> => {
  const published: number[] = []
  const byToken: number[] = []
  const own: number[] = []
  let left = 0
  await onStage({ media: { rooms: { picture: 'speaker' } } }, async (stage) => {
    const member = await stage.member('ann', { colour: 'red', rate: 10 })
    const guest = await stage.guest({ colour: 'blue', rate: 10 })
    await guest.join(await stage.token('Guest'))
    const trunkline = await ownMember(stage, { colour: 'lime', rate: 10 })
    for (const { page } of [member, guest, trunkline]) await watch(page)
    for (let i = 0; i < rounds; i++) {
      await passes(4000)
      const killed = Date.now()
      killWorker(stage.gateway)
      const times = await Promise.all([member, guest, trunkline].map(({ page }) => backAfter(page, killed)))
      published.push(times[0]!)
      byToken.push(times[1]!)
      own.push(times[2]!)
    }
    left = member.wire.events('member.left').length
    await trunkline.close()
  })
  const goal = { max: 5000 }
  printFigure('Death of the mediasoup process to the picture, own SDK', own, goal)
  printFigure('– with Video.RoomSession of the published SDK', byToken, goal)
  printFigure('– with dial() of the published SDK', published, goal)
  printCount('– leaves that a member sees', left, '', 0)
}
