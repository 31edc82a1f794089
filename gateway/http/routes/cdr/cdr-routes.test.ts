import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { callSummaryOf, legOf } from '../../../cdr/testing/call-summaries.ts'
import { CdrRows } from '../../../directory/tables/cdrs.ts'
import { ApiTestSite, asProject, ours, theirs } from '../../testing/api-test-site.ts'
import { formatOf } from './cdr-export.ts'

interface Page {
  readonly data: readonly Readonly<Record<string, unknown>>[]
  readonly links: { readonly self: string; readonly first: string; readonly next?: string }
}

let rig: ApiTestSite
beforeAll(async () => {
  rig = await ApiTestSite.open()
})
afterAll(() => rig.close())
beforeEach(async () => {
  await rig.directory.store.deleteFrom('cdr').execute()
})

const start = Date.parse('2026-11-01T10:00:00Z')
/** The record of a call that began so many minutes after {@link start}. */
const at = (minutes: number, changes: Parameters<typeof callSummaryOf>[0] = {}) => {
  const startedAt = start + minutes * 60_000
  const record = callSummaryOf({ projectId: ours.id, startedAt, endedAt: startedAt + 10_000, ...changes })
  rig.records.keep(record)
  return record.call
}
const get = async (query: string, kind = 'calls', project = ours) => {
  const url = query.startsWith('/') ? query : `/api/records/${kind}?${query}`
  const answer = await rig.ask('GET', url, undefined, project)
  expect([answer.statusCode, answer.statusCode === 200 ? '' : answer.body]).toEqual([200, ''])
  return answer
}
const page = async (query: string, kind = 'calls', project = ours): Promise<Page> =>
  (await get(query, kind, project)).json()
const ids = async (query: string, kind = 'calls') => (await page(query, kind)).data.map(({ id }) => id)
const refused = async (query: string, project = ours) => {
  const answer = await rig.ask('GET', `/api/records/calls?${query}`, undefined, project)
  return [answer.statusCode, answer.json().errors[0].attribute]
}

