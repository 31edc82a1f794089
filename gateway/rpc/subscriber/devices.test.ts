import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { DeviceCall } from '../../push/device-call.ts'
import type { CallNotice } from '../../push/push-payload.ts'
import type { AnyFrame } from '../testing/test-browser.ts'
import { gone, settled } from './testing/call-setup.ts'
import { SubscriberTestGateway, type TestPage } from './testing/subscriber-test-gateway.ts'

let gateway: SubscriberTestGateway
/** Whether the subscriber was connected when devices were asked for. */
let asked: boolean[]
let told: Omit<CallNotice, 'type' | 'id'>[]
let cancelled: AnyFrame[]
/** Devices are told although a page is connected. */
let always: boolean
/** Whether a service takes the notification. */
let taken: PromiseWithResolvers<boolean>

const devices = {
  invite: (notice: Omit<CallNotice, 'type' | 'id'>) => {
    told.push(notice)
    return taken.promise
  },
  cancel: (event: AnyFrame) => {
    cancelled.push(event.params as AnyFrame)
  },
}

beforeEach(async () => {
  asked = []
  told = []
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

/** A call that rings on devices alone. */
const ringing = async () => {
  const call = gateway.call()
  await vi.waitFor(() => expect(told).toHaveLength(1))
  return call
}

/** Request that the SDK's `handlePushNotification` sends for a push notification. */
const handled = async (page: TestPage): Promise<string> => {
  const event = told[0]!.event as { params: { params: { callID: string } }; node_id: string }
  const { callID } = event.params.params
  const params = { sessid: callID, eventChannel: [] }
  const message = { jsonrpc: '2.0', id: 1, method: 'verto.subscribe', params }
  await page.ask('webrtc.verto', { callID, node_id: event.node_id, subscribe: [], message })
  return callID
}

describe('a call to somebody who has no page open', () => {
  it('rings, and devices are told of it as a page would be', async () => {
    const { leg, owner } = await ringing()
    expect(asked).toEqual([false])
    expect(owner.told).toEqual(['early'])
    expect(told).toEqual([
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
              sdp: 'our offer',
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

  it('is answered by the page that a device opens for it, and other devices are told', async () => {
    const { leg, owner } = await ringing()
    taken.resolve(true)
    const page = await gateway.signedIn()
    const callId = await handled(page)
    await page.verto('verto.answer', callId, { sdp: 'mine' })
    await page.message('verto.answer')
    expect(owner.told).toEqual(['early', 'answered'])
    expect(cancelled).toMatchObject([{ method: 'verto.bye', params: { callID: leg.id, cause: 'LOSE_RACE' } }])
    await page.verto('verto.bye', callId)
    expect(cancelled).toHaveLength(1)
    expect(owner.told.at(-1)).toBe('ended normal by far')
  })

  it('rings on a page that comes online, too', async () => {
    const { leg } = await ringing()
    const page = await gateway.online()
    expect(await page.message('verto.invite')).toMatchObject({ callID: leg.id })
    await handled(page)
    await settled(page)
    expect(page.story).toEqual(['verto.invite'])
  })

  it('is over where that page declines', async () => {
    const { owner } = await ringing()
    const page = await gateway.signedIn()
    const callId = await handled(page)
    await page.verto('verto.bye', callId, { cause: 'USER_BUSY', causeCode: '17' })
    expect(owner.told).toEqual(['early', 'ended busy by far'])
    expect(cancelled).toMatchObject([{ params: { cause: 'USER_BUSY' } }])
  })

  it('goes on ringing where that page is lost', async () => {
    const { leg } = await ringing()
    const page = await gateway.signedIn()
    await handled(page)
    await gone(gateway, page)
    gateway.clock.advance(20_000)
    expect(gateway.presence.browsers).toBe(0)
    expect(leg.isEnded).toBe(false)
  })

  it('is cancelled on the devices when the caller gives up', async () => {
    const { leg } = await ringing()
    leg.end({ code: 'canceled' })
    expect(cancelled).toMatchObject([
      { method: 'verto.bye', params: { callID: leg.id, cause: 'ORIGINATOR_CANCEL', causeCode: 16 } },
    ])
    expect(gateway.webrtc.last.closed).toBe(true)
    // A device that was woken too late hears of it.
    const page = await gateway.signedIn()
    await handled(page)
    expect(await page.message('verto.bye')).toMatchObject({ callID: leg.id })
  })

  it('ends where none of the devices can be told', async () => {
    const { owner } = await ringing()
    taken.resolve(false)
    await vi.waitFor(() => expect(owner.told).toEqual(['early', 'ended not_online by far']))
    expect(cancelled).toEqual([])
  })

  it('goes on where none can be told, but a page has come', async () => {
    const { leg } = await ringing()
    const page = await gateway.online()
    await page.message('verto.invite')
    taken.resolve(false)
    await settled(page)
    expect(leg.isEnded).toBe(false)
  })

  it('goes on where it was answered before a service refused the notification', async () => {
    const { leg, owner } = await ringing()
    const page = await gateway.online()
    await page.message('verto.invite')
    await page.verto('verto.answer', leg.id, { sdp: 'mine' })
    await page.message('verto.answer')
    taken.resolve(false)
    await settled(page)
    expect(owner.told).toEqual(['early', 'answered'])
  })

  it('that ends while devices are asked for tells nobody', async () => {
    const { leg } = gateway.call()
    await Promise.resolve()
    leg.end({ code: 'canceled' })
    await settled(await gateway.signedIn())
    expect([told, cancelled, gateway.webrtc.made]).toEqual([[], [], []])
  })
})

describe('a call to somebody with a page', () => {
  it('that is connected is left to it', async () => {
    const page = await gateway.online()
    gateway.call()
    await page.message('verto.invite')
    expect([asked, told]).toEqual([[true], []])
  })

  it('that lost its connection is for devices too', async () => {
    const page = await gateway.online()
    await gone(gateway, page)
    const { leg } = await ringing()
    expect(asked).toEqual([false])
    gateway.clock.advance(20_000)
    expect(leg.isEnded).toBe(false)
  })

  it('rings on it and on devices, where the setting says so', async () => {
    always = true
    const page = await gateway.online()
    const { leg, owner } = await ringing()
    await page.message('verto.invite')
    taken.resolve(false)
    await settled(page)
    expect(leg.isEnded).toBe(false)
    const second = gateway.call()
    taken = Promise.withResolvers()
    await vi.waitFor(() => expect(told).toHaveLength(2))
    await page.verto('verto.answer', second.leg.id, { sdp: 'mine' })
    await vi.waitFor(() => expect(second.owner.told).toEqual(['early', 'answered']))
    expect(cancelled).toMatchObject([{ params: { callID: second.leg.id, cause: 'LOSE_RACE' } }])
    await page.verto('verto.bye', leg.id, { cause: 'USER_BUSY', causeCode: '17' })
    expect(owner.told).toEqual(['early', 'ended busy by far'])
  })
})
