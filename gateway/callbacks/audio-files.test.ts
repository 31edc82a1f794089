import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { FakeClock } from '../core/clock.ts'
import { TrunklineError } from '../core/errors/catalogue.ts'
import { AudioFiles } from './audio-files.ts'
import type { FetchLimits } from './customer-http.ts'

const reasonOf = async (promise: Promise<unknown>) => {
  const error = await promise.then(
    () => undefined,
    (e: unknown) => e,
  )
  if (!(error instanceof TrunklineError)) throw new Error(`no failure of ours: ${error}`)
  return error.facts.reason
}

describe('files', () => {
  let root: string
  let folder: string
  let files: AudioFiles

  beforeAll(() => {
    root = mkdtempSync(join(tmpdir(), 'audio-'))
    folder = join(root, 'sounds')
    mkdirSync(join(folder, 'de'), { recursive: true })
    mkdirSync(join(root, 'sounds-other'))
    writeFileSync(join(folder, 'hello there.wav'), 'hello')
    writeFileSync(join(folder, 'de', 'hallo.wav'), 'hallo')
    writeFileSync(join(folder, 'raw.ulaw'), 'raw')
    writeFileSync(join(folder, 'large.wav'), 'x'.repeat(11))
    writeFileSync(join(root, 'secret'), 'secret')
    writeFileSync(join(root, 'sounds-other', 'near.wav'), 'near')
    symlinkSync(join(root, 'secret'), join(folder, 'link.wav'))
    symlinkSync(join(folder, 'de'), join(folder, 'german'))
    execFileSync('mkfifo', [join(folder, 'pipe.wav')])
    const http = { bytes: async () => Promise.reject(new Error('not used')) }
    files = new AudioFiles({ http, folder, maxBytes: 10, timeoutMs: 1000, clock: new FakeClock() })
  })
  afterAll(() => rmSync(root, { recursive: true }))

  const read = async (url: string) => Buffer.from((await files.bytes(url)).bytes).toString()

  it('are read from the folder, by name and by whole path', async () => {
    expect(await read('file:de/hallo.wav')).toBe('hallo')
    expect(await read('file:hello%20there.wav')).toBe('hello')
    expect(await read(pathToFileURL(join(folder, 'hello there.wav')).href)).toBe('hello')
    expect(await read('file:german/hallo.wav')).toBe('hallo')
  })

  it('have a header where they are raw', async () => {
    expect(await read('file:raw.ulaw')).toMatch(/^RIFF.*raw$/s)
  })

  it.each([
    'file:../secret',
    'file:%2e%2e/secret',
    'file:de/../../secret',
    'file:..%2fsecret',
    'file:/etc/passwd',
    'file:///etc/passwd',
    'file://server/share/a.wav',
    'file:link.wav',
    'file:../sounds-other/near.wav',
    'file:missing.wav',
    'file:de',
    'file:pipe.wav',
    'file:',
    'file:%00',
    'file:%zz',
  ])('are not read anywhere else, or as anything else: %s', async (url) => {
    expect(await reasonOf(files.bytes(url))).toBe('file')
  })

  it('are refused when they are too large, and all of them without a folder', async () => {
    expect(await reasonOf(files.bytes('file:large.wav'))).toBe('too-large')
    const http = { bytes: async () => Promise.reject(new Error('not used')) }
    const none = new AudioFiles({ http, maxBytes: 10, timeoutMs: 1000, clock: new FakeClock() })
    expect(await reasonOf(none.bytes('file:hello%20there.wav'))).toBe('folder')
  })
})

describe('what servers have', () => {
  const setUp = () => {
    const asked: { url: string; limits: FetchLimits; answer: (text: string) => void; fail: () => void }[] = []
    const http = {
      bytes: (url: string, limits: FetchLimits) => {
        const { promise, resolve, reject } = Promise.withResolvers<{
          bytes: Uint8Array
          contentType: string
        }>()
        const answer = (text: string) => resolve({ bytes: Buffer.from(text), contentType: '' })
        asked.push({ url, limits, answer, fail: () => reject(new Error('gone')) })
        return promise
      },
    }
    const clock = new FakeClock()
    return { asked, clock, files: new AudioFiles({ http, maxBytes: 10, timeoutMs: 1000, clock }) }
  }
  const settle = () => new Promise((resolve) => setImmediate(resolve))

  it('is fetched by one request ahead of its equals, which the cache answers then', async () => {
    const { asked, files } = setUp()
    const all = [files.bytes('https://a.example/x'), files.bytes('https://a.example/x')]
    const other = files.bytes('https://a.example/y')
    await settle()
    expect(asked.map(({ url }) => url)).toEqual(['https://a.example/x', 'https://a.example/y'])
    expect([asked[0]!.limits, files.running]).toEqual([{ maxBytes: 10, timeoutMs: 1000 }, 2])
    asked[0]!.answer('one')
    asked[1]!.answer('other')
    await other
    await settle()
    asked[2]!.answer('two')
    expect((await Promise.all(all)).map(({ bytes }) => String(bytes))).toEqual(['one', 'two'])
    expect(files.running).toBe(0)
  })

  it('is fetched by the others where the first one fails, and not by those who gave up', async () => {
    const { asked, files } = setUp()
    const controller = new AbortController()
    const first = files.bytes('https://a.example/x')
    const second = files.bytes('https://a.example/x', controller.signal)
    const third = files.bytes('https://a.example/x')
    await settle()
    controller.abort()
    await settle()
    expect(asked[1]!.limits.signal?.aborted).toBe(true)
    asked[1]!.fail()
    await expect(second).rejects.toThrow('gone')
    asked[0]!.fail()
    await expect(first).rejects.toThrow('gone')
    await settle()
    asked[2]!.answer('there')
    expect(String((await third).bytes)).toBe('there')
  })

  it('is waited for no longer in all by those who wait for the first one', async () => {
    const { asked, clock, files } = setUp()
    const first = files.bytes('https://a.example/x')
    clock.advance(100)
    const second = files.bytes('https://a.example/x')
    clock.advance(900)
    asked[0]!.fail()
    await expect(first).rejects.toThrow('gone')
    await settle()
    expect(asked[1]!.limits).toEqual({ maxBytes: 10, timeoutMs: 100 })
    asked[1]!.fail()
    await expect(second).rejects.toThrow('gone')
    const both = [files.bytes('https://a.example/x'), files.bytes('https://a.example/x')]
    clock.advance(1000)
    asked[2]!.fail()
    await expect(both[0]).rejects.toThrow('gone')
    expect(await reasonOf(both[1]!)).toBe('timeout')
    expect([asked.length, files.running]).toEqual([3, 0])
  })
})
