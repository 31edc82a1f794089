import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Code } from '../../core/errors/catalogue.ts'
import { dialled, settled, talking } from './testing/call-setup.ts'
import { SubscriberTestGateway } from './testing/subscriber-test-gateway.ts'

let gateway: SubscriberTestGateway

beforeEach(async () => {
  gateway = await SubscriberTestGateway.start()
})
afterEach(() => gateway.close())

describe('the history of an outgoing call', () => {
  it('has the dialed address, the times and the result, and is reported to the page', async () => {
    const { page } = await talking(gateway)
    const answeredAt = gateway.clock.now()
    gateway.clock.advance(5_000)
    await page.verto('verto.bye', 'c1')
    expect(await page.event('subscriber.call')).toEqual({ id: gateway.history[0]?.id })
    expect(gateway.history).toEqual([
      expect.objectContaining({
        subscriber_id: gateway.subscriber('alice').id,
        project_id: 'p1',
        call_id: 'c1',
        direction: 'outbound',
        name: 'bob',
        number: '/public/bob',
        result: 'answered',
        code: 'normal',
        answered_at: answeredAt,
        ended_at: answeredAt + 5_000,
      }),
    ])
  })

  it.each<[Code, string]>([
    ['busy', 'busy'],
    ['declined', 'declined'],
    ['no_answer', 'no_answer'],
    ['not_online', 'no_answer'],
    ['not_permitted', 'failed'],
  ])('that ends with %s has the result %s', async (code, result) => {
    const { leg, page } = await dialled(gateway)
    leg.end({ code })
    await settled(page)
    expect(gateway.history).toMatchObject([{ result, code, answered_at: null }])
  })

  it('that the gateway rejects at once has the result failed', async () => {
    const page = await gateway.signedIn()
    await page.dial('c1', '+15551230001', 'bad')
    await page.message('verto.bye')
    expect(gateway.history).toMatchObject([
      { direction: 'outbound', number: '+15551230001', result: 'failed', call_id: 'c1' },
    ])
  })

  it('of a guest is not kept', async () => {
    const page = await gateway.page()
    await page.connect(await gateway.limitedToken('guest'))
    await page.dial('c1', '/public/bob')
    await page.event('call.state')
    await page.verto('verto.bye', 'c1')
    await vi.waitFor(() => expect(gateway.arrivals.arrived[0]!.arrival.leg.isEnded).toBe(true))
    expect(gateway.history).toEqual([])
  })
})

describe('the history of an incoming call', () => {
  it('that no page can answer is a missed call of the caller', async () => {
    const { leg } = gateway.call()
    await vi.waitFor(() => expect(leg.isEnded).toBe(true))
    expect(gateway.history).toMatchObject([
      {
        call_id: leg.id,
        direction: 'inbound',
        name: 'Carrier Caller',
        number: '+15551230001',
        result: 'missed',
        code: 'not_online',
      },
    ])
  })

  it('that the page declines is declined', async () => {
    const page = await gateway.online()
    const { leg } = gateway.call()
    await page.message('verto.invite')
    await page.verto('verto.bye', leg.id, { cause: 'CALL_REJECTED', causeCode: 21 })
    expect(gateway.history).toMatchObject([{ result: 'declined' }])
  })

  it.each<[Code, string]>([
    ['canceled', 'missed'],
    ['answered_elsewhere', 'answered_elsewhere'],
    ['internal', 'failed'],
  ])('that ends with %s has the result %s', async (code, result) => {
    const page = await gateway.online()
    const { leg } = gateway.call()
    await page.message('verto.invite')
    leg.end({ code })
    expect(gateway.history).toMatchObject([{ result, code }])
  })

  it('hides a caller who withholds the number', async () => {
    const from = {
      uri: 'sip:+15551230001@carrier.example',
      user: '+15551230001',
      name: 'Carol',
      private: true,
    }
    const { leg } = gateway.call('alice', { from })
    await vi.waitFor(() => expect(leg.isEnded).toBe(true))
    expect(gateway.history).toMatchObject([{ name: 'Anonymous', number: 'anonymous' }])
  })

  it('of a SIP caller without a number has the SIP URI', async () => {
    const from = { uri: 'sip:carol:secret@phones.example', user: 'carol', name: '' }
    const { leg } = gateway.call('alice', { from })
    await vi.waitFor(() => expect(leg.isEnded).toBe(true))
    expect(gateway.history).toMatchObject([{ name: 'carol', number: 'sip:carol@phones.example' }])
  })
})

describe('the history of a call in progress', () => {
  it('is stored at the start and at the answer, as the call ends if the gateway crashes', async () => {
    const { leg } = await talking(gateway)
    const startedAt = leg.times.startedAt
    const shared = { call_id: 'c1', direction: 'outbound', code: 'interrupted', started_at: startedAt }
    expect(gateway.historyInProgress).toMatchObject([
      { ...shared, result: 'failed', answered_at: null, ended_at: startedAt },
      { ...shared, result: 'answered', answered_at: leg.times.answeredAt, ended_at: leg.times.answeredAt },
    ])
    expect(gateway.history).toEqual([])
  })

  it('is a missed call while it rings', async () => {
    const page = await gateway.online()
    gateway.call()
    await page.message('verto.invite')
    expect(gateway.historyInProgress).toMatchObject([
      { direction: 'inbound', result: 'missed', code: 'interrupted' },
    ])
  })
})