describe('records of calls', () => {
  it('have a summary in lists and all fields alone', async () => {
    const record = callSummaryOf({
      projectId: ours.id,
      startedAt: start,
      answeredAt: start + 2_000,
      endedAt: start + 10_000,
    })
    rig.records.keep(record)
    const { data } = await page('')
    const shown = {
      id: record.call,
      call_id: record.call,
      project_id: ours.id,
      type: 'sip',
      direction: 'inbound',
      from: 'sip:+15550001111@carrier.example',
      to: 'sip:+15550002222@voice.example',
      carrier: 'telco',
      domain: 'voice.example',
      source: '192.0.2.1',
      sip_call_id: 'their-id',
      started_at: '2026-11-01T10:00:00.000Z',
      ringing_at: null,
      answered_at: '2026-11-01T10:00:02.000Z',
      ended_at: '2026-11-01T10:00:10.000Z',
      duration_ms: 10_000,
      answered_ms: 8_000,
      code: 'normal',
      ended_by: 'far',
      sip_status: null,
      q850: 16,
      codec: 'PCMU',
      mos: null,
      loss: null,
      jitter_ms: null,
    }
    expect(data).toEqual([shown])
    const whole = await rig.ask('GET', `/api/records/calls/${record.call}`)
    expect(whole.json()).toEqual({ ...shown, record: JSON.parse(JSON.stringify(record)) })
    const [leg] = record.legs
    const one = await rig.ask('GET', `/api/records/legs/${leg?.leg}`)
    expect(one.json()).toMatchObject({ id: leg?.leg, call_id: record.call, position: 0, role: 'caller' })
    expect(one.json().record).toEqual(JSON.parse(JSON.stringify(leg)))
  })

  it('are hidden from other projects', async () => {
    const call = at(0)
    expect((await page('', 'calls', theirs)).data).toEqual([])
    expect((await page(`call_id=${call}`, 'legs', theirs)).data).toEqual([])
    for (const id of [call, 'x', '%00', "'--"])
      expect((await rig.ask('GET', `/api/records/calls/${id}`, undefined, theirs)).statusCode).toBe(404)
    expect((await rig.site.inject('/api/records/calls')).statusCode).toBe(401)
    const { secret } = await rig.directory.projects.addToken(ours.id, { name: 'x', scopes: ['calling'] })
    const headers = asProject({ id: ours.id, apiToken: secret })
    expect((await rig.site.inject({ url: '/api/records/calls', headers })).statusCode).toBe(403)
  })

  it('match the filters, the newest first', async () => {
    const all = [0, 1, 2, 3].map((minute) =>
      at(minute, {
        ...(minute === 1 && { from: 'sip:alice@other.example', direction: 'outbound' }),
        ...(minute === 2 && { to: '/public/help', code: 'busy', sipStatus: 486, domain: 'Other.Example' }),
        ...(minute === 3 && { durationMs: 60_000, legs: [legOf({ carrier: 'second' })] }),
      }),
    )
    const [zero, one, two, three] = all
    expect(await ids('')).toEqual([three, two, one, zero])
    for (const [query, found] of [
      ['from=%2B15550001111', [three, two, zero]],
      ['from=+15550001111', [three, two, zero]],
      ['from=alice', [one]],
      ['from=sip:alice@other.example', [one]],
      ['from=sip:alice@elsewhere.example', []],
      ['to=/public/help', [two]],
      ['direction=outbound', [one]],
      ['code=busy', [two]],
      ['sip_status=486', [two]],
      ['domain=OTHER.example', [two]],
      ['carrier=second', [three]],
      ['min_duration_ms=60000', [three]],
      [`call_id=${one}`, [one]],
      ['started_from=2026-11-01T10:01:00Z&started_until=2026-11-01T10:03:00Z', [two, one]],
      ['started_from=2026-11-01T12:01:00+02:00&code=normal', [three, one]],
      ['started_from=2026-11-02', []],
      ['from=alice&code=busy', []],
    ] as const)
      expect([query, await ids(query)]).toEqual([query, found])
  })

  it('reject unknown filters and impossible values', async () => {
    expect(await refused('started_from=yesterday')).toEqual([422, 'started_from'])
    expect(await refused('started_from=2026-13-01')).toEqual([422, 'started_from'])
    expect(await refused('form=alice')).toEqual([422, 'form'])
    expect(await refused('direction=sideways')).toEqual([422, 'direction'])
    expect(await refused('page_size=1001')).toEqual([422, 'page_size'])
    expect(await ids("from=' or 1=1 --")).toEqual([])
  })
})

describe('pages', () => {
  it('continue to the end while new records arrive', async () => {
    // Two of a kind began in the same moment each time.
    const all = [0, 0, 1, 1, 2].map((minute) => at(minute))
    const seen: unknown[] = []
    let query: string | undefined = 'page_size=2'
    while (query) {
      const { data, links }: Page = await page(query)
      seen.push(...data.map(({ id }) => id))
      expect(data.length).toBeLessThanOrEqual(2)
      at(10)
      query = links.next
    }
    expect(seen.length).toBe(5)
    expect(new Set(seen)).toEqual(new Set(all))
    expect(seen[0]).toBe(all[4])
  })

  it('accept a cursor for its project and filters alone', async () => {
    for (const minute of [0, 1, 2]) at(minute)
    const { links } = await page('page_size=1&code=normal')
    const cursor = new URLSearchParams(links.next?.split('?')[1]).get('cursor') ?? ''
    expect((await page(`page_size=2&code=normal&cursor=${cursor}`)).data.length).toBe(2)
    expect(await refused(`code=normal&cursor=${cursor}`, theirs)).toEqual([422, 'cursor'])
    expect(await refused(`cursor=${cursor}`)).toEqual([422, 'cursor'])
    const changed = Buffer.from(Buffer.from(cursor, 'base64url').toString().replace(/^\d/, '9')).toString(
      'base64url',
    )
    for (const wrong of [changed, 'x', '!!!!', Buffer.from('1.2.3').toString('base64url')])
      expect(await refused(`code=normal&cursor=${encodeURIComponent(wrong)}`)).toEqual([422, 'cursor'])
  })

  it('are full if few of many records match, and the last has no next link', async () => {
    const rows = new CdrRows(rig.directory.store)
    const rare = at(-1, { code: 'busy' })
    for (let i = 0; i < 4_500; i++) at(i / 60, { legs: [], domain: i % 2 ? 'a' : 'b' })
    await rig.records.settled()
    const search = { kind: 'call', sipStatus: 486, domain: 'b' } as const
    const part = await rows.part(ours.id, search, 50)
    expect([part.rows, part.next]).toEqual([[], { startedAt: expect.any(Number), id: expect.any(String) }])
    const long = await page('min_duration_ms=1&code=busy')
    expect([long.data.map(({ id }) => id), long.links.next]).toEqual([[rare], undefined])
    expect((await ids('direction=inbound&min_duration_ms=10001')).length).toBe(0)
    expect((await page('direction=inbound&page_size=1000')).data.length).toBe(1000)
  })
})

