import pino from 'pino'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { FakeClock } from '../core/clock.ts'
import { Metrics } from '../core/metrics.ts'
import { PushDeliveries } from './push-deliveries.ts'
import { PushUnreachable } from './push-http.ts'
import type { PushOutcome, PushTransport } from './push-transport.ts'
import { deviceOf, messageTo } from './testing/push-servers.ts'

/** Transport with these outcomes in order; the last one repeats. */
class FakeTransport implements PushTransport {
  readonly name = 'fcm'
  readonly #answers: (PushOutcome | Error | 'silent')[]
  sent: number[] = []
  closed = 0

  constructor(answers: (PushOutcome | Error | 'silent')[]) {
    this.#answers = answers
  }

  takes({ type }: { readonly type: string }): boolean {
    return type === 'Android'
  }

  async send(_message: unknown, signal: AbortSignal): Promise<PushOutcome> {
    this.sent.push(clock.now() - began)
    const answer = this.#answers.length > 1 ? this.#answers.shift()! : this.#answers[0]!
    if (answer === 'silent')
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(new PushUnreachable('connect')))
      })
    if (answer instanceof Error) throw answer
    return answer
  }

  close(): void {
    this.closed++
  }
}

const began = 1_700_000_000_000
const later: PushOutcome = { kind: 'later', reason: 'status-503' }
let clock: FakeClock
let metrics: Metrics
let removed: string[]
let lines: string[]
/** Result of the store. */
let remove: (id: string) => Promise<boolean>
let has: () => Promise<boolean>

beforeEach(() => {
  clock = new FakeClock(began)
  metrics = new Metrics()
  removed = []
  lines = []
  has = async () => true
  remove = async (id) => {
    removed.push(id)
    return true
  }
})

const make = (...answers: (PushOutcome | Error | 'silent')[]) => {
  const transport = new FakeTransport(answers)
  const devices = { has: () => has(), remove: (_subscriber: string, id: string) => remove(id) }
  const log = pino({ level: 'trace' }, { write: (line: string) => lines.push(line) })
  const deliveries = new PushDeliveries({ transports: [transport], devices, clock, log, metrics })
  return { transport, deliveries }
}

const message = (subscriber_id = 'subscriber-1') =>
  messageTo({ ...deviceOf('a-secret-token', 'Android'), subscriber_id }, clock.now())

/** Advances the clock second by second while promises settle. */
const pass = async (seconds: number) => {
  for (let i = 0; i < seconds; i++) {
    await new Promise(setImmediate)
    clock.advance(1000)
  }
  await new Promise(setImmediate)
}

const counted = async (name: string) =>
  (await metrics.registry.getSingleMetric(name)!.get()).values.map(({ labels, value }) => [
    labels.outcome ?? labels.transport,
    value,
  ])

describe('a notification', () => {
  it('is sent once if the service accepts it', async () => {
    const { deliveries, transport } = make({ kind: 'sent' })
    expect(await deliveries.deliver(message())).toBe(true)
    expect([transport.sent, clock.running, deliveries.running]).toEqual([[0], 0, 0])
    expect(await counted('trunkline_pushes_total')).toEqual([['sent', 1]])
  })

  it('is retried at growing intervals until the service accepts it', async () => {
    const unreachable = new PushUnreachable('connect')
    const { deliveries, transport } = make(later, unreachable, later, later, later, { kind: 'sent' })
    const delivered = deliveries.deliver(message())
    await pass(25)
    expect(await delivered).toBe(true)
    expect(transport.sent).toEqual([0, 1000, 3000, 7000, 15_000, 23_000])
  })

  it('is retried at the time that the service names', async () => {
    const { deliveries, transport } = make({ ...later, afterMs: 12_000 }, { kind: 'sent' })
    const delivered = deliveries.deliver(message())
    await pass(12)
    expect(await delivered).toBe(true)
    expect(transport.sent).toEqual([0, 12_000])
  })

  it('is not retried after its expiry', async () => {
    const { deliveries, transport } = make(later)
    const delivered = deliveries.deliver(message())
    await pass(30)
    expect(await delivered).toBe(false)
    expect(transport.sent.at(-1)).toBeLessThan(30_000)
    expect(clock.running).toBe(0)
    expect(await counted('trunkline_pushes_total')).toEqual([['status-503', 1]])
  })

  it('is not retried after the end of the call', async () => {
    const { deliveries, transport } = make(later)
    const over = new AbortController()
    const delivered = deliveries.deliver(message(), over.signal)
    await pass(1)
    over.abort()
    expect(await delivered).toBe(false)
    await pass(10)
    expect([transport.sent, clock.running]).toEqual([[0, 1000], 0])
  })

  it('is not retried if the device was removed or has another owner', async () => {
    const { deliveries, transport } = make(later)
    const delivered = deliveries.deliver(message())
    await pass(1)
    has = async () => false
    await pass(10)
    expect(await delivered).toBe(false)
    expect([transport.sent, clock.running]).toEqual([[0, 1000], 0])
    expect(await counted('trunkline_pushes_total')).toEqual([['forgotten', 1]])
  })

  it('is retried if the device cannot be looked up', async () => {
    const { deliveries, transport } = make(later, { kind: 'sent' })
    has = () => Promise.reject(new Error('the store is gone'))
    const delivered = deliveries.deliver(message())
    await pass(1)
    expect(await delivered).toBe(true)
    expect(transport.sent).toEqual([0, 1000])
    expect(lines.join()).toContain('the store is gone')
  })

  it('is retried if an attempt times out', async () => {
    const { deliveries, transport } = make('silent', { kind: 'sent' })
    const delivered = deliveries.deliver(message())
    await pass(11)
    expect(await delivered).toBe(true)
    expect(transport.sent).toEqual([0, 11_000])
  })

  it.each(['address-refused', 'tls', 'request'])('is not retried after the failure %s', async (reason) => {
    const { deliveries, transport } = make(new PushUnreachable(reason))
    expect(await deliveries.deliver(message())).toBe(false)
    expect(transport.sent).toEqual([0])
    expect(removed).toEqual([])
  })

  it('is not retried after an internal error, which is logged', async () => {
    const { deliveries, transport } = make(new TypeError('a slip'))
    expect(await deliveries.deliver(message())).toBe(false)
    expect([transport.sent, deliveries.running]).toEqual([[0], 0])
    expect(await counted('trunkline_pushes_total')).toEqual([['error', 1]])
    expect(lines.join()).toContain('a slip')
  })

  it('is not sent to a device without a transport', async () => {
    const { deliveries, transport } = make({ kind: 'sent' })
    const device = deviceOf('x', 'iOS')
    expect(deliveries.takes(device)).toBe(false)
    expect(await deliveries.deliver(messageTo(device, clock.now()))).toBe(false)
    expect(transport.sent).toEqual([])
  })
})

