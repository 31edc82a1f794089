import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import type { ComposedPicture, Composers } from '../types.ts'
import { restartDelayMs } from './composer-slot.ts'
import { createComposers } from './composers.ts'
import { composerReason, loadPictures } from './pictures.ts'
import { Camera, type Colour } from './testing/camera.ts'
import { composerPids } from './testing/composer-pids.ts'
import { colourDistance, Screen } from './testing/screen.ts'

const reason = composerReason()
const red: Colour = [80, 90, 200]
const whole = { memberId: 'a', x: 0, y: 0, width: 100, height: 100, z: 0, isVisible: true }

it('restarts wait longer after each death in a row', () => {
  expect([0, 1, 2, 3, 4, 8, 20].map(restartDelayMs)).toEqual([0, 0, 500, 1000, 2000, 30_000, 30_000])
})

describe.skipIf(reason !== undefined)(`the composers${reason ? ` (${reason})` : ''}`, () => {
  const addon = reason === undefined ? loadPictures() : (undefined as never)
  const opened: Composers[] = []

  const create = (processes = 1, onDeath?: (error: Error) => void) => {
    const composers = createComposers({ processes, nice: 0, ...(onDeath && { onDeath }) })
    opened.push(composers)
    return composers
  }
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((each) => each.close()))
    await expect.poll(() => composerPids()).toEqual([])
  })

  const socket = async (): Promise<Socket> => {
    const made = createSocket('udp4')
    made.bind(0, '127.0.0.1')
    await once(made, 'listening')
    onTestFinished(() => void made.close())
    return made
  }

  /** Adds a red camera that answers requests for key frames, as a browser does. */
  const addCamera = async (picture: ComposedPicture) => {
    const from = await socket()
    const camera = new Camera({ addon, width: 320, height: 180, ssrc: 77 })
    onTestFinished(() => camera.close())
    camera.show(red)
    const { port } = await picture.addSource('a', { ssrc: 77, payloadType: 96, from: from.address() })
    const requests: Buffer[] = []
    from.on('message', (request) => {
      requests.push(request)
      for (const packet of camera.packets(true)) from.send(packet, port, '127.0.0.1')
    })
    return requests
  }

  const watch = (picture: ComposedPicture) => {
    const screens = {
      low: new Screen(addon, picture.ssrcs.low),
      high: new Screen(addon, picture.ssrcs.high),
    }
    const reports: string[] = []
    picture.onPacket((rendition, packet, kind) => {
      if (kind === 'rtp') screens[rendition].receive(packet)
      else reports.push(rendition)
    })
    return { screens, reports }
  }

  it('compose the packets of a camera into both renditions', async () => {
    const composers = create()
    expect([composers.unavailable, composers.load]).toEqual([undefined, 0])
    const picture = await composers.open({ ssrcs: { low: 1, high: 2 }, payloadType: 96, cname: 'room' })
    expect(picture).toMatchObject({ ssrcs: { low: 1, high: 2 }, payloadType: 96, cname: 'room' })
    const { screens, reports } = watch(picture)
    picture.enableLow(true)
    const requests = await addCamera(picture)
    picture.draw([whole])
    await expect
      .poll(() =>
        [screens.low, screens.high].map(
          (screen) => screen.size[0] > 0 && colourDistance(screen.coloursAt([[50, 50]])[0]!, red) < 8,
        ),
      )
      .toEqual([true, true])
    expect([screens.low.size, screens.high.size]).toEqual([
      [640, 360],
      [1280, 720],
    ])
    expect(requests.length).toBeGreaterThan(0)
    await expect.poll(() => new Set(reports)).toEqual(new Set(['low', 'high']))
    await expect.poll(() => picture.load.picture).toBeGreaterThan(0)
    expect(picture.load.process).toBeGreaterThanOrEqual(picture.load.picture * 0.5)
    picture.removeSource('a')
    picture.requestKeyFrame('high')
    await expect.poll(() => screens.high.frames.filter(Boolean).length).toBe(2)
    await picture.close()
    await picture.close()
    expect(picture.load).toEqual({ picture: 0, process: 0 })
    await expect(picture.addSource('b', { ssrc: 1, payloadType: 96, from: { port: 1 } })).rejects.toThrow(
      'closed',
    )
  })

  it('report the death of a process to its pictures, and open others at once', async () => {
    const deaths: string[] = []
    const composers = create(1, ({ message }) => deaths.push(message))
    const picture = await composers.open()
    const other = await composers.open()
    const lost = Promise.withResolvers<Error>()
    const alsoLost = Promise.withResolvers<Error>()
    picture.onLost(lost.resolve)
    other.onLost(alsoLost.resolve)
    const [pid] = composerPids()
    process.kill(pid!, 'SIGKILL')
    expect((await lost.promise).message).toBe('the composer ended by SIGKILL')
    await alsoLost.promise
    expect(deaths).toEqual(['the composer ended by SIGKILL'])
    picture.draw([whole])
    await expect(picture.addSource('a', { ssrc: 1, payloadType: 96, from: { port: 1 } })).rejects.toThrow()
    const next = await composers.open()
    const { screens } = watch(next)
    await addCamera(next)
    next.draw([whole])
    await expect.poll(() => screens.high.frames.length).toBeGreaterThan(0)
    expect(composerPids()).not.toContain(pid)
  })

  it('survive the signals of a terminal or a service manager', async () => {
    const composers = create()
    const picture = await composers.open()
    const { screens } = watch(picture)
    const [pid] = composerPids()
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.kill(pid!, signal)
    picture.draw([])
    const before = screens.high.frames.length
    await expect.poll(() => screens.high.frames.length).toBeGreaterThan(before + 2)
    expect(composerPids()).toContain(pid)
  })

  it('place pictures on several processes, and give each of them no environment', async () => {
    const composers = create(2)
    await Promise.all([composers.open(), composers.open()])
    // The third one is the spare.
    await expect.poll(() => composerPids().length).toBe(3)
    for (const pid of composerPids())
      expect(readFileSync(`/proc/${pid}/environ`, 'utf8')).not.toContain('PATH=')
  })

  it('reject wrong values of the caller, and keep the process', async () => {
    const composers = create()
    await expect(composers.open({ payloadType: 200 })).rejects.toThrow(RangeError)
    const picture = await composers.open()
    expect(() => picture.draw([], { width: 1281, height: 720 })).toThrow(RangeError)
    expect(() => picture.draw(Array.from({ length: 129 }, () => whole))).toThrow(RangeError)
    await expect(picture.addSource('a', { ssrc: -1, payloadType: 96, from: { port: 1 } })).rejects.toThrow(
      RangeError,
    )
    const { screens } = watch(picture)
    picture.draw([whole])
    await expect.poll(() => screens.high.frames.length).toBeGreaterThan(0)
  })

  it('open nothing after their end, nor while it comes', async () => {
    const composers = create()
    const opening = composers.open()
    const closed = composers.close()
    await expect(opening).rejects.toThrow('closed')
    await closed
    await expect(composers.open()).rejects.toThrow('closed')
  })
})
