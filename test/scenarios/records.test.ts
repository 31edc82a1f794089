import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freePort } from '../../media/testing/free-ports.ts'
import { application, script, scripted } from '../support/applications.ts'
import { Carrier } from '../support/carrier.ts'
import { DocumentServer } from '../support/documents.ts'
import { Gateway } from '../support/gateway.ts'
import { apiToken, authorization } from '../support/recorded.ts'
import { registeredPhone } from '../support/registered.ts'
import { until } from '../support/until.ts'

type Row = Readonly<Record<string, unknown>>

/** A page of a list, or the whole record of a call. */
interface Answer extends Row {
  readonly data: readonly Row[]
  readonly links: { readonly next?: string }
  readonly record: Row
}

const password = 'desk-secret-3'
/**
 * Ports of the carriers' targets: `one` of the first carrier; `bad`, which rejects, and `good` of the second.
 */
const ports = { one: 0, bad: 0, good: 0 }
let folder: string
let documents: DocumentServer
let gateway: Gateway
/** Callee of the handler. */
let callee = ''

const start = (): Promise<Gateway> =>
  Gateway.start({
    dataDir: folder,
    http: { apiToken },
    sip: { registrar: { domains: ['pbx.test'] } },
    endpoints: [{ username: 'desk', password }],
    domains: [
      application('through.test', { kind: 'script', url: documents.urlOf('/through') }),
      application('talk.test', scripted('answer', { sleep: -1 })),
    ],
    carriers: [
      { name: 'single', targets: [`sip:127.0.0.1:${ports.one}`], default: true },
      { name: 'pair', targets: [ports.bad, ports.good].map((port) => `sip:127.0.0.1:${port}`) },
    ],
    webhooks: { recordsUrl: documents.urlOf('/records') },
  })

const ask = async (path: string, accept = 'application/json'): Promise<Response> => {
  const answer = await fetch(`${gateway.url}${path}`, { headers: { authorization, accept } })
  expect([path, answer.status]).toEqual([path, 200])
  return answer
}
const read = async (path: string): Promise<Answer> => (await (await ask(path)).json()) as Answer
const list = async (path: string): Promise<readonly Row[]> => (await read(path)).data
const linesOf = (text: string): Row[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'records-'))
  documents = await DocumentServer.open()
  documents.put('/through', () => JSON.stringify(script({ connect: { answer_on_bridge: true, to: callee } })))
  documents.put('/records', 'taken')
  for (const name of ['one', 'bad', 'good'] as const) ports[name] = await freePort()
  gateway = await start()
})

afterAll(async () => {
  await gateway?.stop()
  await documents?.close()
  rmSync(folder, { recursive: true, force: true })
})

const desk = (port: number) => `sip:desk@127.0.0.1:${port}`
const through = (scenario: string, options: Partial<Parameters<typeof Carrier.calls>[1]> = {}) =>
  Carrier.calls(gateway, { domain: 'through.test', scenario, ...options })

/** Expected record of each call, by its Call-ID. */
const expected = new Map<string, { readonly call: Row; readonly legs: readonly Row[] }>()
const over = async (carriers: readonly Carrier[], call: Row, legs: readonly Row[]): Promise<void> => {
  for (const carrier of carriers) await carrier.done()
  await gateway.settled()
  const { callId = '' } = carriers[0]!
  await gateway.record(callId)
  expected.set(callId, { call, legs })
}

