import { afterAll, beforeAll, expect, it } from 'vitest'
import { startedCall } from '../../../cdr/testing/call-summaries.ts'
import { ApiTestSite, ours, theirs } from '../../testing/api-test-site.ts'

let rig: ApiTestSite
const calls = [0, 1, 2].map((hour) =>
  startedCall({ projectId: ours.id, createdAt: Date.parse('2026-11-01T22:30:00Z') + hour * 3_600_000 }),
)
beforeAll(async () => {
  rig = await ApiTestSite.open()
  for (const call of calls) rig.records.began(call)
  const [first, second, third] = calls.map(({ id, createdAt }) => ({ id, createdAt }))
  rig.records.changed(first!.id, { document: 'https://app.example/hello' })
  rig.records.changed(second!.id, { document: 'Hello' })
  rig.records.changed(first!.id, { status: 'ringing', ringingAt: first!.createdAt + 10 })
  rig.records.changed(first!.id, { status: 'in-progress', answeredAt: first!.createdAt + 1_500 })
  rig.records.ended(first!.id, { status: 'completed', endedAt: first!.createdAt + 4_000, code: 'normal' })
  rig.records.ended(second!.id, {
    status: 'failed',
    endedAt: second!.createdAt + 20,
    code: 'unreachable',
    sipStatus: 503,
  })
  rig.records.changed(third!.id, { status: 'ringing', ringingAt: third!.createdAt + 10 })
})
afterAll(() => rig.close())

const ids = calls.map(({ id }) => id)
const get = async (path: string, project = ours) =>
  (await rig.ask('GET', `/api/voice/logs${path}`, undefined, project)).json()
const listed = async (query: string) =>
  (await get(query)).data.map(({ id }: { id: string }) => ids.indexOf(id))

it('shows a call in progress or ended', async () => {
  expect(await get(`/${ids[0]}`)).toEqual({
    id: ids[0],
    parent_id: null,
    project_id: 'p1',
    direction: 'inbound',
    type: 'relay_sip_call',
    from: 'sip:+15550001111@carrier.example',
    to: 'sip:+15550002222@voice.example',
    source: 'realtime_api',
    url: 'https://app.example/hello',
    status: 'completed',
    code: 'normal',
    sip_status: null,
    charge: 0,
    charge_details: [],
    duration: 3,
    duration_ms: 2_500,
    billing_ms: 2_500,
    created_at: '2026-11-01T22:30:00.000Z',
    answered_at: '2026-11-01T22:30:01.500Z',
    ended_at: '2026-11-01T22:30:04.000Z',
  })
  expect(await get(`/${ids[1]}`)).toMatchObject({
    url: null,
    status: 'failed',
    duration: 0,
    code: 'unreachable',
    sip_status: 503,
  })
  expect(await get(`/${ids[2]}`)).toMatchObject({ status: 'ringing', duration: null, ended_at: null })
})

it('lists the events of the call', async () => {
  const { data } = await get(`/${ids[0]}/events`)
  expect(
    data.map(({ name, event_at: at }: { name: string; event_at: string }) => [name, at.slice(17)]),
  ).toEqual([
    ['call.created', '00.000Z'],
    ['call.ringing', '00.010Z'],
    ['call.answered', '01.500Z'],
    ['call.ended', '04.000Z'],
  ])
  expect(data[3]).toMatchObject({
    level: 'info',
    log_id: ids[0],
    project_id: 'p1',
    details: { code: 'normal' },
  })
  const failed = (await get(`/${ids[1]}/events`)).data
  expect(failed.at(-1)).toMatchObject({ name: 'call.ended', level: 'warn', details: { sip_status: 503 } })
})

it('is listed by time, party and status', async () => {
  expect(await listed('')).toEqual([2, 1, 0])
  expect(await listed('?created_on=2026-11-01')).toEqual([1, 0])
  expect(await listed('?created_after=2026-11-02')).toEqual([2])
  expect(await listed('?created_before=2026-11-01T23:00:00Z')).toEqual([0])
  expect(await listed('?status=failed')).toEqual([1])
  expect(await listed('?from=+15550001111&page_size=2')).toEqual([2, 1])
  expect(await listed('?to=unknown')).toEqual([])
  const { links } = await get('?page_size=2')
  expect(await listed(links.next.slice('/api/voice/logs'.length))).toEqual([0])
})

it('is hidden from other projects', async () => {
  expect((await get('', theirs)).data).toEqual([])
  for (const path of [`/${ids[0]}`, `/${ids[2]}`, `/${ids[0]}/events`, '/x'])
    expect((await get(path, theirs)).errors).toMatchObject([{ code: 'unknown_call' }])
})
