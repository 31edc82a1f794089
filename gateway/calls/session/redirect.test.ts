import { beforeEach, describe, expect, it } from 'vitest'
import {
  type CallControl,
  CallRedirected,
  type ConnectResult,
  type QueueResult,
} from '../../../handlers/verbs.ts'
import type { HandlerSpec } from '../../model.ts'
import { newCallId } from '../call/ids.ts'
import type { LiveCall } from '../call/live-call.ts'
import { ProjectQueues } from '../queue/queues.ts'
import { settle, setUp as setUpCalls } from '../testing/calls-fixture.ts'
import { ConferenceFixture } from '../testing/conference-fixture.ts'
import { StrictCallRows } from '../testing/strict-call-rows.ts'

const next: HandlerSpec = { kind: 'xml', document: '<Response/>', name: 'next' }
const setUp = () => {
  const rows = new StrictCallRows()
  const rooms = new ConferenceFixture()
  const queues = new ProjectQueues(rooms)
  return { ...setUpCalls({ rows, queues }), rows, queues, rooms }
}

let t: ReturnType<typeof setUp>
beforeEach(() => {
  t = setUp()
})

/** A caller with a first document, and the handler of the call after its redirection. */
const begin = async (first: (call: CallControl) => Promise<unknown>) => {
  const log: string[] = []
  const second = Promise.withResolvers<CallControl>()
  let run = 0
  const side = t.arrive(async (call) => {
    if (run++ > 0) {
      log.push('second')
      second.resolve(call)
      return call.sleep(1_000_000)
    }
    await call.answer()
    await first(call).catch((error: unknown) => log.push(String((error as Error).name)))
    log.push(`first over, ${call.signal.reason instanceof CallRedirected}`)
  })
  await settle()
  const id = t.rows.rows[0]!.id
  const live = () => t.calls.live('p', id) as LiveCall
  return { ...side, id, log, live, second: second.promise }
}

