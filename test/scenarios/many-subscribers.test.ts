import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { freePort } from '../../media/testing/free-ports.ts'
import { application, scripted } from '../support/applications.ts'
import { DialectPage, type Reaction } from '../support/dialect-page.ts'
import { Gateway } from '../support/gateway.ts'
import { apiToken } from '../support/recorded.ts'
import { rest } from '../support/rest.ts'
import { Sipp } from '../support/sipp.ts'
import { until } from '../support/until.ts'

let gateway: Gateway

beforeAll(async () => {
  gateway = await Gateway.start({
    domains: [
      application(
        'many.test',
        scripted({ connect: { to: '/private/%{call.sip_data.sip_req_user}', answer_on_bridge: true } }),
      ),
    ],
    http: { apiToken },
    rtpPorts: 1600,
  })
})
afterAll(() => gateway?.stop())

/** Subscribers whose pages react in the same way to a call. A name is the letter and a number from 1. */
interface Group {
  readonly letter: string
  readonly count: number
  readonly reaction: Reaction
}

const talkers: Group = { letter: 't', count: 125, reaction: 'answer' }
const decliners: Group = { letter: 'd', count: 50, reaction: 'decline' }
const ringers: Group = { letter: 'r', count: 25, reaction: 'ring' }
const subscriberCount = talkers.count + decliners.count + ringers.count

/** Processes 25 at a time, as real subscribers would arrive. */
const inTurns = async <T>(all: readonly T[], work: (each: T) => Promise<void>): Promise<void> => {
  for (let from = 0; from < all.length; from += 25) await Promise.all(all.slice(from, from + 25).map(work))
}

const online = async ({ letter, count, reaction }: Group): Promise<DialectPage[]> => {
  const pages: DialectPage[] = []
  const names = Array.from({ length: count }, (_, index) => `${letter}${index + 1}`)
  await inTurns(names, async (name) => {
    const person = { reference: `${name}@example.test`, display_name: name }
    const { body } = await rest(gateway, 'POST', '/api/fabric/subscribers/tokens', person)
    const page = new DialectPage(gateway.httpPort, body.token, reaction)
    await page.connect()
    await page.online()
    pages.push(page)
  })
  return pages
}

/** Places one call to each subscriber of a group, in a burst. */
const calls = async ({ letter, count }: Group, scenario: string, status = 200): Promise<Sipp> => {
  const media = await freePort()
  const codec = { payloads: '0', codecs: 'a=rtpmap:0 PCMU/8000' }
  const sipp = await Sipp.start({
    scenario,
    values: { ...codec, user: `${letter}[call_number]`, domain: 'many.test', status },
    to: `127.0.0.1:${gateway.sipPort}`,
    mediaPorts: Array<number>(count).fill(media),
    rate: 60,
    trace: false,
    timeoutMs: 40_000,
  })
  onTestFinished(() => sipp.stop())
  return sipp
}

const countOf = (pages: readonly DialectPage[], what: 'rung' | 'answered'): number =>
  pages.reduce((sum, page) => sum + page[what].length, 0)

const all = (pages: readonly DialectPage[], what: 'rung' | 'answered') =>
  until(
    `every page has ${what}`,
    () => countOf(pages, what),
    (count) => count >= pages.length,
    20_000,
  )

it('200 subscribers get one call each; 50 of them lose their connections at the same moment, and no call is lost', async () => {
  const talking = await online(talkers)
  const declining = await online(decliners)
  const ringing = await online(ringers)
  const pages = [...talking, ...declining, ...ringing]
  expect(await gateway.metric('subscribers_online')).toBe(subscriberCount)
  const carriers = [
    await calls(talkers, 'caller-released'),
    await calls(decliners, 'caller-refused', 486),
    await calls(ringers, 'caller-released'),
  ]
  await all(talking, 'answered')
  await all(ringing, 'rung')
  await all(declining, 'rung')

  const broken = [...talking.slice(0, 25), ...ringing]
  for (const page of broken) page.cut()
  await until(
    'the gateway has lost them',
    () => gateway.metric('websockets'),
    (open) => open === subscriberCount - broken.length,
  )
  expect(await gateway.metric('subscribers_online')).toBe(subscriberCount)
  await Promise.all(broken.map((page) => page.connect()))
  expect(await gateway.metric('websockets')).toBe(subscriberCount)
  expect(await gateway.metric('subscribers_online')).toBe(subscriberCount)
  expect(await gateway.metric('legs')).toBe(2 * (talkers.count + ringers.count))

  await inTurns(ringing, (page) => page.answer(page.rung[0]!))
  await all(ringing, 'answered')
  await inTurns([...talking, ...ringing], (page) => page.hangUp(page.answered[0]!))
  for (const carrier of carriers) await carrier.succeeded()
  for (const page of pages) expect(page.rung).toHaveLength(1)
  for (const page of declining) expect(page.answered).toEqual([])
  for (const page of [...talking, ...ringing]) {
    expect(page.answered).toEqual(page.rung)
    expect([...page.ended]).toEqual([])
  }
  await gateway.settled()

  expect(await gateway.metric('rejections_total')).toBe(0)
  await inTurns(pages, async (page) => {
    await page.offline()
    await page.close()
  })
  const gauges = ['websockets', 'websockets_waiting', 'browsers', 'subscribers_online', 'invitations']
  const left = async () => Promise.all(gauges.map((name) => gateway.metric(name)))
  await until('nothing is left', left, (values) => values.every((value) => value === 0))
})
