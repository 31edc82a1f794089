import pino from 'pino'
import { describe, expect, it } from 'vitest'
import { FakeClock } from '../core/clock.ts'
import type { Directory } from '../directory/directory.ts'
import type { Subscriber } from '../directory/model/callers.ts'
import type { DeviceRow } from '../directory/tables/devices.ts'
import { Push, type PushDeps, type PushOptions } from './push.ts'
import type { PushDeliveries } from './push-deliveries.ts'
import type { PushMessage } from './push-transport.ts'
import { deviceOf, openInvite } from './testing/push-servers.ts'

const pushKey = Buffer.alloc(32, 5).toString('base64')
const one = deviceOf('one', 'Android', 'd1')
const two = deviceOf('two', 'Desktop', 'd2')
const event = { event_type: 'webrtc.message', params: { method: 'verto.invite' } }
const bye = { event_type: 'webrtc.message', params: { method: 'verto.bye' } }
const notice = { callerName: 'Zoë', callerId: '+1555', withVideo: false, event }

/** Deliveries that a test lets come out; `by`: the device's id. */
class FakeDeliveries implements Pick<PushDeliveries, 'deliver' | 'takes' | 'running' | 'close'> {
  readonly running = 0
  readonly sent: PushMessage[] = []
  readonly overs: (AbortSignal | undefined)[] = []
  readonly #results = new Map<string, (taken: boolean) => void>()

  takes({ type }: DeviceRow): boolean {
    return type !== 'iOS'
  }

  deliver(message: PushMessage, over?: AbortSignal): Promise<boolean> {
    this.sent.push(message)
    this.overs.push(over)
    return new Promise((resolve) => this.#results.set(message.device.id, resolve))
  }

  async result(by: string, taken: boolean): Promise<void> {
    this.#results.get(by)?.(taken)
    await new Promise(setImmediate)
  }

  async close(): Promise<void> {}

  get story(): string[] {
    return this.sent.map(({ device, payload }) => `${payload.type} ${device.id}`)
  }
}

const make = (
  { devices = { of: async () => [one, two] }, ...options }: Partial<PushOptions & PushDeps> = {},
  subscriber: Partial<Subscriber> = { pushKey },
) => {
  const clock = new FakeClock()
  const deliveries = new FakeDeliveries()
  const push = new Push(
    { ringMs: 60_000, encrypt: true, whenOnline: false, ...options },
    {
      directory: { subscriber: () => subscriber } as unknown as Pick<Directory, 'subscriber'>,
      devices,
      deliveries: deliveries as unknown as PushDeliveries,
      clock,
      log: pino({ level: 'silent' }),
    },
  )
  return { clock, deliveries, push }
}

describe('devices are notified of a call', () => {
  it('if no browser is connected', async () => {
    const { push } = make()
    expect(await push.call('s', true)).toBeUndefined()
    expect(await push.call('s', false)).toBeDefined()
  })

  it('also if a browser is connected, by setting', async () => {
    expect(await make({ whenOnline: true }).push.call('s', true)).toBeDefined()
  })

  it.each<[string, Partial<PushDeps>, Partial<Subscriber>?]>([
    ['the subscriber has none', { devices: { of: async () => [] } }],
    ['no transport accepts any', { devices: { of: async () => [deviceOf('x', 'iOS')] } }],
    ['they cannot be read', { devices: { of: () => Promise.reject(new Error('the store is gone')) } }],
    ['the subscriber has no key', {}, {}],
    ['the subscriber may not sign in', {}, { pushKey, disabled: true }],
  ])('not if %s', async (_what, more, subscriber) => {
    expect(await make(more, subscriber).push.call('s', false)).toBeUndefined()
  })

  it('all of them, encrypted with the key of the subscriber, and until the ring time is over', async () => {
    const { clock, deliveries, push } = make()
    const call = await push.call('s', false)
    void call!.invite(notice)
    expect(deliveries.story).toEqual(['call_invite d1', 'call_invite d2'])
    const [{ payload, expiresAt }] = deliveries.sent as [PushMessage]
    expect(expiresAt).toBe(clock.now() + 60_000)
    expect(payload).toMatchObject({ encryption_type: 'aes_256_gcm', incoming_caller_name: 'Zoë' })
    expect(await openInvite(payload, pushKey)).toEqual(event)
  })

  it('in the clear, by setting', async () => {
    const { deliveries, push } = make({ encrypt: false })
    void (await push.call('s', false))!.invite(notice)
    expect(deliveries.sent[0]?.payload.encryption_type).toBe('none')
  })

  it('with the result as soon as one notification is accepted, or all have failed', async () => {
    const { deliveries, push } = make()
    const first = (await push.call('s', false))!.invite(notice)
    await deliveries.result('d2', true)
    expect(await first).toBe(true)
    const second = (await push.call('s', false))!.invite(notice)
    await deliveries.result('d1', false)
    await deliveries.result('d2', false)
    expect(await second).toBe(false)
  })
})

describe('devices are notified of the end of a call', () => {
  it('if they were notified of the call, once, under the same id', async () => {
    const { deliveries, push } = make()
    const call = (await push.call('s', false))!
    void call.invite(notice)
    await deliveries.result('d1', true)
    await deliveries.result('d2', false)
    call.cancel(bye)
    call.cancel(bye)
    await new Promise(setImmediate)
    expect(deliveries.story).toEqual(['call_invite d1', 'call_invite d2', 'cancel d1'])
    const [first, , last] = deliveries.sent as [PushMessage, PushMessage, PushMessage]
    expect(last.payload.notification_uuid).toBe(first.payload.notification_uuid)
    expect(await openInvite(last.payload, pushKey)).toEqual(bye)
  })

  it('after the notification in progress, which is not retried', async () => {
    const { clock, deliveries, push } = make()
    const call = (await push.call('s', false))!
    void call.invite(notice)
    clock.advance(59_000)
    call.cancel(bye)
    expect(deliveries.overs.map((over) => over?.aborted)).toEqual([true, true])
    expect(deliveries.story).toHaveLength(2)
    await deliveries.result('d2', true)
    expect(deliveries.story.at(-1)).toBe('cancel d2')
    // Near the end of the ring time, a few attempts are still made.
    expect(deliveries.sent.at(-1)?.expiresAt).toBe(clock.now() + 10_000)
  })

  it('not before they are notified of the call', async () => {
    const { deliveries, push } = make()
    ;(await push.call('s', false))!.cancel(bye)
    expect(deliveries.sent).toEqual([])
  })
})