describe('a call with another document', () => {
  it('stops the playback, and goes on', async () => {
    const { leg, port, log, live, second } = await begin((call) =>
      call.play({ sounds: [{ kind: 'silence', ms: 9_000 }], loop: 0 }),
    )
    expect(port.playing).toBeDefined()
    expect(live().state).toBe('answered')
    live().redirect(next)
    const call = await second
    expect([log, port.playing, leg.isEnded]).toEqual([
      ['CallEnded', 'first over, true', 'second'],
      undefined,
      false,
    ])
    expect(t.rows.rows[0]).toMatchObject({ status: 'in-progress', document: 'next' })
    await call.play({ sounds: [] })
    await call.hangup()
    await settle()
    expect([t.calls.count, t.clock.running, t.rows.open]).toEqual([0, 0, 0])
  })

  it('leaves its partner', async () => {
    let result: ConnectResult | undefined
    const { log, live, second } = await begin(async (call) => {
      result = await call.connect({ steps: [[{ to: 'sip:b@x' }]] })
    })
    const [b] = t.outbound.dialled
    b!.leg.answered()
    await settle()
    expect(t.bridges.count).toBe(1)
    live().redirect(next)
    await second
    expect([result, log]).toMatchObject([{ endedBy: 'stopped' }, ['first over, true', 'second']])
    expect([t.bridges.count, b!.leg.state.kind]).toEqual([0, 'ended'])
  })

  it('reports the end of its recording', async () => {
    const reasons: string[] = []
    const { log, live, second } = await begin(async (call) => {
      const recording = await call.startRecording({})
      reasons.push((await recording.ended).reason)
    })
    live().redirect(next)
    await second
    expect([reasons, log]).toEqual([['stopped'], ['first over, true', 'second']])
  })

  it('leaves the queue that it waits in', async () => {
    let result: QueueResult | undefined
    const { live, second } = await begin(async (call) => {
      result = await call.enterQueue({
        name: 'q',
        wait: (waiting) => waiting.sleep(1_000).then(() => undefined),
      })
    })
    expect(t.queues.waiting).toBe(1)
    live().redirect(next)
    await second
    expect([t.queues.waiting, result?.kind]).toEqual([0, 'hangup'])
  })

  it('parts from the consumer of the queue', async () => {
    let result: QueueResult | undefined
    const { live, second } = await begin(async (call) => {
      result = await call.enterQueue({
        name: 'q',
        wait: (waiting) => waiting.sleep(1_000).then(() => undefined),
      })
    })
    const queue = { projectId: 'p', name: 'q', by: newCallId() }
    const queued = await t.queues.take(queue, new AbortController().signal)
    expect(queued?.over.aborted).toBe(false)
    queued?.join()
    live().redirect(next)
    expect(queued?.over.aborted).toBe(true)
    queued?.release()
    await second
    expect(result?.kind).toBe('bridged')
  })

  it('does not hear the notice of a queue to its end', async () => {
    let result: QueueResult | undefined
    const { live, log, second } = await begin(async (call) => {
      result = await call.enterQueue({
        name: 'q',
        wait: (waiting) => waiting.sleep(1_000).then(() => undefined),
        beforeBridge: (call) => call.sleep(1_000_000),
      })
    })
    const giveUp = new AbortController()
    const taken = t.queues.take({ projectId: 'p', name: 'q', by: newCallId() }, giveUp.signal)
    await settle()
    live().redirect(next)
    await settle()
    expect(log).toContain('second')
    await second
    expect([t.queues.waiting, result?.kind]).toEqual([0, 'hangup'])
    // The consumer waits for the next caller.
    giveUp.abort()
    expect(await taken).toBeUndefined()
  })

  it('is no longer on hold', async () => {
    const { leg, live, second } = await begin(async (call) => {
      await call.hold()
      await call.sleep(1_000_000)
    })
    expect(leg.isHeld).toBe(true)
    live().redirect(next)
    await second
    expect(leg.isHeld).toBe(false)
  })

  it('runs the last of several documents that come at once', async () => {
    const { live, log, second } = await begin((call) => call.sleep(1_000_000))
    live().redirect({ ...next, name: 'one' } as HandlerSpec)
    live().redirect({ ...next, name: 'two' } as HandlerSpec)
    await second
    await settle()
    expect([log.filter((each) => each === 'second'), t.rows.rows[0]?.document]).toEqual([['second'], 'two'])
  })
})

describe('an unanswered call', () => {
  it('cannot get another document, and can be ended', async () => {
    const a = t.arrive((call) => call.sleep(1_000_000))
    const live = t.calls.live('p', t.rows.rows[0]!.id)
    expect(live?.state).toBe('ringing')
    expect(() => live?.redirect(next)).toThrow(expect.objectContaining({ code: 'call_not_in_progress' }))
    live?.end('canceled')
    await settle()
    expect([a.far.requests, t.rows.rows[0]?.status]).toEqual([['end canceled'], 'canceled'])
  })

  it('is found while it rings', async () => {
    const made = t.calls.originate({
      projectId: 'p',
      steps: [[{ to: 'sip:b@x', from: '+1' }]],
      run: async () => {},
    })
    await settle()
    const { id } = t.rows.rows[0]!
    expect(t.calls.live('other', id)).toBeUndefined()
    const live = t.calls.live('p', id)
    expect([live?.state, live?.control]).toEqual(['ringing', undefined])
    live?.end('canceled')
    await expect(made).rejects.toMatchObject({ code: 'canceled' })
    expect([t.rows.rows[0]?.status, t.calls.live('p', id)]).toEqual(['canceled', undefined])
  })
})

it('ends a leg that another call is connected to', async () => {
  await begin((call) => call.connect({ steps: [[{ to: 'sip:b@x' }]] }))
  t.outbound.dialled[0]!.leg.answered()
  await settle()
  const live = t.calls.live('p', t.rows.rows[1]!.id)
  expect(live?.state).toBe('answered')
  expect(() => live?.redirect(next)).toThrow()
  live?.end('normal')
  await settle()
  expect(t.rows.rows[1]).toMatchObject({ status: 'completed' })
})
