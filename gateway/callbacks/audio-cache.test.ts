import type { Dispatcher } from 'undici'
import { describe, expect, it } from 'vitest'
import { fitForCache } from './audio-cache.ts'

const controller = {} as Dispatcher.DispatchController

/** Response after the interceptor. */
const through = (
  status: number,
  headers: Record<string, string | string[]>,
  chunks: readonly Buffer[] = [],
) => {
  const out: { headers?: unknown; chunks: Buffer[]; ended: boolean } = { chunks: [], ended: false }
  const dispatch = fitForCache((_options, handler) => {
    handler.onResponseStart?.(controller, status, headers)
    for (const chunk of chunks) handler.onResponseData?.(controller, chunk)
    handler.onResponseEnd?.(controller, {})
    return true
  })
  dispatch(
    { path: '/', method: 'GET' },
    {
      onResponseStart: (_controller, _status, given) => {
        out.headers = given
      },
      onResponseData: (_controller, chunk) => {
        out.chunks.push(chunk)
      },
      onResponseEnd: () => {
        out.ended = true
      },
    },
  )
  return out
}

describe('answers for the cache', () => {
  it.each([
    [200, {}, { 'cache-control': 'no-cache' }],
    [304, {}, {}],
    [200, { expires: 'x' }, { expires: 'x' }],
    [200, { 'cache-control': 'max-age=1' }, { 'cache-control': 'max-age=1' }],
    [200, { 'cache-control': ['public', 'max-age=1'] }, { 'cache-control': 'public, max-age=1' }],
    [
      200,
      { 'cache-control': 'max-age=1, Stale-While-Revalidate=9, public' },
      { 'cache-control': 'max-age=1,, public' },
    ],
    [200, { 'cache-control': 'stale-while-revalidate="9"' }, { 'cache-control': 'no-cache' }],
    [200, { 'cache-control': 'public' }, { 'cache-control': 'public, no-cache' }],
    [200, { 'cache-control': 'no-store' }, { 'cache-control': 'no-store' }],
  ])('say what it may do: %d %o', (status, headers, expected) => {
    expect(through(status, headers).headers).toEqual(expected)
  })

  it('come in few pieces, in order', () => {
    const bytes = Buffer.from(Array.from({ length: 100_000 }, (_, i) => i % 251))
    const single = Array.from({ length: 40_000 }, (_, i) => bytes.subarray(i, i + 1))
    const chunks = [...single, bytes.subarray(40_000, 90_000), bytes.subarray(90_000)]
    const out = through(200, {}, chunks)
    expect(out.chunks.length).toBeLessThan(6)
    expect(Buffer.concat(out.chunks).equals(bytes)).toBe(true)
    expect(out.ended).toBe(true)
  })
})