describe('a call for the records', () => {
  it('is connected to a carrier', async () => {
    const target = await Carrier.listens({ scenario: 'callee-takes', port: ports.one })
    callee = desk(ports.one)
    const legs = [{ role: 'caller' }, { role: 'callee', carrier: 'single', to: callee, code: 'normal' }]
    const call = { code: 'normal', direction: 'inbound', domain: 'through.test', source: '127.0.0.1' }
    await over([await through('call'), target], call, legs)
  })

  it('is rejected as busy', async () => {
    const target = await Carrier.listens({
      scenario: 'callee-declines',
      port: ports.one,
      values: { status: 486 },
    })
    callee = desk(ports.one)
    const refused = { code: 'busy', sip_status: 486, q850: 17, answered_at: null, answered_ms: 0 }
    const caller = await through('call-refused', { values: { status: 486 } })
    await over([caller, target], refused, [{ role: 'caller' }, { role: 'callee', ...refused }])
  })

  it('fails over to a carrier’s second target', async () => {
    const bad = await Carrier.listens({
      scenario: 'callee-declines',
      port: ports.bad,
      values: { status: 503 },
    })
    const good = await Carrier.listens({ scenario: 'callee-takes', port: ports.good })
    callee = `sip:+15557778888@127.0.0.1:${ports.bad}`
    const legs = [{ role: 'caller' }, { role: 'callee', carrier: 'pair', code: 'normal' }]
    await over([await through('call'), bad, good], { code: 'normal' }, legs)
  })

  it('is transferred by REFER', async () => {
    const phone = await registeredPhone(gateway, 'desk', password)
    const target = await Carrier.listens({ scenario: 'callee-takes', holdMs: 'manual', port: ports.one })
    callee = desk(ports.one)
    const refer = ['Refer-To: <sip:desk@pbx.test>', 'Referred-By: <sip:+15551230001@carrier.test>']
    const caller = await through('call-refers', { values: { refer }, holdMs: 'manual' })
    await target.sipp.event('confirmed')
    await caller.goesOn()
    await phone.talks('invited', 500)
    await target.hears(500)
    await phone.goesOn()
    const legs = [{ role: 'caller' }, { role: 'callee' }, { role: 'callee', carrier: null }]
    await over([caller, target, phone], { code: 'normal' }, legs)
  })
})

