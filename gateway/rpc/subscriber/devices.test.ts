import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { DeviceCall } from '../../push/device-call.ts'
import type { CallNotice } from '../../push/push-payload.ts'
import type { AnyFrame } from '../testing/test-browser.ts'
import { gone, settled } from './testing/call-setup.ts'
import { SubscriberTestGateway, type TestPage } from './testing/subscriber-test-gateway.ts'

let gateway: SubscriberTestGateway
/** Whether the subscriber was connected when devices were asked for. */
let asked: boolean[]
let notices: Omit<CallNotice, 'type' | 'id'>[]
let cancelled: AnyFrame[]
/** Whether devices are notified while a page is connected. */
let always: boolean
/** Whether a service accepts the notification. */
let taken: PromiseWithResolvers<boolean>

const devices = {
  invite: (notice: Omit<CallNotice, 'type' | 'id'>) => {
    notices.push(notice)
    return taken.promise
  },
  cancel: (event: AnyFrame) => {
    cancelled.push(event.params as AnyFrame)
  },
}

beforeEach(async () => {
  asked = []
  notices = []
  cancelled = []
  always = false
  taken = Promise.withResolvers()
  gateway = await SubscriberTestGateway.start()
  gateway.stopGateway()
  gateway.push = {
    call: async (_subscriber, connected) => {
      asked.push(connected)
      return connected && !always ? undefined : (devices as unknown as DeviceCall)
    },
  }
  gateway.startGateway()
})
afterEach(() => gateway.close())

/** Lets a call ring on devices only. */
const ringing = async () => {
  const call = gateway.call()
  await vi.waitFor(() => expect(notices).toHaveLength(1))
  return call
}

/** Request that the SDK's `handlePushNotification` sends for a push notification. */
const handled = async (page: TestPage): Promise<string> => {
  const event = notices[0]!.event as { params: { params: { callID: string } }; node_id: string }
  const { callID } = event.params.params
  const params = { sessid: callID, eventChannel: [] }
  const message = { jsonrpc: '2.0', id: 1, method: 'verto.subscribe', params }
  await page.ask('webrtc.verto', { callID, node_id: event.node_id, subscribe: [], message })
  return callID
}

