import { expect, it } from 'vitest'
import { FakeClock } from '../../core/clock.ts'
import { CallWebhooks } from '../target/function-server.ts'
import { waitForReport } from './wait-for-report.ts'

const zero = 1_700_000_000_000_000

/** Report of an agent that said one sentence, and left after `endMs`. */
const reportOf = (id: string, text: string, endMs: number) => ({
  action: 'post_conversation',
  ai_session_id: id,
  call_answer_date: zero,
  ai_end_date: zero + endMs * 1000,
  conversation_summary: `${text} was said.`,
  raw_call_log: [{ role: 'assistant', content: text, timestamp: zero + (endMs - 500) * 1000 }],
})

const begin = (callMs: number) => {
  const webhooks = new CallWebhooks()
  const clock = new FakeClock()
  const stop = new AbortController()
  let isOver = false
  const facts = waitForReport(webhooks, { callMs, clock, signal: stop.signal }).finally(() => {
    isOver = true
  })
  const hasEnded = async () => {
    await new Promise((resolve) => setImmediate(resolve))
    return isOver
  }
  return { webhooks, clock, stop, facts, hasEnded }
}

it('joins the reports of two agents of a call, and waits for that of the second', async () => {
  const { webhooks, clock, facts, hasEnded } = begin(20_000)
  webhooks.reported(reportOf('a', 'Hello.', 8000))
  expect(await hasEnded()).toBe(false)
  webhooks.reported(reportOf('b', 'Goodbye.', 19_900))
  expect(await facts).toMatchObject({
    spoken: [{ text: 'Hello.' }, { text: 'Goodbye.' }],
    summary: 'Hello. was said. Goodbye. was said.',
  })
  expect(clock.running).toBe(0)
})

it('puts reports in the order of their conversations, and takes those before the end of the call', async () => {
  const webhooks = new CallWebhooks()
  webhooks.reported(reportOf('b', 'Goodbye.', 19_900))
  webhooks.reported(reportOf('a', 'Hello.', 8000))
  const options = { callMs: 20_000, clock: new FakeClock(), signal: new AbortController().signal }
  const facts = await waitForReport(webhooks, options)
  expect(facts?.spoken.map(({ text }) => text)).toEqual(['Hello.', 'Goodbye.'])
})

it('is content with a report that has no times', async () => {
  const { webhooks, facts } = begin(20_000)
  webhooks.reported({ conversation_summary: 'They talked.' })
  expect(await facts).toMatchObject({ summary: 'They talked.' })
})

it('has the reports that came within 15 s', async () => {
  const { webhooks, clock, facts } = begin(20_000)
  webhooks.reported(reportOf('a', 'Hello.', 8000))
  clock.advance(15_000)
  expect(await facts).toMatchObject({ spoken: [{ text: 'Hello.' }] })
})

it('has nothing without a report, or when the test is stopped', async () => {
  const late = begin(20_000)
  late.clock.advance(15_000)
  expect(await late.facts).toBeUndefined()
  const stopped = begin(20_000)
  stopped.stop.abort()
  expect(await stopped.facts).toBeUndefined()
  expect(stopped.clock.running).toBe(0)
})
