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
        openFile: async (_group, descriptor) => {
          read.push(readFileSync(`/proc/self/fd/${descriptor}`, 'utf8'))
          return file
        },
      },
    },
  )
  return { files, file, asked, read }
}

describe('files that are played into rooms', () => {
  it('are fetched within limits, and opened by their descriptor', async () => {
    const { files, file, asked, read } = filesOf()
    const { signal } = new AbortController()
    const seated = files.take()
    expect(await seated.open('https://c.example/a.mp4', signal)).toBe(file)
    expect(asked).toEqual([{ maxBytes: 1000, timeoutMs: 5000, signal }])
    expect([read, files.count]).toEqual([['one two'], 1])
    await seated.close()
    await seated.close()
    expect([file.isClosed, files.count]).toEqual([true, 0])
  })

  it('are closed when they are open, if that is requested earlier', async () => {
    const { files, file } = filesOf()
    const seated = files.take()
    const opening = seated.open('https://c.example/a.mp4', new AbortController().signal)
    await seated.close()
    expect([await opening, file.isClosed]).toEqual([file, true])
  })

  it('need ffmpeg, and are limited in number', () => {
    const { files } = filesOf()
    files.take()
    expect(() => files.take()).toThrow(expect.objectContaining({ code: 'ffmpeg_busy' }))
    expect(() => filesOf({ hasFfmpeg: false }).files.take()).toThrow(
      expect.objectContaining({ code: 'ffmpeg_missing' }),
    )
  })
})