describe('a call to a subscriber without a page', () => {
  it('rings, and notifies devices with the invite of a page', async () => {
    const { leg, owner } = await ringing()
    expect(asked).toEqual([false])
    expect(owner.reports).toEqual(['early'])
    expect(notices).toEqual([
      {
        callerName: 'Carrier Caller',
        callerId: '+15551230001',
        withVideo: false,
        event: {
          event_type: 'webrtc.message',
          node_id: 'node-1',
          params: {
            jsonrpc: '2.0',
            id: 1,
            method: 'verto.invite',
            params: {
              callID: leg.id,
              sdp: 'offer of the gateway',
              display_direction: 'outbound',
              caller_id_name: 'Carrier Caller',
              caller_id_number: '+15551230001',
              callee_id_name: 'Alice',
              callee_id_number: '/public/alice',
            },
          },
        },
      },
    ])
  })

  it('is answered by a page that a device opened, and other devices are notified of the end', async () => {
    const { leg, owner } = await ringing()
    taken.resolve(true)
    const page = await gateway.signedIn()
    const callId = await handled(page)
    await page.verto('verto.answer', callId, { sdp: 'mine' })
    await page.message('verto.answer')
    expect(owner.reports).toEqual(['early', 'answered'])
    expect(cancelled).toMatchObject([{ method: 'verto.bye', params: { callID: leg.id, cause: 'LOSE_RACE' } }])
    await page.verto('verto.bye', callId)
    expect(cancelled).toHaveLength(1)
    expect(owner.reports.at(-1)).toBe('ended normal by far')
  })

  it('also rings on a page that comes online', async () => {
    const { leg } = await ringing()
    const page = await gateway.online()
    expect(await page.message('verto.invite')).toMatchObject({ callID: leg.id })
    await handled(page)
    await settled(page)
    expect(page.story).toEqual(['verto.invite'])
  })

  it('ends if that page declines', async () => {
    const { owner } = await ringing()
    const page = await gateway.signedIn()
    const callId = await handled(page)
    await page.verto('verto.bye', callId, { cause: 'USER_BUSY', causeCode: '17' })
    expect(owner.reports).toEqual(['early', 'ended busy by far'])
    expect(cancelled).toMatchObject([{ params: { cause: 'USER_BUSY' } }])
  })

  it('rings on if that page is lost', async () => {
    const { leg } = await ringing()
    const page = await gateway.signedIn()
    await handled(page)
    await gone(gateway, page)
    gateway.clock.advance(20_000)
    expect(gateway.presence.browsers).toBe(0)
    expect(leg.isEnded).toBe(false)
  })

  it('is cancelled on the devices when the caller cancels', async () => {
    const { leg } = await ringing()
    leg.end({ code: 'canceled' })
    expect(cancelled).toMatchObject([
      { method: 'verto.bye', params: { callID: leg.id, cause: 'ORIGINATOR_CANCEL', causeCode: 16 } },
    ])
    expect(gateway.webrtc.last.closed).toBe(true)
    // A device that was woken too late receives the end.
    const page = await gateway.signedIn()
    await handled(page)
    expect(await page.message('verto.bye')).toMatchObject({ callID: leg.id })
  })

  it('ends if no device can be notified', async () => {
    const { owner } = await ringing()
    taken.resolve(false)
    await vi.waitFor(() => expect(owner.reports).toEqual(['early', 'ended not_online by far']))
    expect(cancelled).toEqual([])
  })

  it('continues if no device can be notified but a page came online', async () => {
    const { leg } = await ringing()
    const page = await gateway.online()
    await page.message('verto.invite')
    taken.resolve(false)
    await settled(page)
    expect(leg.isEnded).toBe(false)
  })

  it('continues if it was answered before a service rejected the notification', async () => {
    const { leg, owner } = await ringing()
    const page = await gateway.online()
    await page.message('verto.invite')
    await page.verto('verto.answer', leg.id, { sdp: 'mine' })
    await page.message('verto.answer')
    taken.resolve(false)
    await settled(page)
    expect(owner.reports).toEqual(['early', 'answered'])
  })

  it('that ends while its devices are looked up notifies no device', async () => {
    const { leg } = gateway.call()
    await Promise.resolve()
    leg.end({ code: 'canceled' })
    await settled(await gateway.signedIn())
    expect([notices, cancelled, gateway.webrtc.made]).toEqual([[], [], []])
  })
})

describe('a call to a subscriber with a page', () => {
  it('that is connected rings only there', async () => {
    const page = await gateway.online()
    gateway.call()
    await page.message('verto.invite')
    expect([asked, notices]).toEqual([[true], []])
  })

  it('that lost its connection notifies devices too', async () => {
    const page = await gateway.online()
    await gone(gateway, page)
    const { leg } = await ringing()
    expect(asked).toEqual([false])
    gateway.clock.advance(20_000)
    expect(leg.isEnded).toBe(false)
  })

  it('rings there and on devices if so configured', async () => {
    always = true
    const page = await gateway.online()
    const { leg, owner } = await ringing()
    await page.message('verto.invite')
    taken.resolve(false)
    await settled(page)
    expect(leg.isEnded).toBe(false)
    const second = gateway.call()
    taken = Promise.withResolvers()
    await vi.waitFor(() => expect(notices).toHaveLength(2))
    await page.verto('verto.answer', second.leg.id, { sdp: 'mine' })
    await vi.waitFor(() => expect(second.owner.reports).toEqual(['early', 'answered']))
    expect(cancelled).toMatchObject([{ params: { callID: second.leg.id, cause: 'LOSE_RACE' } }])
    await page.verto('verto.bye', leg.id, { cause: 'USER_BUSY', causeCode: '17' })
    expect(owner.reports).toEqual(['early', 'ended busy by far'])
  })
})
