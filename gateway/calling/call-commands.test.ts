import { beforeEach, describe, expect, it } from 'vitest'
import type { CallControl } from '../../handlers/verbs.ts'
import { settle, setUp as setUpCalls } from '../calls/testing/calls-fixture.ts'
import { FakeCallRows } from '../calls/testing/fake-call-rows.ts'
import type { StatusTarget } from '../model.ts'
import { ApiCall } from './api-call.ts'
import { CallCommands } from './call-commands.ts'

const status: StatusTarget = {
  url: 'https://x.example/cb',
  method: 'POST',
  dialect: 'json',
  states: ['completed'],
}

const setUp = () => {
  const history = new FakeCallRows()
  const fixture = setUpCalls({ rows: history })
  const { calls, callLog, clock, customers } = fixture
  const { callbacks } = customers
  const nodeId = 'node-1'
  const addresses = {
    resolve: (to: string) =>
      to === '/public/menu'
        ? ({
            kind: 'handler',
            address: to,
            handler: { kind: 'script', document: '{}', name: 'menu' },
          } as const)
        : to.startsWith('sip:')
          ? ({ kind: 'sip', uri: to } as const)
          : undefined,
  }
  const apiCallOf = (control: CallControl) => new ApiCall({ callLog, callbacks, nodeId, clock }, control)
  const commands = new CallCommands({ apiCallOf, calls, addresses, history })
  const events = () =>
    customers.received
      .map(({ callback }) => JSON.parse(callback.body!.text))
      .map(({ event_type, params }) => [event_type, params])
  const run = (id: string, command: string, params: object = {}) => commands.run('p', id, command, params)
  /** A call that waits, answered. */
  const begin = async (what: (call: CallControl) => Promise<unknown> = (call) => call.sleep(1_000_000)) => {
    const side = fixture.arrive(async (call) => {
      await call.answer()
      await what(call)
    })
    await settle()
    const [id] = history.rows.keys()
    callLog.watch(id!, status)
    return { ...side, id: id! }
  }
  return { ...fixture, history, events, run, begin, commands }
}

let t: ReturnType<typeof setUp>
beforeEach(() => {
  t = setUp()
})

const play = [{ type: 'silence', params: { duration: 5 } }]

