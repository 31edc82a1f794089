import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { gone, settled } from './testing/call-setup.ts'
import { SubscriberTestGateway, type TestPage } from './testing/subscriber-test-gateway.ts'

let gateway: SubscriberTestGateway

beforeEach(async () => {
  gateway = await SubscriberTestGateway.start()
})
afterEach(() => gateway.close())

const lost = { cause: 'LOSE_RACE', causeCode: 26 }
const declined = { cause: 'CALL_REJECTED', causeCode: '21' }

interface Known {
  readonly page: TestPage
  readonly protocol: unknown
}

/** Page that receives calls, with what identifies it after a reconnection. */
const online = async (): Promise<Known> => {
  const page = await gateway.page()
  const { protocol } = await page.connect(await gateway.token())
  await page.ask('subscriber.online')
  return { page, protocol }
}

const back = async ({ protocol }: Known): Promise<TestPage> => {
  const page = await gateway.page()
  await page.connect(await gateway.token(), { protocol })
  return page
}

/** Lets a call ring on two pages. */
const ringing = async () => {
  const first = await online()
  const second = await online()
  const call = gateway.call()
  for (const { page } of [first, second]) await page.message('verto.invite')
  await settled(first.page, second.page)
  return { first, second, ...call }
}

const answer = (page: TestPage, callId: string, sdp: string) => page.verto('verto.answer', callId, { sdp })

/** Returns how often a page received an event. */
const countOf = (page: TestPage, what: string): number => page.story.filter((word) => word === what).length

describe('two answers of pages', () => {
  it('at the same time: one is accepted, the other page receives a bye, and the leg is answered once', async () => {
    const { first, second, leg, owner } = await ringing()
    await Promise.all([answer(first.page, leg.id, 'mine'), answer(second.page, leg.id, 'mine too')])
    await settled(first.page, second.page)
    expect(owner.reports).toEqual(['early', 'answered'])
    expect(gateway.webrtc.last.accepted).toHaveLength(1)
    const [winner, loser] =
      gateway.webrtc.last.accepted[0] === 'mine' ? [first.page, second.page] : [second.page, first.page]
    expect([countOf(winner, 'verto.answer'), countOf(winner, 'verto.bye')]).toEqual([1, 0])
    expect(countOf(loser, 'verto.answer')).toBe(0)
    expect(await loser.message('verto.bye')).toEqual({ callID: leg.id, ...lost })
  })

  it('one of them late: its page receives a bye, and nothing changes', async () => {
    const { first, second, leg, owner } = await ringing()
    await answer(first.page, leg.id, 'mine')
    expect(await second.page.message('verto.bye')).toEqual({ callID: leg.id, ...lost })
    await answer(second.page, leg.id, 'mine too')
    expect(await second.page.message('verto.bye')).toEqual({ callID: leg.id, ...lost })
    await second.page.verto('verto.bye', leg.id, declined)
    expect(owner.reports).toEqual(['early', 'answered'])
    expect(countOf(first.page, 'verto.bye')).toBe(0)
  })

  it('of which the first is followed by the cancel of the caller', async () => {
    const { first, second, leg, owner } = await ringing()
    const answered = answer(first.page, leg.id, 'mine')
    leg.end({ code: 'canceled' })
    await answered
    await answer(second.page, leg.id, 'mine too')
    await settled(first.page, second.page)
    expect(owner.reports).toEqual(['early', 'ended canceled by us'])
    for (const { page } of [first, second])
      expect(await page.message('verto.bye')).toMatchObject({ callID: leg.id })
  })
})

describe('a page that declines', () => {
  it('leaves the call to the other page, and is never rung by it again', async () => {
    const { first, second, leg, owner } = await ringing()
    await first.page.verto('verto.bye', leg.id, declined)
    await first.page.ask('subscriber.online')
    await gone(gateway, first.page)
    const again = await back(first)
    await again.ask('subscriber.online')
    await settled(again, second.page)
    expect(countOf(first.page, 'verto.invite') + countOf(again, 'verto.invite')).toBe(1)
    await answer(second.page, leg.id, 'mine')
    expect(owner.reports).toEqual(['early', 'answered'])
    await settled(again)
    expect(countOf(again, 'verto.bye')).toBe(0)
  })

  it('for all pages ends the call on every page', async () => {
    const { first, second, leg, owner } = await ringing()
    await first.page.verto('verto.bye', leg.id, { cause: 'REJECT_ALL', causeCode: '825' })
    expect(await second.page.message('verto.bye')).toMatchObject({ callID: leg.id })
    await answer(second.page, leg.id, 'too late')
    await settled(second.page)
    expect(owner.reports).toEqual(['early', 'ended declined by far'])
  })

  it('ends the call if the other page was closed before, without waiting for it', async () => {
    const { first, second, leg, owner } = await ringing()
    await gone(gateway, second.page)
    await first.page.verto('verto.bye', leg.id, { cause: 'USER_BUSY', causeCode: '17' })
    expect(owner.reports).toEqual(['early', 'ended busy by far'])
    // The closed page may reconnect: it stops ringing, and does not ring again.
    const again = await back(second)
    expect(await again.message('verto.bye')).toMatchObject({ callID: leg.id })
    await again.ask('subscriber.online')
    await settled(again)
    expect(countOf(again, 'verto.invite')).toBe(0)
  })

  it('ends the call as soon as the other page is closed', async () => {
    const { first, second, leg, owner } = await ringing()
    await first.page.verto('verto.bye', leg.id, declined)
    expect(owner.reports).toEqual(['early'])
    await gone(gateway, second.page)
    expect(owner.reports).toEqual(['early', 'ended declined by far'])
  })

  it('leaves the call to a connected page, even if a third one was closed', async () => {
    const { first, second, leg, owner } = await ringing()
    const { page: third } = await online()
    await third.message('verto.invite')
    await gone(gateway, first.page)
    await third.verto('verto.bye', leg.id, declined)
    expect(owner.reports).toEqual(['early'])
    await answer(second.page, leg.id, 'mine')
    expect(owner.reports).toEqual(['early', 'answered'])
  })
})

