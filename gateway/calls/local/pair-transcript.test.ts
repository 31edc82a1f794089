/** Transcripts of voice agents behind addresses, for the pages of the callers. */
import { beforeEach, expect, it } from 'vitest'
import type { AgentTranscriptEvent, CallControl } from '../../../handlers/verbs.ts'
import { setUp, turns, waits } from '../testing/addresses-fixture.ts'
import { FakePort, fakeLeg } from '../testing/fake-legs.ts'
import { joinCalls } from './join-calls.ts'
import { PairTranscript } from './pair-transcript.ts'
import { twinLegs } from './twin-legs.ts'

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

/** The leg of a page, with the events that it receives. */
const listener = () => {
  const seen: AgentTranscriptEvent[] = []
  const { leg, far } = fakeLeg(t.clock, 'page')
  Object.assign(far, { transcript: (event: AgentTranscriptEvent) => seen.push(event) })
  return { leg, seen }
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

it('parties of a call that the gateway places receive the begin, and no words from before', async () => {
  const agents = agentAt('/public/agent')
  t.script((call) => (at[call.info.to] ?? waits)(call))
  void t.calls.originate({
    projectId: 'p',
    steps: [[{ to: '/public/agent', from: '+4930123' }]],
    run: async (call) => {
      for (const to of ['sip:b@far.example', 'sip:c@far.example']) {
        await call.sleep(1_000)
        await call.connect({ steps: [[{ to }]] })
      }
      await waits(call)
    },
  })
  await turns()
  const says = () => {
    for (const event of [hello, heard]) agents[0]?.reportTranscript(event)
  }
  const talks = async (nth: number) => {
    const seen: AgentTranscriptEvent[] = []
    says()
    t.clock.advance(1_000)
    await turns()
    const { leg, far } = t.outbound.dialled[nth]!
    Object.assign(far, { transcript: (event: AgentTranscriptEvent) => seen.push(event) })
    leg.answered()
    await turns()
    says()
    leg.ended({ code: 'normal' })
    await turns()
    return seen
  }
  expect(await talks(0)).toEqual([start, hello, heard])
  expect(await talks(1)).toEqual([start, hello, heard])
})

it('a party receives no words from before if it has taken the place of the caller', async () => {
  const first = listener()
  const second = listener()
  const transcript = new PairTranscript(first.leg)
  for (const event of [start, hello]) transcript.receive(event)
  transcript.connect(second.leg)
  transcript.receive(heard)
  transcript.connect(first.leg)
  expect(second.seen).toEqual([start, heard, parted])
  expect(first.seen).toEqual([start])
})

it.each([heard, { type: 'transparent_barge', params: { combined_text: 'A table.' } } as const])(
  'partial words before a connection make room for what completes them: $type',
  async (complete) => {
    const { leg, seen } = listener()
    const transcript = new PairTranscript(leg)
    transcript.receive(start)
    for (let i = 0; i < 1_000; i++) transcript.receive({ type: 'partial_result', params: { text: `A ${i}` } })
    for (const event of [hello, complete]) transcript.receive(event)
    transcript.receive({ type: 'partial_result', params: { text: 'For' } })
    transcript.connect(leg)
    expect(seen).toEqual([start, hello, complete, { type: 'partial_result', params: { text: 'For' } }])
  },
)

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

const edge = { open: async ({ group }: { readonly group: string }) => new FakePort(group) }
const now = () => t.clock.now()

/**
 * Alice talks to an agent in one call and to Bob in the other one, and joins them. `bob`: Bob's leg, with the
 * events that its page receives.
 */
const joined = async () => {
  const agents = agentAt('/public/agent')
  const alice = await page((call) => connect(call, '/public/agent'))
  agents[0]?.reportTranscript(hello)
  const bob = await page(async (call) => {
    await connect(call, 'sip:alice@far.example')
    await waits(call)
  })
  const second = t.outbound.dialled[0]!.leg
  second.answered()
  await turns()
  expect(await joinCalls(edge, [second, alice.leg], now, () => {})).toBe(true)
  await turns()
  return { agent: agents[0]!, alice, bob }
}

it('two calls that are joined: the party of the one receives the events of the other’s agent', async () => {
  const { agent, alice, bob } = await joined()
  Object.assign(bob.far, { userEvent: (event: unknown) => bob.seen.push(event as never) > 0 })
  for (const event of [heard, stop]) agent.reportTranscript(event)
  expect(agent.sendUserEvent({ cart: 1 })).toBe(true)
  expect(alice.seen).toEqual([start, hello, parted])
  expect(bob.seen).toEqual([start, heard, stop, { cart: 1 }])
  bob.leg.ended({ code: 'normal' })
  await turns()
  expect(agent.signal.aborted).toBe(true)
})

it('two calls that are joined: a party that stays receives the end, and nothing afterwards', async () => {
  const { agent, bob } = await joined()
  await agent.hangup()
  await turns()
  expect(bob.leg.isEnded).toBe(false)
  expect(bob.seen).toEqual([start, parted])
})

it('two calls that are joined: a party that takes a place receives the begin', async () => {
  const { agent, bob } = await joined()
  const next = listener()
  next.leg.answered()
  expect(bob.leg.replaced(next.leg)).toBe(true)
  await turns()
  agent.reportTranscript(heard)
  expect(bob.seen).toEqual([start, parted])
  expect(next.seen).toEqual([start, heard])
})

it('an event ends in a circle of two calls that are joined twice', async () => {
  const legs = [fakeLeg(t.clock, 'first').leg, fakeLeg(t.clock, 'second').leg] as const
  const one = (await twinLegs(edge, ...legs, now))!
  const two = (await twinLegs(edge, ...legs, now))!
  for (const side of [0, 1] as const) {
    one[side].paired(two[side])
    two[side].paired(one[side])
  }
  expect(one[0].userEvent({ cart: 1 })).toBe(false)
  for (const event of [start, hello, stop]) one[0].transcript(event)
})
