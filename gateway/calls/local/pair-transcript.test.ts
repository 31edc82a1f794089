/** Transcripts of voice agents behind addresses, for the pages of the callers. */
import { beforeEach, expect, it } from 'vitest'
import type { AgentTranscriptEvent, CallControl } from '../../../handlers/verbs.ts'
import { setUp, turns, waits } from '../testing/addresses-fixture.ts'

let { t, at, connect, arrive, left } = setUp()

beforeEach(() => {
  ;({ t, at, connect, arrive, left } = setUp())
})

const start = { type: 'start', params: {} } as const
const hello = { type: 'response_utterance', params: { utterance: 'Hello' } } as const
const heard = { type: 'speech_detect', params: { text: 'A table.', type: 'normal' } } as const
const stop = { type: 'stop', params: { reason: 'stopped' } } as const
const parted = { type: 'stop', params: { reason: 'hangup' } } as const

/** An address with an agent that begins before the answer. Its controls are filled when it is called. */
const agentAt = (address: string): CallControl[] => {
  const controls: CallControl[] = []
  at[address] = async (call) => {
    controls.push(call)
    call.reportTranscript(start)
    await waits(call)
  }
  return controls
}

/** A page that calls, with the events that it receives. */
const page = async (run: (call: CallControl) => Promise<void>) => {
  const seen: AgentTranscriptEvent[] = []
  const made = await arrive(async (call) => {
    await call.sleep(1)
    await run(call)
  })
  Object.assign(made.far, { transcript: (event: AgentTranscriptEvent) => seen.push(event) })
  t.clock.advance(1)
  await turns()
  return { ...made, seen }
}

it('a caller that is connected receives the whole conversation', async () => {
  const agents = agentAt('/public/agent')
  const a = await page((call) => connect(call, '/public/agent'))
  for (const event of [hello, heard, stop]) agents[0]?.reportTranscript(event)
  expect(a.seen).toEqual([start, hello, heard, stop])
  a.leg.ended({ code: 'normal' })
  await turns()
  expect(a.seen).toHaveLength(4)
  expect(left()).toEqual([0, 0, 0, 0, 0])
})

it('a caller whose connection is ended receives the end, and nothing afterwards', async () => {
  const agents = agentAt('/public/agent')
  const a = await page(async (call) => {
    await connect(call, '/public/agent', { maxDurationMs: 60_000 })
    await waits(call)
  })
  agents[0]?.reportTranscript(hello)
  t.clock.advance(60_000)
  await turns()
  for (const event of [hello, stop]) agents[0]?.reportTranscript(event)
  expect(a.seen).toEqual([start, hello, parted])
})

it('a caller behind several addresses receives the conversation with the last one', async () => {
  const agents = agentAt('/public/agent')
  at['/public/desk'] = (call) => connect(call, '/public/agent')
  const a = await page((call) => connect(call, '/public/desk'))
  for (const event of [hello, stop]) agents[0]?.reportTranscript(event)
  expect(a.seen).toEqual([start, hello, stop])
})

it('agents that ring without being connected report nothing', async () => {
  const losers = agentAt('/public/agent')
  at['/public/agent'] = async (call) => {
    losers.push(call)
    call.reportTranscript(start)
    await call.sleep(1_000_000)
  }
  at['/public/person'] = waits
  const a = await page((call) => connect(call, ['/public/agent', '/public/person']))
  losers[0]?.reportTranscript(hello)
  expect(a.leg.isAnswered).toBe(true)
  expect(a.seen).toEqual([])
})

it('an agent that has ended before the answer reports nothing', async () => {
  at['/public/agent'] = async (call) => {
    for (const event of [start, hello, stop]) call.reportTranscript(event)
    await waits(call)
  }
  const a = await page((call) => connect(call, '/public/agent'))
  expect(a.leg.isAnswered).toBe(true)
  expect(a.seen).toEqual([])
})

it.each([
  ['a confirmation', { confirm: (callee: CallControl) => callee.sleep(1_000) }],
  ['digits', { sendDigits: 'W' }],
])('the caller receives nothing of %s before the connection', async (_what, more) => {
  const agents = agentAt('/public/agent')
  const a = await page(async (call) => {
    await call.connect({ steps: [[{ to: '/public/agent', ...more }]], answerOnBridge: true })
  })
  agents[0]?.reportTranscript(heard)
  t.clock.advance(1_000)
  await turns()
  agents[0]?.reportTranscript(hello)
  expect(a.seen).toEqual([start, hello])
})

it('a party that takes the place of the caller receives the begin, and the former one the end', async () => {
  const agents = agentAt('/public/agent')
  const a = await page((call) => connect(call, '/public/agent'))
  agents[0]?.reportTranscript(hello)
  const seen: AgentTranscriptEvent[] = []
  a.leg.referred({ to: 'sip:b@far.example', progress: () => {} })
  await turns()
  const next = t.outbound.dialled[0]!
  Object.assign(next.far, { transcript: (event: AgentTranscriptEvent) => seen.push(event) })
  next.leg.answered()
  await turns()
  agents[0]?.reportTranscript(heard)
  expect(a.seen).toEqual([start, hello, parted])
  expect(seen).toEqual([start, heard])
})

it('drops later events of an agent that talks for long before its connection', async () => {
  at['/public/agent'] = async (call) => {
    call.reportTranscript(start)
    for (let i = 0; i < 1_000; i++) call.reportTranscript(hello)
    await waits(call)
  }
  const a = await page((call) => connect(call, '/public/agent'))
  expect(a.seen).toHaveLength(50)
})

it('events of the handler reach the page that is connected to it', async () => {
  const agents = agentAt('/public/agent')
  const events: unknown[] = []
  const a = await page((call) => connect(call, '/public/agent'))
  expect(agents[0]?.sendUserEvent({ cart: 1 })).toBe(false)
  Object.assign(a.far, { userEvent: (event: unknown) => events.push(event) > 0 })
  expect(agents[0]?.sendUserEvent({ cart: 2 })).toBe(true)
  expect(events).toEqual([{ cart: 2 }])
})
