/** @schedule tones first: two browsers ring and talk at the same time, in a minute of calls. */

/** Calls between pages that the gateway loses or changes while they ring or talk. */
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { application, scripted } from '../support/applications.ts'
import { Carrier } from '../support/carrier.ts'
import { act, answers, dials, reaches } from '../support/client-calls.ts'
import { ClientPage } from '../support/client-page.ts'
import { hears } from '../support/page-audio.ts'
import { SdkPage } from '../support/sdk-page.ts'
import type { SdkWindow } from '../support/sdk-window.ts'
import { alice, bob, TwoBrowsers, tones } from '../support/two-browsers.ts'
import { until } from '../support/until.ts'

const two = new TwoBrowsers()

const carol = { email: 'carol@example.test', password: 'looking-glass-7' }

beforeAll(() =>
  two.start({
    subscribers: [
      { ...alice, displayName: 'Alice' },
      { ...bob, displayName: 'Bob' },
      { ...carol, displayName: 'Carol' },
    ],
    domains: [
      application('sdk.test', scripted({ connect: { to: '/public/alice', answer_on_bridge: true } })),
    ],
  }),
)
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

/** Crashes the gateway once the store has its calls. They are written up to 100 ms after their start. */
const crashWithStoredCalls = async (): Promise<void> => {
  await until(
    'the calls are stored',
    () => two.gateway.metric('history_waiting'),
    (waiting) => waiting === 0,
  )
  await two.gateway.crash()
}

