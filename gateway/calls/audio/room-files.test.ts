import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { FetchLimits } from '../../callbacks/customer-http.ts'
import { FakeRoomFile } from '../testing/fake-room-files.ts'
import { RoomFiles } from './room-files.ts'

const limits = { hasFfmpeg: true, maxFiles: 1, maxBytes: 1000, timeoutMs: 5000 }

/** Files of a server that sends two parts. `more`: other limits. */
const filesOf = (more: Partial<typeof limits> = {}) => {
  const file = new FakeRoomFile()
  const asked: FetchLimits[] = []
  const read: string[] = []
  const signals: (AbortSignal | undefined)[] = []
  const files = new RoomFiles(
    { ...limits, ...more },
    {
      http: {
        download: async (_url, wanted, write) => {
          asked.push(wanted)
          for (const part of ['one ', 'two']) await write(Buffer.from(part))
        },
      },
      webrtc: {
        openFile: async (_group, descriptor, signal) => {
          signals.push(signal)
          read.push(readFileSync(`/proc/self/fd/${descriptor}`, 'utf8'))
          return file
        },
      },
    },
  )
  return { files, file, asked, read, signals }
}

describe('files that are played into rooms', () => {
  it('are fetched within limits, and opened by their descriptor', async () => {
    const { files, file, asked, read, signals } = filesOf()
    const { signal } = new AbortController()
    const seated = files.take('p1')
    expect(await seated.open('https://c.example/a.mp4', signal)).toBe(file)
    expect(asked).toEqual([{ maxBytes: 1000, timeoutMs: 5000, signal }])
    expect([read, signals, files.count]).toEqual([['one two'], [signal], 1])
    await seated.close()
    await seated.close()
    expect([file.isClosed, files.count]).toEqual([true, 0])
  })

  it('are closed when they are open, if that is requested earlier, and keep their place until then', async () => {
    const { files, file } = filesOf()
    const seated = files.take('p1')
    const opening = seated.open('https://c.example/a.mp4', new AbortController().signal)
    const closed = Promise.all([seated.close(), seated.close()])
    expect([files.count, await opening, files.count]).toEqual([1, file, 1])
    await closed
    expect([file.isClosed, files.count]).toEqual([true, 0])
  })

  it('are closed together, also places without an open file', async () => {
    const { files, file } = filesOf({ maxFiles: 2 })
    await files.take('p1').open('https://c.example/a.mp4', new AbortController().signal)
    files.take('p2')
    await files.close()
    expect([file.isClosed, files.count]).toEqual([true, 0])
  })

  it('are all closed before the failure of one is reported', async () => {
    const { files, file } = filesOf({ maxFiles: 4 })
    await files.take('p1').open('https://c.example/a.mp4', new AbortController().signal)
    const other = files.take('p2')
    await other.open('https://c.example/b.mp4', new AbortController().signal)
    const late = Promise.withResolvers<void>()
    const ends = [Promise.reject(new Error('gone')), late.promise]
    file.close = () => ends.shift() ?? Promise.resolve()
    let failure: unknown
    const closing = files.close().catch((error: unknown) => {
      failure = error
    })
    await new Promise(setImmediate)
    expect(failure).toBeUndefined()
    late.resolve()
    await closing
    expect([failure, files.count]).toEqual([new Error('gone'), 0])
  })

  it('leave their place if they cannot be opened or closed', async () => {
    const { files, file } = filesOf()
    const failed = files.take('p1')
    file.close = () => Promise.reject(new Error('gone'))
    await failed.open('https://c.example/a.mp4', new AbortController().signal)
    await expect(failed.close()).rejects.toThrow('gone')
    expect(files.count).toBe(0)
  })

  it('need ffmpeg, and are limited in number', () => {
    const { files } = filesOf()
    files.take('p1')
    expect(() => files.take('p2')).toThrow(expect.objectContaining({ code: 'ffmpeg_busy' }))
    expect(() => filesOf({ hasFfmpeg: false }).files.take('p1')).toThrow(
      expect.objectContaining({ code: 'ffmpeg_missing' }),
    )
  })

  it('leave half of the places to other projects', () => {
    const { files } = filesOf({ maxFiles: 4 })
    for (const project of ['p1', 'p1', 'p2']) files.take(project)
    expect(() => files.take('p1')).toThrow('A project has at most 2.')
    const release = files.takeStream('p2')
    expect(files.streams).toBe(1)
    expect(() => files.take('p3')).toThrow(expect.objectContaining({ code: 'ffmpeg_busy' }))
    release()
    expect(files.streams).toBe(0)
    files.take('p3')
  })
})