describe('a device', () => {
  it('is removed if its token is gone, and its token is never logged', async () => {
    const { deliveries } = make({ kind: 'gone', reason: 'status-410', detail: 'Unregistered' })
    expect(await deliveries.deliver(message())).toBe(false)
    expect(removed).toEqual(['device-1'])
    expect(await counted('trunkline_push_tokens_removed_total')).toEqual([['fcm', 1]])
    expect(lines.join()).toContain('Unregistered')
    expect(lines.join()).not.toContain('a-secret-token')
  })

  it('that cannot be removed causes no failure', async () => {
    const { deliveries } = make({ kind: 'gone', reason: 'status-410' })
    remove = () => Promise.reject(new Error('the store is gone'))
    expect(await deliveries.deliver(message())).toBe(false)
    expect(lines.join()).toContain('the store is gone')
  })

  it('stays if the service rejects the notification', async () => {
    const { deliveries } = make({ kind: 'refused', reason: 'status-403' })
    expect(await deliveries.deliver(message())).toBe(false)
    expect(removed).toEqual([])
  })
})

describe('notifications in progress', () => {
  it('have a maximum number', async () => {
    const { deliveries, transport } = make('silent')
    for (let i = 0; i < 2000; i++) void deliveries.deliver(message(`subscriber-${i % 20}`))
    expect(await deliveries.deliver(message('one more'))).toBe(false)
    await new Promise(setImmediate)
    expect([deliveries.running, transport.sent.length]).toEqual([2000, 2000])
    expect(await counted('trunkline_pushes_total')).toEqual([['too-many', 1]])
    const closed = deliveries.close(2000)
    clock.advance(2000)
    await closed
    await vi.waitFor(() => expect(deliveries.running).toBe(0))
  })

  it('have a maximum number per subscriber, so that others are not affected', async () => {
    const { deliveries, transport } = make(...Array<'silent'>(100).fill('silent'), { kind: 'sent' })
    for (let i = 0; i < 100; i++) void deliveries.deliver(message())
    expect(await deliveries.deliver(message())).toBe(false)
    expect(await counted('trunkline_pushes_total')).toEqual([['too-many', 1]])
    expect(await deliveries.deliver(message('another'))).toBe(true)
    expect(transport.sent).toHaveLength(101)
    const closed = deliveries.close(0)
    clock.advance(0)
    await closed
    await vi.waitFor(() => expect(deliveries.running).toBe(0))
  })

  it('may finish for a moment when the gateway closes, and are then aborted', async () => {
    const { deliveries, transport } = make('silent')
    const delivered = deliveries.deliver(message())
    let closed = false
    const closing = deliveries.close(2000).then(() => {
      closed = true
    })
    await pass(1)
    expect(closed).toBe(false)
    await pass(1)
    await closing
    expect(await delivered).toBe(false)
    expect([transport.closed, clock.running]).toEqual([1, 0])
    expect(await deliveries.deliver(message())).toBe(false)
    await deliveries.close(2000)
    expect(transport.closed).toBe(1)
  })
})