describe('records of legs', () => {
  it('have the order of the legs in the call, which is not the order of time', async () => {
    const legs = [2, 0, 1].map((i) =>
      legOf({ startedAt: start + i * 1000, role: i === 2 ? 'caller' : 'callee' }),
    )
    const call = at(0, { legs })
    at(1)
    expect(await ids(`call_id=${call}`, 'legs')).toEqual(legs.map(({ leg }) => leg))
    const { data } = await page(`call_id=${call}&code=normal`, 'legs')
    expect(data.map(({ position, role }) => [position, role])).toEqual([
      [0, 'caller'],
      [1, 'callee'],
      [2, 'callee'],
    ])
    expect((await page('', 'legs')).data.length).toBe(5)
  })
})

describe('exports', () => {
  it('are CSV for spreadsheets, with formulas of callers escaped', async () => {
    at(0, { from: '=cmd|calc!A1', to: 'sip:"a,b"@x' })
    at(1, { from: '+4930123', to: 'line\nbreak' })
    const answer = await get('format=csv')
    expect(answer.headers).toMatchObject({
      'content-type': 'text/csv; charset=utf-8; header=present',
      'content-disposition': 'attachment; filename="calls.csv"',
    })
    const lines = answer.body.split('\r\n')
    expect(lines[0]?.split(',').slice(0, 7)).toEqual([
      'id',
      'project_id',
      'call_id',
      'type',
      'direction',
      'from',
      'to',
    ])
    expect(lines.length).toBe(4)
    expect(lines[1]).toContain(`,'+4930123,"line\nbreak",`)
    expect(lines[2]).toContain(`,'=cmd|calc!A1,"sip:""a,b""@x",`)
    expect(lines.at(-1)).toBe('')
  })

  it('are a CSV header alone if no record matches', async () => {
    const { body } = await get('format=csv&code=busy', 'legs')
    expect(body).toMatch(/^id,project_id,call_id,position,role,[\w,]+\r\n$/)
  })

  it('are JSON lines with the whole record, also by the Accept header', async () => {
    const calls = [at(0), at(1)]
    const headers = { ...asProject(), accept: 'application/x-ndjson, */*' }
    const answer = await rig.site.inject({ url: '/api/records/calls', headers })
    expect(answer.headers['content-type']).toBe('application/jsonl')
    const rows = answer.body
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(rows.map(({ record }) => record.call)).toEqual(calls.reverse())
    expect([
      formatOf(undefined, 'text/csv;q=0.9'),
      formatOf('json', 'text/csv'),
      formatOf(undefined),
    ]).toEqual(['csv', 'json', 'json'])
  })

  it('contain all of many records', async () => {
    for (let i = 0; i < 2_600; i++) at(i / 60, { legs: [] })
    const { body } = await get('format=jsonl')
    const rows = body
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(new Set(rows.map(({ id }) => id)).size).toBe(2_600)
    expect(rows.map(({ started_at }) => started_at)).toEqual(
      rows
        .map(({ started_at }) => started_at)
        .sort()
        .reverse(),
    )
  })
})