describe('the records of these calls', () => {
  it('list every call, and its legs in order', async () => {
    const calls = await list('/api/records/calls')
    expect(calls.length).toBe(expected.size)
    expect((await list('/api/records/legs')).length).toBe(9)
    for (const call of calls) {
      const legs = await list(`/api/records/legs?call_id=${call.id}`)
      const { call: wanted, legs: wantedLegs } = expected.get(String(legs[0]?.sip_call_id))!
      expect(call).toMatchObject({ ...wanted, project_id: 'default', call_id: call.id })
      expect(legs).toMatchObject(wantedLegs)
      expect(legs.map(({ position }) => position)).toEqual([...wantedLegs.keys()])
      expect(legs[0]).toMatchObject({ from: call.from, to: call.to, started_at: call.started_at })
    }
    expect(calls.map(({ started_at }) => started_at)).toEqual(
      calls
        .map(({ started_at }) => started_at)
        .sort()
        .reverse(),
    )
  })

  it('have the codec of each leg', async () => {
    const [joined] = await list('/api/records/calls?from=%2B15551230001&direction=inbound&code=normal')
    const legs = await list(`/api/records/legs?call_id=${joined?.id}`)
    expect(legs.length).toBeGreaterThan(1)
    for (const { codec } of legs.slice(0, 2)) expect(codec).toBe('PCMU')
  })

  it('can be filtered and paged', async () => {
    expect((await list('/api/records/calls?code=busy')).length).toBe(1)
    expect((await list('/api/records/legs?carrier=pair')).length).toBe(1)
    expect((await list('/api/records/calls?domain=THROUGH.test')).length).toBe(4)
    expect((await list('/api/records/calls?started_until=2020-01-01')).length).toBe(0)
    const first = await read('/api/records/legs?page_size=5')
    const second = await read(first.links.next ?? '')
    expect([first.data.length, second.data.length, second.links.next]).toEqual([5, 4, undefined])
  })

  it('equal those that the webhook received', async () => {
    const posted = () => documents.requests.filter(({ path }) => path === '/records')
    await until(
      'the webhook has them all',
      () => posted().length,
      (count) => count === expected.size,
    )
    for (const { body } of posted()) {
      const received = JSON.parse(body)
      const { record } = await read(`/api/records/calls/${received.call}`)
      expect(record).toEqual(received)
      const tries = received.legs.flatMap((leg: { tries: readonly { sipStatus: number }[] }) => leg.tries)
      if (received.legs.some(({ carrier }: Row) => carrier === 'pair'))
        expect(tries.map(({ sipStatus }: { sipStatus: number }) => sipStatus)).toEqual([503, 200])
    }
  })

  it('are exported as CSV and JSON lines with the same rows as the list', async () => {
    const listed = await list('/api/records/legs')
    const csv = await ask('/api/records/legs', 'text/csv')
    expect(csv.headers.get('content-type')).toContain('text/csv')
    const [header = '', ...rows] = (await csv.text()).trimEnd().split('\r\n')
    expect(rows.map((row) => row.split(',')[0])).toEqual(listed.map(({ id }) => id))
    expect(header.split(',')).toEqual(Object.keys(listed[0] ?? {}))
    const lines = linesOf(await (await ask('/api/records/legs?format=jsonl')).text())
    expect(lines.map(({ record: _, ...rest }) => rest)).toEqual(listed)
    expect(lines.map(({ record }) => (record as { leg: string }).leg)).toEqual(listed.map(({ id }) => id))
  })

  it('match the call log, in which each called leg is a child call', async () => {
    const logs = await list('/api/voice/logs')
    const calls = logs.filter(({ parent_id }) => parent_id === null)
    expect(new Set(calls.map(({ id }) => id))).toEqual(
      new Set((await list('/api/records/calls')).map(({ id }) => id)),
    )
    expect(logs.filter(({ parent_id }) => parent_id !== null).length).toBe(5)
    const busy = logs.filter(({ status }) => status === 'busy')
    expect(busy.length).toBe(2)
    const { data } = await read(`/api/voice/logs/${calls[0]?.id}/events`)
    expect(data.map(({ name }: Row) => name)).toEqual([
      'call.created',
      'call.ringing',
      'call.answered',
      'call.ended',
    ])
  })
})

it('records survive a restart, and a call of a killed gateway is recorded as interrupted at the next start', async () => {
  const asked = ['/api/records/calls', '/api/records/legs', '/api/voice/logs']
  const before = await Promise.all(asked.map(list))
  await gateway.stop()
  gateway = await start()
  expect(await Promise.all(asked.map(list))).toEqual(before)
  const caller = await Carrier.calls(gateway, { domain: 'talk.test', scenario: 'call', holdMs: 'manual' })
  await caller.sipp.event('answered')
  const inProgress = () => list('/api/voice/logs?status=in-progress')
  const [call] = await until('the call is answered', inProgress, (found) => found.length === 1)
  // The row that the API returned is already in the store.
  process.kill(gateway.pid, 'SIGKILL')
  await gateway.ended()
  await gateway.stop()
  await caller.sipp.stop()
  gateway = await start()
  const after = await read(`/api/voice/logs/${call?.id}`)
  expect(after).toMatchObject({ status: 'failed', code: 'interrupted', created_at: call?.created_at })
  expect((await list('/api/voice/logs')).length).toBe(before[2]!.length + 1)
  // The record of a lost call has the known facts, and is sent to the webhook.
  const calls = await list('/api/records/calls')
  expect([calls.length, calls[0]]).toEqual([
    expected.size + 1,
    expect.objectContaining({ id: call?.id, code: 'interrupted', direction: 'inbound' }),
  ])
  const received = () => documents.asked('/records').filter(({ body }) => JSON.parse(body).call === call?.id)
  const [first] = await until('the webhook has received the record', received, (found) => found.length > 0)
  expect(JSON.parse(first!.body)).toMatchObject({ code: 'interrupted', legs: [{ role: 'caller' }] })
})
