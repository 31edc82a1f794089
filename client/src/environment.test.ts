import { afterEach, describe, expect, it, vi } from 'vitest'
import { browserEnvironment } from './environment.ts'

afterEach(() => vi.unstubAllGlobals())

const page = () => {
  const window = new EventTarget()
  const document = Object.assign(new EventTarget(), { visibilityState: 'visible' })
  const connection = Object.assign(new EventTarget(), { type: 'wifi' })
  vi.stubGlobal('window', window)
  vi.stubGlobal('document', document)
  vi.stubGlobal('navigator', { connection })
  const events: string[] = []
  const end = browserEnvironment().watch({
    networkChanged: () => events.push('network'),
    awake: () => events.push('awake'),
  })
  const happens = (target: EventTarget, name: string) => {
    target.dispatchEvent(new Event(name))
    return events.splice(0)
  }
  return { window, document, connection, end, happens }
}

it('reports a network that is back, and one of another kind', () => {
  const { window, connection, happens } = page()
  expect(happens(window, 'online')).toEqual(['network'])
  // A change event without a new type: only the estimated speed of the network is new.
  expect(happens(connection, 'change')).toEqual([])
  connection.type = 'cellular'
  expect(happens(connection, 'change')).toEqual(['network'])
})

it('reports when the page becomes visible, and not when it is hidden', () => {
  const { window, document, happens } = page()
  expect(happens(window, 'pageshow')).toEqual(['awake'])
  document.visibilityState = 'hidden'
  expect(happens(document, 'visibilitychange')).toEqual([])
  document.visibilityState = 'visible'
  expect(happens(document, 'visibilitychange')).toEqual(['awake'])
})

it('reports nothing after it was stopped, or outside a page', () => {
  const { window, document, connection, end, happens } = page()
  end()
  connection.type = 'none'
  for (const [target, name] of [
    [window, 'online'],
    [connection, 'change'],
    [document, 'visibilitychange'],
  ] as const)
    expect(happens(target, name)).toEqual([])
  vi.unstubAllGlobals()
  browserEnvironment().watch({ networkChanged: () => {}, awake: () => {} })()
})

it('names the feature that a page without TLS or a phone lacks', async () => {
  vi.stubGlobal('navigator', {})
  const environment = browserEnvironment()
  await expect(environment.getUserMedia({ audio: true })).rejects.toMatchObject({ code: 'insecure_page' })
  await expect(environment.getDisplayMedia({})).rejects.toMatchObject({ code: 'unsupported' })
})

describe('a name that only one page can hold', () => {
  /** Returns a browser whose `locks.request` behaves like the argument. */
  const claiming = (request: (take: () => Promise<void>, signal: AbortSignal) => Promise<void>) => {
    const patience = new AbortController()
    vi.stubGlobal('AbortSignal', { timeout: () => patience.signal })
    const locks = {
      request: (_name: string, { signal }: { signal: AbortSignal }, take: () => Promise<void>) =>
        request(take, signal),
    }
    vi.stubGlobal('navigator', { locks })
    return { claimed: browserEnvironment().claim('a'), patience }
  }

  it('is held until it is released', async () => {
    let isOver = false
    const { claimed } = claiming((take) =>
      take().then(() => {
        isOver = true
      }),
    )
    const release = await claimed
    expect(isOver).toBe(false)
    release?.()
    await vi.waitFor(() => expect(isOver).toBe(true))
  })

  it.each<[string, (signal: AbortSignal) => unknown]>([
    ['with the reason of the signal', (signal) => signal.reason],
    ['as some browsers do', () => new DOMException('', 'AbortError')],
  ])('is not granted while another page holds it (%s)', async (_how, errorOf) => {
    const { claimed, patience } = claiming(
      (_take, signal) =>
        new Promise((_, reject) => signal.addEventListener('abort', () => reject(errorOf(signal)))),
    )
    patience.abort()
    expect(await claimed).toBeUndefined()
  })

  it('is granted if the browser has no locks', async () => {
    const { claimed } = claiming(() => Promise.reject(new DOMException('', 'SecurityError')))
    expect(await claimed).toBeTypeOf('function')
    vi.stubGlobal('navigator', {})
    expect(await browserEnvironment().claim('a')).toBeTypeOf('function')
  })
})
