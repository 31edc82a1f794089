import { beforeEach, describe, expect, it } from 'vitest'
import type { StatusCallback } from '../../handlers/handler.ts'
import { Metrics } from '../core/metrics.ts'
import { BestEffortCallbacks } from './best-effort-callbacks.ts'

const event = (text: string, url = 'https://x.example/debug'): StatusCallback => ({
  kind: 'agent-debug',
  url,
  method: 'POST',
  body: { contentType: 'application/json', text },
  isBestEffort: true,
})
const from = (callId: string, projectId = 'p') => ({ projectId, callId })
const settle = () => new Promise(setImmediate)

describe('callbacks of best effort', () => {
  let callbacks: BestEffortCallbacks
  let metrics: Metrics
  /** Requests that have no answer yet. */
  let open: { text: string; answer(status: number | Error): void }[]

  beforeEach(() => {
    open = []
    metrics = new Metrics()
    callbacks = new BestEffortCallbacks({
      metrics,
      http: {
        deliver: (request) =>
          new Promise((resolve, reject) => {
            const text = request.body?.text ?? ''
            const answer = (status: number | Error) =>
              typeof status === 'number' ? resolve(status) : reject(status)
            open.push({ text, answer })
          }),
      },
    })
  })

  const texts = () => open.map(({ text }) => text)
  const answer = async (status: number | Error = 200) => {
    open.at(-1)?.answer(status)
    await settle()
  }
  const outcomes = async () => {
    const { values } = await metrics.callbacks.get()
    return Object.fromEntries(values.map(({ labels, value }) => [labels.outcome, value]))
  }

  it('are sent one after the other for each call, and once', async () => {
    for (const text of ['a', 'b', 'c']) callbacks.add(from('c1'), event(text))
    callbacks.add(from('c2'), event('other'))
    expect(texts()).toEqual(['a', 'other'])
    open[0]?.answer(503)
    await settle()
    expect(texts()).toEqual(['a', 'other', 'b'])
    await answer(new Error('gone'))
    await answer(200)
    open[1]?.answer(204)
    await settle()
    expect(texts()).toEqual(['a', 'other', 'b', 'c'])
    expect([callbacks.waiting, await outcomes()]).toEqual([0, { delivered: 2, 'given-up': 2 }])
  })

  it('are dropped beyond a number for one call, and others are not', async () => {
    for (let i = 0; i < 600; i++) callbacks.add(from('c1'), event(String(i)))
    callbacks.add(from('c2'), event('other'))
    expect([callbacks.waiting, await outcomes()]).toEqual([501, { dropped: 100 }])
    expect(texts()).toEqual(['0', 'other'])
  })

  it('are dropped beyond a size for one call', async () => {
    for (let i = 0; i < 3; i++) callbacks.add(from('c1'), event('x'.repeat(400_000)))
    expect([callbacks.waiting, await outcomes()]).toEqual([2, { dropped: 1 }])
    await answer()
    callbacks.add(from('c1'), event('x'.repeat(400_000)))
    expect(await outcomes()).toEqual({ delivered: 1, dropped: 1 })
  })

  it('are dropped beyond a size for one project, and those of others are not', async () => {
    const large = event('x'.repeat(1_000_000))
    for (let i = 0; i < 5; i++) callbacks.add(from(`c${i}`), large)
    callbacks.add(from('c6', 'q'), large)
    expect([callbacks.waiting, await outcomes()]).toEqual([5, { dropped: 1 }])
    await answer()
    callbacks.add(from('c7', 'q'), large)
    open[0]?.answer(200)
    await settle()
    callbacks.add(from('c8'), large)
    expect([callbacks.waiting, await outcomes()]).toEqual([5, { delivered: 2, dropped: 1 }])
  })

  it('are dropped beyond a number of all calls', async () => {
    for (let i = 0; i < 10_001; i++) callbacks.add(from(`c${i}`), event('a'))
    expect([callbacks.waiting, await outcomes()]).toEqual([10_000, { dropped: 1 }])
  })

  it('end with the gateway, except those that are being sent', async () => {
    for (const text of ['a', 'b']) callbacks.add(from('c1'), event(text))
    callbacks.close()
    callbacks.add(from('c1'), event('late'))
    await answer()
    expect([texts(), callbacks.waiting]).toEqual([['a'], 0])
    expect(await outcomes()).toEqual({ delivered: 1, dropped: 2 })
  })
})
