import { pino } from 'pino'
import { beforeEach, describe, expect, it } from 'vitest'
import type { CallControl, ConnectResult } from '../../handlers/verbs.ts'
import { ProjectQueues } from '../calls/queue/queues.ts'
import { settle, setUp as setUpCalls } from '../calls/testing/calls-fixture.ts'
import { ConferenceFixture } from '../calls/testing/conference-fixture.ts'
import { FakeCallRows } from '../calls/testing/fake-call-rows.ts'
import type { HandlerSpec, Target } from '../model.ts'
import { ApiCall } from './api-call.ts'
import { CallCommands, callCommands } from './call-commands.ts'
import type { CallOrder } from './call-placement.ts'
import { CallPlacer } from './call-placer.ts'
import { CalleeCheck } from './callee-check.ts'

const handler: HandlerSpec = { kind: 'script', document: '{}', name: 'inline' }
const order: CallOrder = { projectId: 'ours', to: 'sip:b@x', from: 'sip:me@y', source: 'calling', handler }

/** Addresses of each project; both have an Ann. */
const book: Readonly<Record<string, Readonly<Record<string, Target>>>> = {
  ours: {
    '/private/ann': { kind: 'subscriber', subscriberId: 'our Ann', address: '/private/ann' },
    '/public/desk': { kind: 'subscriber', subscriberId: 'desk', address: '/public/desk' },
    '/public/menu': { kind: 'handler', handler, address: '/public/menu' },
  },
  theirs: { '/private/ann': { kind: 'subscriber', subscriberId: 'their Ann', address: '/private/ann' } },
}
const addresses = {
  resolve: (to: string, projectId: string): Target | undefined =>
    to.startsWith('sip:') ? { kind: 'sip', uri: to } : book[projectId]?.[to],
}

const setUp = () => {
  const history = new FakeCallRows()
  const nodeId = 'node-1'
  const queues = new ProjectQueues(new ConferenceFixture())
  const fixture = setUpCalls({ rows: history, queues, addresses })
  const { callbacks } = fixture.customers
  const { calls, callLog, clock } = fixture
  const callees = new CalleeCheck(fixture.dialer, async () => undefined)
  const log = pino({ level: 'silent' })
  const placer = new CallPlacer({ callees, calls, callLog, history, callbacks, clock, log })
  const apiCallOf = (control: CallControl) => new ApiCall({ callLog, callbacks, nodeId, clock }, control)
  const commands = new CallCommands({ apiCallOf, calls, addresses, history })
  return { ...fixture, history, queues, placer, commands }
}

let t: ReturnType<typeof setUp>
beforeEach(() => {
  t = setUp()
})

/** Starts an answered call of a project whose document runs `what`. */
const begin = async (projectId: string, what: (call: CallControl) => Promise<unknown>) => {
  t.script(async (call) => void (await what(call)))
  const { id } = await t.placer.place({ ...order, projectId })
  const side = t.outbound.dialled.at(-1)!
  side.leg.answered()
  await settle()
  return { ...side, id }
}

const last = () => t.outbound.dialled.at(-1)!

describe('another project', () => {
  it('finds neither a call in progress nor its callee', async () => {
    const { id, leg } = await begin('ours', (call) => call.connect({ steps: [[{ to: 'sip:c@x' }]] }))
    last().leg.answered()
    await settle()
    const [called] = t.history.calledBy(id)
    const unknown = { code: 'unknown_call' }
    for (const each of [id, called!.id]) {
      expect([t.calls.live('ours', each)?.state, t.calls.live('theirs', each)]).toEqual([
        'answered',
        undefined,
      ])
      await expect(t.placer.redirect('theirs', each, handler)).rejects.toMatchObject(unknown)
      await expect(t.placer.end('theirs', each, 'completed')).rejects.toMatchObject(unknown)
      for (const command of callCommands)
        await expect(t.commands.run('theirs', each, command, {})).rejects.toMatchObject(unknown)
    }
    expect([leg.isEnded, last().leg.isEnded, t.bridges.count]).toEqual([false, false, 1])
  })

  it('takes no caller from a queue of the same name', async () => {
    const results: ConnectResult[] = []
    const takes = async (call: CallControl) => {
      results.push(await call.connect({ steps: [[{ to: 'queue:support', timeoutMs: 5_000 }]] }))
    }
    const { id } = await begin('ours', (call) => call.enterQueue({ name: 'support' }))
    await begin('theirs', takes)
    t.clock.advance(5_000)
    await settle()
    expect([results, t.bridges.count]).toMatchObject([[{ kind: 'failed', code: 'no_answer' }], 0])
    expect(t.queues.of('ours')).toMatchObject([{ members: [{ callId: id }] }])
    await begin('ours', takes)
    expect(t.bridges.count).toBe(1)
  })

  it('reaches only its own addresses, by orders, documents and transfers', async () => {
    const to = '/public/desk'
    const unknown = { code: 'unknown_address' }
    await expect(t.placer.place({ ...order, projectId: 'theirs', to })).rejects.toMatchObject(unknown)
    const results: ConnectResult[] = []
    const { id, leg } = await begin('theirs', async (call) => {
      results.push(await call.connect({ steps: [[{ to }]] }))
      await call.connect({ steps: [[{ to: '/private/ann' }]] })
    })
    expect(results).toMatchObject([{ kind: 'failed', ...unknown }])
    expect(last().target).toMatchObject({ subscriberId: 'their Ann' })
    for (const dest of [to, '/public/menu'])
      await expect(t.commands.run('theirs', id, 'calling.transfer', { dest })).rejects.toMatchObject({
        code: 'unknown_address',
        facts: { attribute: 'dest' },
      })
    last().leg.answered()
    await settle()
    const dialled = t.outbound.dialled.length
    const statuses: number[] = []
    expect(leg.referred({ to, progress: (status) => statuses.push(status) })).toBe(true)
    await settle()
    expect([statuses.at(-1), t.outbound.dialled.length]).toEqual([404, dialled])
  })
})