it('a call that rings when the gateway crashes ends on both pages, and the next call rings again', async () => {
  const [caller, callee] = await Promise.all([pageOf(alice.email, 0), pageOf(bob.email, 1)])
  await awaits(callee)
  await rings(caller, '/public/bob')
  await reachesState(caller, 'early')
  await reachesState(callee, 'ringing')
  await crashWithStoredCalls()
  for (const page of [caller, callee]) {
    await reachesState(page, 'ended')
    expect(await endOf(page)).toBe('session_lost')
  }
  expect(await latestOf(caller)).toMatchObject({
    direction: 'outbound',
    result: 'failed',
    code: 'interrupted',
  })
  expect(await latestOf(callee)).toMatchObject({
    direction: 'inbound',
    result: 'missed',
    code: 'interrupted',
  })
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

it('a page with the published SDK is online again after a crash of the gateway, and receives calls', async () => {
  const page = await SdkPage.open(two.browsers[0], two.gateway, await two.gateway.token())
  onTestFinished(() => page.close())
  // The page returns with the last state that it has received: the first one says that it is offline.
  await page.wire.event('signalwire.authorization.state', 0)
  await page.online()
  await page.wire.event('signalwire.authorization.state', 1)
  await two.gateway.crash()
  await until(
    'the page is online again',
    () => two.gateway.metric('subscribers_online'),
    (count) => count === 1,
  )
  const caller = await Carrier.calls(two.gateway, {
    domain: 'sdk.test',
    scenario: 'caller-cancels',
    holdMs: 'manual',
  })
  await until(
    'the invite',
    () => page.invites(),
    (count) => count === 1,
  )
  await caller.goesOn()
  await caller.done()
  await two.gateway.settled()
})

it('a page with the published SDK that rings when the gateway crashes receives the end of the call', async () => {
  const page = await SdkPage.open(two.browsers[0], two.gateway, await two.gateway.token())
  onTestFinished(() => page.close())
  await page.page.evaluate(() => {
    const window = globalThis as unknown as SdkWindow & { ended: string[] }
    window.ended = []
    window.client.on?.('webrtc.message', (message) => {
      const { method, params } = message as { method: string; params: { callID: string } }
      if (method === 'verto.bye') window.ended.push(params.callID)
    })
  })
  await page.online()
  const caller = await pageOf(bob.email, 1)
  await rings(caller, '/public/alice')
  await until(
    'the page rings',
    () => page.invites(),
    (count) => count === 1,
  )
  await crashWithStoredCalls()
  const ended = () => page.page.evaluate(() => (globalThis as unknown as { ended: string[] }).ended)
  await until('the end of the call', ended, ({ length }) => length === 1)
  expect(await ended()).toEqual([(await page.details()).callID])
  await reachesState(caller, 'ended')
  await two.gateway.settled()
})

/** Call of a page, as an application sees it. */
interface TalkingWindow {
  readonly client: { dial(options: object): Promise<TalkingWindow['call']> }
  call: {
    readonly reason?: { readonly code: string }
    start(): Promise<void>
    hold(): Promise<void>
    transfer(to: unknown): Promise<void>
  }
  other: TalkingWindow['call']
}

/** Transfers the page's call; resolves with the code of the failure, or of the end of the call. */
const transfers = ({ page }: ClientPage, to: string): Promise<string | undefined> =>
  page.evaluate(async (to) => {
    const { call } = globalThis as unknown as TalkingWindow
    try {
      await call.transfer(to)
    } catch (error) {
      return (error as { code: string }).code
    }
    while (!call.reason) await new Promise((resolve) => setTimeout(resolve, 20))
    return call.reason.code
  }, to)

/** Places a call of a carrier to Alice, who answers and hears the tone of the carrier. */
const called = async (page: ClientPage): Promise<Carrier> => {
  await answers(page)
  const caller = await Carrier.calls(two.gateway, { domain: 'sdk.test', scenario: 'caller-released' })
  await reaches(page, 'active')
  await caller.talks('answered', tones.customer)
  await hears(page.page, tones.customer)
  return caller
}

it('a page transfers a caller to another subscriber, who declines at first and then answers', async () => {
  const [first, second] = await Promise.all([pageOf(alice.email, 0), pageOf(bob.email, 1)])
  const caller = await called(first)
  await second.page.evaluate(async () => {
    const { client } = globalThis as unknown as RingingWindow
    const all = ({ invite }: { invite: { reject(): Promise<void> } }) => invite.reject()
    await client.online({ incomingCallHandlers: { all } })
  })
  expect(await transfers(first, '/public/bob')).toBe('declined')
  await hears(first.page, tones.customer)
  await answers(second)
  expect(await transfers(first, '/public/bob')).toBe('transferred')
  await reaches(second, 'active')
  await Promise.all([hears(second.page, tones.customer), caller.hears(tones.bob, 500)])
  await second.page.evaluate(() =>
    (globalThis as unknown as { call: { hangup(): Promise<void> } }).call.hangup(),
  )
  await caller.done()
  await two.gateway.settled()
})

it('a page joins a caller with a subscriber that it has called meanwhile', async () => {
  const [first, second] = await Promise.all([pageOf(alice.email, 0), pageOf(bob.email, 1)])
  const caller = await called(first)
  await answers(second)
  const codes = await first.page.evaluate(async () => {
    const window = globalThis as unknown as TalkingWindow
    await window.call.hold()
    window.other = await window.client.dial({ to: '/public/bob' })
    await window.other.start()
    await window.call.transfer(window.other)
    while (!window.call.reason || !window.other.reason)
      await new Promise((resolve) => setTimeout(resolve, 20))
    return [window.call.reason.code, window.other.reason.code]
  })
  expect(codes).toEqual(['transferred', 'transferred'])
  await Promise.all([hears(second.page, tones.customer), caller.hears(tones.bob, 500)])
  await second.page.evaluate(() =>
    (globalThis as unknown as { call: { hangup(): Promise<void> } }).call.hangup(),
  )
  await caller.done()
  await two.gateway.settled()
})

it('a page adds a person, and the others stay connected after the page has left', async () => {
  const [first, second] = await Promise.all([pageOf(alice.email, 0), pageOf(bob.email, 1)])
  const caller = await called(first)
  await answers(second)
  const members = await first.page.evaluate(async () => {
    const { call } = globalThis as unknown as { call: { add(to: string): Promise<void>; members: unknown[] } }
    await call.add('/public/bob')
    while (call.members.length < 3) await new Promise((resolve) => setTimeout(resolve, 20))
    return call.members.length
  })
  expect(members).toBe(3)
  await reaches(second, 'active')
  const names = await second.page.evaluate(() => {
    const { call } = globalThis as unknown as { call: { members: { name: string }[] } }
    return call.members.map(({ name }) => name)
  })
  // The caller is not shown under the name of the page that has added the person.
  expect([names.includes('Alice'), new Set(names).size]).toEqual([true, 3])
  // The tones of two parties are mixed, so one page is muted at a time.
  await act(second, 'mute')
  await caller.hears(tones.alice, 500)
  await act(second, 'unmute')
  await act(first, 'mute')
  await Promise.all([hears(second.page, tones.customer), caller.hears(tones.bob, 500)])
  await act(first, 'hangup')
  await Promise.all([hears(second.page, tones.customer), caller.hears(tones.bob, 500)])
  await act(second, 'hangup')
  await caller.done()
  await two.gateway.settled()
})

it('a page sees who is online and in a call, and the history of both pages has the call', async () => {
  const [first, second] = await Promise.all([pageOf(alice.email, 0), pageOf(bob.email, 1)])
  await answers(second)
  await first.page.evaluate(async () => {
    const window = globalThis as unknown as WatchingWindow
    window.states = []
    const { id } = await window.client.address.getAddress({ name: '/public/bob' })
    window.client.presence.subscribe(({ state }) => window.states.push(state))
    await window.client.presence.watch([id])
  })
  await dials(first, '/public/bob')
  await hears(first.page, tones.bob)
  await act(first, 'hangup')
  const states = () => first.page.evaluate(() => (globalThis as unknown as WatchingWindow).states)
  await until('the callee is online again', states, (all) => all.length === 3)
  expect(await states()).toEqual(['online', 'in_call', 'online'])
  await two.gateway.settled()
  expect(await latestOf(first)).toMatchObject({ direction: 'outbound', name: 'Bob', result: 'answered' })
  expect(await latestOf(second)).toMatchObject({ direction: 'inbound', name: 'Alice', result: 'answered' })
})

it('a page measures the quality of its call, also after a hold', async () => {
  const [first, second] = await Promise.all([pageOf(alice.email, 0), pageOf(bob.email, 1)])
  await answers(second)
  await dials(first, '/public/bob')
  const qualities = (count: number) =>
    first.page.evaluate(async (count) => {
      const { call } = globalThis as unknown as MeasuringWindow
      const all: object[] = []
      const { promise, resolve } = Promise.withResolvers<void>()
      call.on('quality', (quality) => {
        if (all.push(quality) === count) resolve()
      })
      await promise
      return all.slice(0, count)
    }, count)
  const measured = { bars: expect.any(Number), loss: expect.any(Number), jitterMs: expect.any(Number) }
  for (const { bars, roundTripMs, ...others } of (await qualities(2)) as Quality[]) {
    expect({ bars, ...others }).toEqual(measured)
    // Audio is received, and the round trip is known.
    expect([bars > 0, roundTripMs > 0]).toEqual([true, true])
  }
  await act(first, 'hold')
  await act(first, 'unhold')
  const [afterHold] = (await qualities(1)) as Quality[]
  expect(afterHold!.bars).toBeGreaterThan(0)
  await act(first, 'hangup')
  await two.gateway.settled()
})

/** Quality of a call, as a page measures it. */
interface Quality {
  readonly bars: number
  readonly loss: number
  readonly jitterMs: number
  readonly roundTripMs: number
}

/** Call of a page that measures its quality. */
interface MeasuringWindow {
  readonly call: { on(event: 'quality', listener: (quality: Quality) => void): void }
}

/** Returns the latest call in the history of a page. */
const latestOf = ({ page }: ClientPage) =>
  page.evaluate(async () => {
    const { client } = globalThis as unknown as WatchingWindow
    const { data } = await client.history.getCalls({ pageSize: 1 })
    return data[0]
  })

/** Presence and history of a page. */
interface WatchingWindow {
  readonly client: {
    readonly address: { getAddress(by: object): Promise<{ readonly id: string }> }
    readonly presence: {
      subscribe(listener: (presence: { readonly state: string }) => void): void
      watch(ids: readonly string[]): Promise<void>
    }
    readonly history: { getCalls(options: object): Promise<{ readonly data: readonly object[] }> }
  }
  states: string[]
}