describe('a page whose connection breaks while it rings', () => {
  it('can reconnect in time and answer, without a second invite', async () => {
    const { first, second, leg, owner } = await ringing()
    await gone(gateway, first.page)
    const again = await back(first)
    await settled(again)
    expect(countOf(again, 'verto.invite')).toBe(0)
    await answer(again, leg.id, 'mine')
    expect(await second.page.message('verto.bye')).toEqual({ callID: leg.id, ...lost })
    expect(owner.reports).toEqual(['early', 'answered'])
  })

  it('and that was reloaded rings again when it goes online', async () => {
    const { first, leg } = await ringing()
    await gone(gateway, first.page)
    const again = await back(first)
    await again.ask('subscriber.online')
    expect(await again.message('verto.invite')).toMatchObject({ callID: leg.id })
    await again.ask('subscriber.online')
    await settled(again)
    expect(countOf(again, 'verto.invite')).toBe(1)
    await answer(again, leg.id, 'mine')
    expect(leg.isAnswered).toBe(true)
  })

  it('receives over its next connection that another page answered', async () => {
    const { first, second, leg } = await ringing()
    await gone(gateway, first.page)
    await answer(second.page, leg.id, 'mine')
    const again = await back(first)
    expect(await again.message('verto.bye')).toEqual({ callID: leg.id, ...lost })
    await answer(again, leg.id, 'mine too')
    expect(await again.message('verto.bye')).toEqual({ callID: leg.id, ...lost })
  })

  it('and that has won receives the confirmation over its next connection', async () => {
    const { first, second, leg, owner } = await ringing()
    await answer(first.page, leg.id, 'mine')
    await gone(gateway, first.page)
    const again = await back(first)
    await settled(again, second.page)
    await again.verto('verto.bye', leg.id)
    expect(owner.reports).toEqual(['early', 'answered', 'ended normal by far'])
  })

  it('and never reconnects leaves the call to the other page', async () => {
    const { first, second, leg, owner } = await ringing()
    await gone(gateway, first.page)
    for (let i = 0; i < 20; i++) {
      gateway.clock.advance(1000)
      await settled(second.page)
    }
    await answer(second.page, leg.id, 'mine')
    expect(owner.reports).toEqual(['early', 'answered'])
  })
})

describe('a page that comes online late', () => {
  it('rings too, and can win', async () => {
    const { first, second, leg, owner } = await ringing()
    const { page: late } = await online()
    expect(await late.message('verto.invite')).toMatchObject({ callID: leg.id })
    await answer(late, leg.id, 'mine')
    for (const { page } of [first, second])
      expect(await page.message('verto.bye')).toEqual({ callID: leg.id, ...lost })
    expect(owner.reports).toEqual(['early', 'answered'])
  })

  it('after the answer or the end receives nothing', async () => {
    const { first, leg } = await ringing()
    await answer(first.page, leg.id, 'mine')
    const { page: late } = await online()
    await settled(late)
    expect(late.story).toEqual([])
  })

  it('after all others have declined does not ring', async () => {
    const { first, second, leg, owner } = await ringing()
    for (const { page } of [first, second]) await page.verto('verto.bye', leg.id, declined)
    const { page: late } = await online()
    await settled(late)
    expect(late.story).toEqual([])
    expect(owner.reports).toEqual(['early', 'ended declined by far'])
  })
})

