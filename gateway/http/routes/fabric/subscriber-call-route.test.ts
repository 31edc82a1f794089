import { afterEach, beforeEach, expect, it } from 'vitest'
import type { SubscriberCallRow } from '../../../directory/tables/subscriber-calls.ts'
import { ApiTestSite, ours, type TestProject, theirs } from '../../testing/api-test-site.ts'

let site: ApiTestSite

beforeEach(async () => {
  site = await ApiTestSite.open()
})
afterEach(() => site.close())

const path = '/api/fabric/subscriber/calls'
const email = 'alice@example.test'

/** Adds a call of Alice that ended `at` ms after the start of 2026. */
const ended = (at: number, more: Partial<SubscriberCallRow> = {}, project: TestProject = ours): void => {
  const { id } = site.directory.subscriberByEmail(project.id, email)!
  const start = Date.UTC(2026, 0, 1)
  site.history.add({
    id: `call-${at}`,
    subscriber_id: id,
    project_id: project.id,
    call_id: `c${at}`,
    direction: 'inbound',
    name: 'Carol',
    number: '+15551230001',
    result: 'missed',
    code: 'canceled',
    started_at: start,
    answered_at: null,
    ended_at: start + at,
    ...more,
  })
}

const idsOf = ({ body }: { body: { data: { id: string }[] } }) => body.data.map(({ id }) => id)

it('returns the calls with the present name and id of addresses', async () => {
  const answered = { direction: 'outbound', result: 'answered', code: 'normal' } as const
  ended(60_000, {
    ...answered,
    number: '/public/help',
    name: 'help',
    answered_at: Date.UTC(2026, 0, 1, 0, 0, 20),
  })
  ended(30_000)
  const { body } = await site.get(path, await site.tokenOf(email))
  const { address } = site.directory.resources.findByAddress(ours.id, 'public', 'help')!
  expect(body.data).toEqual([
    {
      id: 'call-60000',
      call_id: 'c60000',
      direction: 'outbound',
      name: 'Help',
      number: '/public/help',
      address_id: address.id,
      result: 'answered',
      code: 'normal',
      started_at: '2026-01-01T00:00:00.000Z',
      answered_at: '2026-01-01T00:00:20.000Z',
      ended_at: '2026-01-01T00:01:00.000Z',
      duration_ms: 40_000,
    },
    expect.objectContaining({ name: 'Carol', address_id: null, answered_at: null, duration_ms: 0 }),
  ])
})

it('returns the newest first, page by page, and only those with the filters', async () => {
  for (const at of [1, 2, 3, 4]) ended(at, { result: at === 3 ? 'answered' : 'missed' })
  const token = await site.tokenOf(email)
  const first = await site.get(`${path}?page_size=2&result=missed`, token)
  expect(idsOf(first)).toEqual(['call-4', 'call-2'])
  const second = await site.get(first.body.links.next, token)
  expect(idsOf(second)).toEqual(['call-1'])
  expect(second.body.links.next).toBeUndefined()
  const since = encodeURIComponent('2026-01-01T00:00:00.002Z')
  expect(idsOf(await site.get(`${path}?ended_after=${since}`, token))).toEqual(['call-4', 'call-3'])
})

it('shows a subscriber no calls of others, and guests none', async () => {
  ended(1)
  ended(2, {}, theirs)
  expect(idsOf(await site.get(path, await site.tokenOf(email)))).toEqual(['call-1'])
  const their = await site.tokenOf(email, theirs)
  expect(idsOf(await site.get(path, their))).toEqual(['call-2'])
  ended(3)
  const { next } = (await site.get(`${path}?page_size=1`, await site.tokenOf(email))).body.links
  const foreign = await site.get(next, their)
  expect([foreign.status, foreign.body.errors[0].attribute]).toEqual([422, 'cursor'])
  const { address } = site.directory.resources.findByAddress(ours.id, 'public', 'help')!
  const guest = await site.send('POST', '/api/fabric/guests/tokens', { allowed_addresses: [address.id] })
  expect((await site.get(path, guest.body.token)).status).toBe(403)
  expect((await site.ask('GET', path)).statusCode).toBe(401)
})

it('rejects a malformed filter', async () => {
  const token = await site.tokenOf(email)
  for (const [query, attribute] of [
    ['ended_after=yesterday', 'ended_after'],
    ['result=lost', 'result'],
    ['page_size=101', 'page_size'],
  ]) {
    const { status, body } = await site.get(`${path}?${query}`, token)
    expect([status, body.errors[0].attribute]).toEqual([422, attribute])
  }
})

it('forgets the calls of a removed subscriber, and stores no later ones', async () => {
  const made = await site.make('/api/fabric/resources/subscribers', {
    email: 'new@example.test',
    password: 'long-enough-1',
  })
  ended(1, { subscriber_id: made.id })
  expect(await site.history.of(made.id, {}, 10)).toHaveLength(1)
  await site.send('DELETE', `/api/fabric/resources/subscribers/${made.id}`)
  ended(2, { subscriber_id: made.id })
  ended(3)
  expect(await site.history.of(made.id, {}, 10)).toEqual([])
  expect(idsOf(await site.get(path, await site.tokenOf(email)))).toEqual(['call-3'])
})

it('forgets calls that are older than the configured time', async () => {
  ended(1, { ended_at: site.clock.now() })
  expect(await site.history.of(site.directory.subscriberByEmail(ours.id, email)!.id, {}, 10)).toHaveLength(1)
  site.history.change(1_000)
  site.clock.advance(3_600_000)
  await expect
    .poll(() => site.history.of(site.directory.subscriberByEmail(ours.id, email)!.id, {}, 10))
    .toEqual([])
})
