/** @schedule alone: two browsers ring and talk at the same time. */

/** Calls between pages with the gateway's own SDK that the gateway changes while they ring or talk. */
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { ClientPage } from '../support/client-page.ts'
import { alice, bob, TwoBrowsers } from '../support/two-browsers.ts'
import { until } from '../support/until.ts'

const two = new TwoBrowsers()

beforeAll(() => two.start())
afterAll(() => two.stop())

const pageOf = async (email: string, index: 0 | 1): Promise<ClientPage> => {
  const page = await ClientPage.open(two.browsers[index], two.gateway, await two.gateway.token(email))
  onTestFinished(() => page.close())
  return page
}

/** Invites and calls of a page, as an application sees them. */
interface RingingWindow {
  readonly client: {
    online(options: object): Promise<void>
    dial(options: object): Promise<{
      readonly state: string
      readonly reason?: { readonly code: string }
      start(): Promise<void>
    }>
  }
  state: string
  end: string
}

/** Goes online, and keeps the state of the next incoming call in `window`. */
const awaits = ({ page }: ClientPage): Promise<void> =>
  page.evaluate(async () => {
    const window = globalThis as unknown as RingingWindow
    await window.client.online({
      incomingCallHandlers: {
        all: ({ invite }: { invite: { canceled: Promise<{ code: string }> } }) => {
          window.state = 'ringing'
          void invite.canceled.then(({ code }) => {
            window.state = 'ended'
            window.end = code
          })
        },
      },
    })
  })

/** Dials, and keeps the state of the call in `window`. */
const rings = ({ page }: ClientPage, to: string): Promise<void> =>
  page.evaluate(async (to) => {
    const window = globalThis as unknown as RingingWindow
    const call = await window.client.dial({ to })
    Object.defineProperty(window, 'state', { configurable: true, get: () => call.state })
    call.start().catch(({ code }: { code: string }) => {
      window.end = code
    })
  }, to)

const stateOf = ({ page }: ClientPage) =>
  page.evaluate(() => (globalThis as unknown as Partial<RingingWindow>).state)
const endOf = ({ page }: ClientPage) =>
  page.evaluate(() => (globalThis as unknown as Partial<RingingWindow>).end)

const reachesState = (page: ClientPage, wanted: string, ms = 10_000) =>
  until(
    `the call is ${wanted}`,
    () => stateOf(page),
    (state) => state === wanted,
    ms,
  )

it('a call that rings when the gateway crashes ends on both pages, and the next call rings again', async () => {
  const [caller, callee] = await Promise.all([pageOf(alice.email, 0), pageOf(bob.email, 1)])
  await awaits(callee)
  await rings(caller, '/public/bob')
  await reachesState(caller, 'early')
  await reachesState(callee, 'ringing')
  await two.gateway.crash()
  for (const page of [caller, callee]) {
    await reachesState(page, 'ended')
    expect(await endOf(page)).toBe('session_lost')
  }
  // The callee is online again without a request of the application.
  await until(
    'the callee is online',
    () => two.gateway.metric('subscribers_online'),
    (count) => count === 1,
  )
  await rings(caller, '/public/bob')
  await reachesState(caller, 'early')
  await reachesState(callee, 'ringing')
})
