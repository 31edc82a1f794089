import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { TrunklineError } from '../../core/errors/catalogue.ts'
import { settled, talking } from './testing/call-setup.ts'
import { SubscriberTestGateway, type TestPage } from './testing/subscriber-test-gateway.ts'

let gateway: SubscriberTestGateway

beforeEach(async () => {
  gateway = await SubscriberTestGateway.start()
})
afterEach(() => gateway.close())

const transfer = (page: TestPage, destination: string, callId = 'c1') =>
  page.verto('verto.modify', callId, { action: 'transfer', destination })

const states = (page: TestPage) =>
  page.browser.requests.flatMap(({ params }) => {
    const { event_type: type, params: event } = params as {
      event_type: string
      params: Record<string, unknown>
    }
    return type === 'call.transfer' ? [`${event.call_id} ${event.transfer_state} ${event.sip_status}`] : []
  })

describe('a blind transfer by a page', () => {
  it('is passed to the call without headers, and its progress is reported', async () => {
    const { page, owner, leg } = await talking(gateway)
    expect(await transfer(page, ' sip:carol@phones.example?P-Asserted-Identity=x ')).toMatchObject({
      action: 'transfer',
      callID: 'c1',
    })
    const [referral] = owner.referrals
    expect(referral?.to).toBe('sip:carol@phones.example')
    for (const status of [180, 200]) referral?.progress(status)
    leg.end({ code: 'normal' })
    await settled(page)
    expect(states(page)).toEqual(['c1 ringing 180', 'c1 completed 200'])
    expect(page.story.slice(-3)).toEqual(['verto.bye', 'call.state ended', 'call.left'])
  })

  it('that fails is reported with the status of the target', async () => {
    const { page, owner, leg } = await talking(gateway)
    await transfer(page, '/public/bob')
    owner.referrals[0]?.progress(486)
    await settled(page)
    expect([states(page), leg.isEnded]).toEqual([['c1 failed 486'], false])
  })

  it('is rejected if the subscriber may not call the target, and without another party', async () => {
    const { page, owner } = await talking(gateway)
    owner.isTransferable = false
    expect(await transfer(page, '/public/bob')).toMatchObject({ code: '409' })
    expect(await transfer(page, '/public/bob', 'unknown')).toMatchObject({ code: '409' })
    owner.isTransferable = true
    expect(await transfer(page, 'queue:support')).toMatchObject({ code: '403' })
    const callee = await gateway.online('bob')
    const { leg, owner: other } = gateway.call('bob')
    await callee.message('verto.invite')
    await callee.verto('verto.answer', leg.id, { sdp: 'answer' })
    expect(await transfer(callee, 'sip:carol@phones.example', leg.id)).toMatchObject({ code: '403' })
    expect([owner.referrals, other.referrals]).toEqual([[], []])
  })

  it('charges calls to carriers to a subscriber who was called, until the target has left', async () => {
    const page = await gateway.online()
    const { leg, owner } = gateway.call()
    await page.message('verto.invite')
    await page.verto('verto.answer', leg.id, { sdp: 'answer' })
    await transfer(page, '+15551230001', leg.id)
    expect([...gateway.attributed.values()]).toMatchObject([
      { subscriber: { id: gateway.subscriber('alice').id } },
    ])
    owner.referrals[0]?.over?.()
    expect(gateway.attributed.size).toBe(0)
  })
})

