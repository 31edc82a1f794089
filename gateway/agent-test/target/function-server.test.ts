import { afterEach, beforeEach, expect, it } from 'vitest'
import { SystemClock } from '../../core/clock.ts'
import { FunctionServer } from './function-server.ts'

let server: FunctionServer

beforeEach(async () => {
  const replies = new Map([['book', { delayMs: 0, body: { response: 'Booked.', action: [{ stop: true }] } }]])
  server = await FunctionServer.open(replies, new SystemClock())
})

afterEach(() => server.close())

const post = async (path: string, body: unknown) => {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const response = await fetch(`${server.url}${path}`, { method: 'POST', body: text })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

const request = { function: 'book', argument: { parsed: [{ people: 2 }] } }

it('answers functions by the scenario, and keeps them for the call of the path', async () => {
  const call = server.begin('caller-1')
  const other = server.begin('caller-2')
  expect(await post('/caller-1/functions', request)).toEqual({
    status: 200,
    body: { response: 'Booked.', action: [{ stop: true }] },
  })
  expect(call.served).toMatchObject([{ name: 'book', args: { people: 2 }, result: 'Booked.' }])
  expect(other.served).toEqual([])
})

const reported = { action: 'post_conversation' }

it('takes the report of a call', async () => {
  const call = server.begin('caller-1')
  expect((await post('/caller-1/report', { action: 'post_conversation' })).status).toBe(200)
  expect(call.reports).toEqual([{ action: 'post_conversation' }])
})

it('answers that there is no earlier conversation, and waits for the report', async () => {
  const call = server.begin('caller-1')
  expect(await post('/caller-1/report', { action: 'fetch_conversation' })).toEqual({ status: 200, body: {} })
  expect((await post('/caller-1/report', { action: 'other' })).status).toBe(400)
  expect(call.reports).toEqual([])
  await post('/caller-1/report', { action: 'post_conversation', n: 1 })
  expect(call.reports).toEqual([{ action: 'post_conversation', n: 1 }])
})

it('takes the report of each agent of a call once', async () => {
  const call = server.begin('caller-1')
  for (const id of ['a', 'b', 'a']) await post('/caller-1/report', { ...reported, ai_session_id: id })
  expect(call.reports.map(({ ai_session_id: id }) => id)).toEqual(['a', 'b'])
})

it("finds a call by the caller's number, or the only one in progress", async () => {
  const first = server.begin('agent-test-1')
  await post('/functions', { ...request, caller_id_num: 'unknown' })
  const second = server.begin('agent-test-2')
  await post('/functions', { ...request, caller_id_num: 'agent-test-2' })
  await post('/report', { ...reported, caller_id_number: 'agent-test-1', n: 1 })
  expect([first.served.length, second.served.length]).toEqual([1, 1])
  expect(first.reports).toMatchObject([{ n: 1 }])
  expect((await post('/functions', { ...request, caller_id_num: 'unknown' })).status).toBe(404)
})

it('refuses a late report about the caller of an earlier call', async () => {
  const call = server.begin('caller-1', 'agent-test-2')
  const of = (number: string) => ({ ...reported, caller_id_number: number })
  expect((await post('/caller-1/report', of('agent-test-1'))).status).toBe(404)
  await post('/caller-1/report', of('agent-test-2'))
  expect(call.reports).toEqual([of('agent-test-2')])
})

it('refuses functions without a reply, calls that have ended, other paths, and what is no JSON', async () => {
  server.begin('caller-1')
  const unknown = await post('/caller-1/functions', { function: 'cancel' })
  expect(unknown).toEqual({ status: 404, body: { error: 'the scenario has no reply for cancel' } })
  expect((await post('/caller-1/other', {})).status).toBe(404)
  expect((await post('/caller-1/functions', 'x')).status).toBe(400)
  server.end('caller-1')
  expect((await post('/caller-1/functions', request)).status).toBe(404)
})