describe('a command on a call', () => {
  it('runs beside the document, and its events are reported', async () => {
    const { id, port } = await t.begin()
    expect(await t.run(id, 'calling.play', { control_id: 'a', play })).toMatchObject({
      id,
      status: 'in-progress',
    })
    await settle()
    await t.run(id, 'calling.play.volume', { control_id: 'a', volume: -4 })
    await settle()
    expect(port.playing?.volumeDb).toBe(-4)
    await t.run(id, 'calling.play.stop', { control_id: 'a' })
    await settle()
    const common = { call_id: id, node_id: 'node-1', segment_id: id, control_id: 'a' }
    expect(t.events()).toEqual([
      ['calling.call.play', { ...common, state: 'playing' }],
      ['calling.call.play', { ...common, state: 'finished' }],
    ])
    expect(t.calls.count).toBe(1)
  })

  it('reports its end with the end of the call, and is removed', async () => {
    const { id, leg } = await t.begin()
    await t.run(id, 'calling.play', { control_id: 'a', play })
    await settle()
    expect(t.commands.size).toBe(1)
    leg.ended({ code: 'normal' })
    await settle()
    expect(t.events().map(([type, { state, call_state }]) => [type, state ?? call_state])).toEqual([
      ['calling.call.play', 'playing'],
      ['calling.call.state', 'ended'],
      ['calling.call.play', 'finished'],
    ])
    expect(t.commands.size).toBe(0)
  })

  it('starts and stops a stream', async () => {
    const { id } = await t.begin()
    await t.run(id, 'calling.stream', { control_id: 's', url: 'wss://x.example/s', name: 'one' })
    await settle()
    await t.run(id, 'calling.stream.stop', { control_id: 's' })
    await settle()
    expect(t.events().map(([, { state, name }]) => [state, name])).toEqual([
      ['streaming', 'one'],
      ['finished', 'one'],
    ])
  })

  it.each([
    ['calling.play', { play }, 'invalid_field', 'control_id'],
    ['calling.play', { control_id: 'a', play: [{ type: 'noise' }] }, 'invalid_field', 'play[0].type'],
    ['calling.play.stop', { control_id: 'b' }, 'unknown_resource', undefined],
    ['calling.end', { reason: 'boredom' }, 'invalid_field', 'reason'],
    ['calling.transfer', { dest: '/public/nobody' }, 'unknown_address', 'dest'],
    ['calling.transfer', { dest: '12345' }, 'no_carrier', 'dest'],
    ['calling.user_event', { event: { a: 1 } }, 'call_not_in_progress', undefined],
    ['calling.refer', { control_id: 'a' }, 'invalid_field', 'device'],
    ['calling.disconnect', {}, 'call_not_in_progress', undefined],
    ['calling.dance', {}, 'verb_unavailable', undefined],
  ])('%s %o is rejected: %s, %s', async (command, params, code, attribute) => {
    const { id } = await t.begin()
    const expected = attribute === undefined ? { code } : { code, facts: { attribute } }
    await expect(t.run(id, command, params)).rejects.toMatchObject(expected)
  })

  it('names the kind of an operation that the call does not have', async () => {
    const { id } = await t.begin()
    await expect(t.run(id, 'calling.play.stop', { control_id: 'my-music' })).rejects.toThrow(
      'control_id: the call has no operation play with the id my-music.',
    )
  })

  it('is rejected for an unknown call, a call of another project, and an ended call', async () => {
    const { id } = await t.begin()
    t.history.began({ ...(await t.history.find('p', id))!, id: 'over' })
    await expect(t.run('nothing', 'calling.end')).rejects.toMatchObject({ code: 'unknown_call' })
    await expect(t.run('over', 'calling.end')).rejects.toMatchObject({ code: 'call_not_in_progress' })
    await expect(t.commands.run('q', id, 'calling.end', {})).rejects.toMatchObject({ code: 'unknown_call' })
  })

  it.each([
    ['busy', 'end busy', 'busy'],
    ['noAnswer', 'end no_answer', 'no_answer'],
    ['hangup', 'end canceled', 'cancel'],
  ])('ends an unanswered call: %s', async (reason, request, endReason) => {
    const { far } = t.arrive((call) => call.sleep(1_000))
    await settle()
    const [id] = t.history.rows.keys()
    t.callLog.watch(id!, status)
    await t.run(id!, 'calling.end', { reason })
    await settle()
    expect(far.requests).toEqual([request])
    expect(t.events()[0]?.[1]).toMatchObject({ call_state: 'ended', end_reason: endReason })
  })

  it('ends the connection of a call, whose document goes on', async () => {
    let over = false
    const { id, leg } = await t.begin(async (call) => {
      await call.connect({ steps: [[{ to: 'sip:b@x' }]] })
      over = true
      await call.sleep(1_000)
    })
    t.outbound.dialled[0]!.leg.answered()
    await settle()
    await t.run(id, 'calling.disconnect')
    await settle()
    expect([over, leg.isEnded, t.outbound.dialled[0]!.leg.isEnded]).toEqual([true, false, true])
  })

  it.each([
    ['https://x.example/next', { url: 'https://x.example/next' }],
    ['{"sections":{"main":["hangup"]}}', { document: '{"sections":{"main":["hangup"]}}' }],
    ['/public/menu', { name: 'menu' }],
    ['sip:c@x', { name: 'transfer', document: expect.stringContaining('sip:c@x') }],
  ])('transfers a call to %s', async (dest, handler) => {
    const ran: string[] = []
    const { id } = await t.begin(async (call) => {
      ran.push('document')
      await call.sleep(1_000)
    })
    await t.run(id, 'calling.transfer', { dest })
    await settle()
    expect(ran).toHaveLength(2)
    const shown = 'url' in handler ? handler.url : 'name' in handler ? handler.name : 'dest'
    expect(t.history.inProgress(id)?.document).toBe(shown)
  })
})