describe('an attended transfer by a page', () => {
  /** A page with a dialed and a received call. */
  const twoCalls = async () => {
    const { page, leg: first, owner } = await talking(gateway)
    await page.ask('subscriber.online')
    const { leg: second, owner: other } = gateway.call()
    await page.message('verto.invite')
    await page.verto('verto.answer', second.id, { sdp: 'answer' })
    const party = (uri: string, direction: 'inbound' | 'outbound') => {
      const made = gateway.partner(uri, direction)
      made.answered()
      return made
    }
    first.paired(party('sip:dave@first.example', 'outbound'))
    second.paired(party('sip:erin@second.example', 'inbound'))
    const join = (replaceCallID = second.id as string) =>
      page.verto('verto.modify', 'c1', { action: 'replace', replaceCallID })
    return { page, first, second, owner, other, join }
  }

  it('replaces the legs of the page by two that carry the audio and the identity of the other parties', async () => {
    const { page, first, second, owner, other, join } = await twoCalls()
    expect(await join()).toMatchObject({ action: 'replace', callID: 'c1' })
    const [here] = owner.replacements
    const [there] = other.replacements
    expect([here?.from.uri, there?.to.uri]).toEqual(['sip:erin@second.example', 'sip:dave@first.example'])
    expect([first.isEnded, second.isEnded, gateway.edge.opened.length]).toEqual([true, true, 2])
    await settled(page)
    expect(states(page).toSorted()).toEqual([`${second.id} completed 200`, 'c1 completed 200'].toSorted())
    here?.ended({ code: 'normal' })
    expect(there?.isEnded).toBe(true)
    await vi.waitFor(() => expect(gateway.edge.opened.every(({ closed }) => closed)).toBe(true))
  })

  it('is rejected for the same, an unknown or an unconnected call, and leaves both calls', async () => {
    const { page, first, second, other, join } = await twoCalls()
    expect(await join('c1')).toMatchObject({ code: '409' })
    expect(await join('unknown')).toMatchObject({ code: '409' })
    other.isTransferable = false
    expect(await join()).toMatchObject({ code: '409' })
    other.isTransferable = true
    second.paired(undefined)
    expect(await join()).toMatchObject({ code: '409' })
    await settled(page)
    expect([first.isEnded, second.isEnded, states(page)]).toEqual([false, false, []])
    await vi.waitFor(() => expect(gateway.edge.opened.every(({ closed }) => closed)).toBe(true))
  })

  it.each([
    ['the other party of the first call hangs up', 'first', 'ends'],
    ['the other party of the second call hangs up', 'second', 'ends'],
    ['the first call is transferred', 'first', 'parts'],
    ['the second call is transferred', 'second', 'parts'],
  ] as const)('is rejected and keeps what is left if %s meanwhile', async (_why, which, how) => {
    const { page, first, second, owner, other, join } = await twoCalls()
    const { promise, resolve } = Promise.withResolvers<void>()
    gateway.edge.gate = promise
    const reply = join()
    await settled(page)
    const changed = which === 'first' ? first : second
    if (how === 'ends') changed.end({ code: 'normal' })
    else changed.paired(undefined)
    resolve()
    expect(await reply).toMatchObject({ code: '409' })
    const kept = which === 'first' ? second : first
    expect([kept.isEnded, changed.isEnded]).toEqual([false, how === 'ends'])
    expect([owner.replacements, other.replacements]).toEqual([[], []])
    await vi.waitFor(() => expect(gateway.edge.opened.every(({ closed }) => closed)).toBe(true))
  })

  it('is rejected without a free port', async () => {
    const { first, second, join } = await twoCalls()
    gateway.edge.fault = new TrunklineError('no_ports')
    expect(await join()).toMatchObject({ code: '503' })
    expect([first.isEnded, second.isEnded]).toEqual([false, false])
  })
})

describe('the addition of a person by a page', () => {
  it('is passed to the call, and its progress is reported', async () => {
    const { page, owner } = await talking(gateway)
    const add = () => page.verto('verto.modify', 'c1', { action: 'add', destination: '/public/bob' })
    expect(await add()).toMatchObject({ action: 'add', callID: 'c1' })
    const [addition] = owner.additions
    expect(addition?.to).toBe('/public/bob')
    addition?.progress(486)
    expect(await page.event('call.add')).toMatchObject({
      call_id: 'c1',
      add_state: 'failed',
      sip_status: 486,
    })
    owner.isTransferable = false
    expect(await add()).toMatchObject({ code: '409' })
  })
})