describe('an unusable answer', () => {
  it.each([
    ['bad', 'bad_sdp', { cause: 'MANDATORY_IE_MISSING', causeCode: 96 }],
    ['no codec', 'no_common_codec', { cause: 'BEARERCAPABILITY_NOTIMPL', causeCode: 65 }],
  ])('(%s) ends the call for its page; the others ring on, and one answers', async (sdp, code, cause) => {
    const { first, second, leg, owner } = await ringing()
    await answer(first.page, leg.id, sdp)
    expect(await first.page.message('verto.bye')).toEqual({ callID: leg.id, ...cause })
    await settled(second.page)
    expect([owner.reports, countOf(second.page, 'verto.bye')]).toEqual([['early'], 0])
    expect(await gateway.metrics.text()).toContain(`rejections_total{code="${code}"} 1`)
    expect(gateway.lines.join()).toContain('answer of a browser rejected')
    await answer(second.page, leg.id, 'mine')
    await second.page.message('verto.answer')
    expect(owner.reports).toEqual(['early', 'answered'])
    expect(gateway.webrtc.last).toMatchObject({ accepted: ['mine'], closed: false })
    expect(countOf(first.page, 'verto.bye')).toBe(1)
  })

  it('does not ring its page again after a reconnection or when it goes online', async () => {
    const { first, second, leg } = await ringing()
    await answer(first.page, leg.id, 'bad')
    await first.page.ask('subscriber.online')
    await gone(gateway, first.page)
    const again = await back(first)
    await again.ask('subscriber.online')
    await settled(again, second.page)
    expect(countOf(first.page, 'verto.invite') + countOf(again, 'verto.invite')).toBe(1)
  })

  it('from the last ringing page ends the call', async () => {
    const { first, second, leg, owner } = await ringing()
    for (const { page } of [first, second]) await answer(page, leg.id, 'bad')
    await settled(first.page, second.page)
    expect(owner.reports).toEqual(['early', 'ended bad_sdp by far'])
    expect(gateway.webrtc.last.closed).toBe(true)
    for (const { page } of [first, second]) expect(countOf(page, 'verto.bye')).toBe(1)
  })

  it.each([
    ['before', 'busy'],
    ['after', 'busy'],
  ])('does not hide from the caller the decline of a person %s it', async (when, code) => {
    const { first, second, leg, owner } = await ringing()
    const busy = () => second.page.verto('verto.bye', leg.id, { cause: 'USER_BUSY', causeCode: '17' })
    if (when === 'before') await busy()
    await answer(first.page, leg.id, 'bad')
    if (when === 'after') await busy()
    await settled(first.page)
    expect(owner.reports).toEqual(['early', `ended ${code} by far`])
  })

  it('does not keep a late page from ringing', async () => {
    const { first, second, leg, owner } = await ringing()
    await answer(first.page, leg.id, 'bad')
    const { page: late } = await online()
    expect(await late.message('verto.invite')).toMatchObject({ callID: leg.id })
    await answer(late, leg.id, 'mine')
    expect(await second.page.message('verto.bye')).toEqual({ callID: leg.id, ...lost })
    expect(owner.reports).toEqual(['early', 'answered'])
  })

  it('that breaks the offered media ends the call for all pages', async () => {
    const { first, second, leg, owner } = await ringing()
    await answer(first.page, leg.id, 'no transport')
    for (const { page } of [first, second])
      expect(await page.message('verto.bye')).toMatchObject({ callID: leg.id })
    expect(owner.reports).toEqual(['early', 'ended internal by far'])
  })
})

describe('while an answer is processed', () => {
  const accepting = async () => {
    const call = await ringing()
    const { promise, resolve } = Promise.withResolvers<void>()
    gateway.webrtc.last.accepting = promise
    await answer(call.first.page, call.leg.id, 'mine')
    return { ...call, take: resolve }
  }

  it('a second answer waits, and its page then receives a bye', async () => {
    const { first, second, leg, owner, take } = await accepting()
    await answer(second.page, leg.id, 'mine too')
    await settled(second.page)
    expect(countOf(second.page, 'verto.bye')).toBe(0)
    take()
    expect(await second.page.message('verto.bye')).toEqual({ callID: leg.id, ...lost })
    await first.page.message('verto.answer')
    expect([owner.reports, countOf(first.page, 'verto.bye')]).toEqual([['early', 'answered'], 0])
  })

  it.each([
    ['hangs up', declined, 'declined'],
    ['gives no reason', {}, 'normal'],
  ])('a page that %s ends the call', async (_how, cause, code) => {
    const { first, second, leg, owner, take } = await accepting()
    await first.page.verto('verto.bye', leg.id, cause)
    take()
    await settled(first.page, second.page)
    expect(owner.reports).toEqual(['early', `ended ${code} by far`])
    expect([countOf(first.page, 'verto.answer'), countOf(second.page, 'verto.bye')]).toEqual([0, 1])
    expect(gateway.webrtc.last.closed).toBe(true)
  })

  it('a decline of another page does not prevent the answer', async () => {
    const { second, leg, owner, first, take } = await accepting()
    await second.page.verto('verto.bye', leg.id, declined)
    take()
    await first.page.message('verto.answer')
    expect([owner.reports, countOf(second.page, 'verto.bye')]).toEqual([['early', 'answered'], 0])
  })
})