describe('a person that a page has added', () => {
  /** A page whose call has a person that it has added, and a person that another party has added. */
  const withAdded = async () => {
    const call = await talking(gateway)
    const { page, owner, leg } = call
    const [callee, added, other] = ['b', 'c', 'd'].map((name) => {
      const made = gateway.partner(`sip:${name}@first.example`, 'outbound')
      made.answered()
      return made
    })
    leg.paired(callee!)
    await page.event('member.joined')
    await page.verto('verto.modify', 'c1', { action: 'add', destination: '/public/bob' })
    owner.additions[0]?.joined?.(added!)
    leg.gathered([added!, other!])
    const members = [await page.event('member.joined'), await page.event('member.joined')].map(
      ({ member }) => member as { member_id: string; node_id: string; call_id: string; removable: boolean },
    )
    const remove = ({ member_id, node_id, call_id }: (typeof members)[number]) =>
      page.ask('call.member.remove', { self: call.self, target: { member_id, node_id, call_id } })
    return { ...call, members, added: added!, other: other!, remove }
  }

  it('can be removed by this page, and others cannot', async () => {
    const { members, added, other, remove, leg, owner } = await withAdded()
    expect(members.map(({ removable }) => removable)).toEqual([true, false])
    expect(await remove(members[1]!)).toMatchObject({ code: '403' })
    expect(await remove(members[0]!)).toMatchObject({ code: '200' })
    expect([added.isEnded, other.isEnded, leg.isEnded]).toEqual([true, false, false])
    leg.gathered([other])
    owner.additions[0]?.over?.()
    expect(await remove(members[0]!)).toMatchObject({ code: '404' })
  })

  it('keeps the call from being transferred, with a reason', async () => {
    const { page, owner } = await withAdded()
    expect(await transfer(page, '/public/bob')).toMatchObject({
      code: '409',
      message: 'A call of more than two parties cannot be transferred.',
    })
    expect(owner.referrals).toEqual([])
  })
})

it('a person that a page adds is called in its name, and then sees the first caller', async () => {
  const { page, leg } = await talking(gateway)
  const caller = gateway.partner('sip:customer@carrier.example', 'inbound')
  caller.answered()
  const bob = await gateway.online('bob')
  const added = gateway.call('bob', { caller, inviter: leg, from: leg.from }).leg
  expect(await bob.message('verto.invite')).toMatchObject({ caller_id_name: 'Alice' })
  await bob.verto('verto.answer', added.id, { sdp: 'answer' })
  added.gathered([caller, leg])
  const names = [await bob.event('member.joined'), await bob.event('member.joined')].map(
    ({ member }) => (member as { name: string }).name,
  )
  expect(names).toEqual(['sip:customer@carrier.example', 'Alice'])
  // The page that has added the person leaves.
  added.gathered([])
  added.paired(caller)
  expect(await bob.message('verto.display')).toMatchObject({ display_name: 'sip:customer@carrier.example' })
  expect(page.story).not.toContain('verto.bye')
})

it('a person that a page adds sees the caller as that page does, if a document has set the name', async () => {
  const { leg } = await talking(gateway)
  const caller = gateway.partner('sip:customer@carrier.example', 'inbound')
  caller.answered()
  const bob = await gateway.online('bob')
  const callerName = { uri: '+49800123', user: '+49800123', name: 'Hotline' }
  const added = gateway.call('bob', { caller, callerName, inviter: leg, from: leg.from }).leg
  await bob.message('verto.invite')
  await bob.verto('verto.answer', added.id, { sdp: 'answer' })
  added.gathered([caller, leg])
  const members = [await bob.event('member.joined'), await bob.event('member.joined')]
  expect(members.map(({ member }) => (member as { name: string }).name)).toEqual(['Hotline', 'Alice'])
  expect(JSON.stringify(bob.story)).not.toContain('customer@carrier')
})

describe('a request that a page repeats under the same id, because its reply was lost', () => {
  const send = async (page: TestPage, id: unknown, destination = '/public/bob') => {
    const dialogParams = { callID: 'c1' }
    const params = { dialogParams, action: 'add', destination }
    const reply = await page.ask('webrtc.verto', {
      message: { jsonrpc: '2.0', id, method: 'verto.modify', params },
    })
    return reply.code
  }

  it('calls the person once, and receives the first reply', async () => {
    const { page, owner } = await talking(gateway)
    expect([await send(page, 'a'), await send(page, 'a')]).toEqual(['200', '200'])
    expect(owner.additions).toHaveLength(1)
    owner.isTransferable = false
    expect([await send(page, 7), owner.isTransferable]).toEqual(['409', false])
    owner.isTransferable = true
    expect([await send(page, 7), await send(page, 'b')]).toEqual(['409', '200'])
    expect(owner.additions).toHaveLength(2)
  })

  it.each([[undefined], ['x'.repeat(129)], [{}]])('runs again without a usable id (%o)', async (id) => {
    const { page, owner } = await talking(gateway)
    await send(page, id)
    await send(page, id)
    expect(owner.additions).toHaveLength(2)
  })

  it('is known among the last 20 only', async () => {
    const { page, owner } = await talking(gateway)
    for (let id = 0; id <= 20; id++) await send(page, id)
    await send(page, 20)
    expect(owner.additions).toHaveLength(21)
    await send(page, 0)
    expect(owner.additions).toHaveLength(22)
  })
})
