import { beforeEach, describe, expect, it } from 'vitest'
import type { ComposedLayer, ComposedPicture } from '../../types.ts'
import type { VideoSource } from '../video/incoming-video.ts'
import { Composition, type CompositionLayer } from './composition.ts'

type Listener = Parameters<ComposedPicture['onPacket']>[0]

/** Picture that records its commands. */
class FakePicture implements ComposedPicture {
  readonly ssrcs = { low: 1, high: 2 }
  readonly payloadType = 96
  readonly cname = 'c'
  readonly load = { picture: 0, process: 0 }
  readonly removed: string[] = []
  layers: readonly ComposedLayer[] = []
  keyFrames = 0
  lowKeyFrames = 0
  isClosed = false
  deliver: Listener = () => {}
  lose: (reason: Error) => void = () => {}
  picture: (id: string) => void = () => {}

  addSource = () => Promise.resolve({ port: 1 })

  removeSource(id: string): void {
    this.removed.push(id)
  }

  draw(layers: readonly ComposedLayer[]): void {
    this.layers = layers
  }

  readonly low: boolean[] = []

  enableLow(isEnabled: boolean): void {
    this.low.push(isEnabled)
  }

  requestKeyFrame(rendition?: string): void {
    if (rendition === 'high') this.keyFrames++
    else this.lowKeyFrames++
  }

  onPacket(listener: Listener): void {
    this.deliver = listener
  }

  onPictured(listener: (id: string) => void): void {
    this.picture = listener
  }

  stall: (id: string) => void = () => {}

  onStalled(listener: (id: string) => void): void {
    this.stall = listener
  }

  onLost(listener: (reason: Error) => void): void {
    this.lose = listener
  }

  close(): Promise<void> {
    this.isClosed = true
    return Promise.resolve()
  }
}

const settle = () => new Promise(setImmediate)
const sourceOf = (name: string) => ({ name }) as unknown as VideoSource
const red = sourceOf('red')
const blue = sourceOf('blue')

const layer = (memberId: string, source?: VideoSource, isVisible = true): CompositionLayer => ({
  memberId,
  x: 0,
  y: 0,
  width: 50,
  height: 50,
  z: 0,
  isVisible,
  ...(source && { source }),
})

describe('a composition', () => {
  let pictures: FakePicture[]
  let openings: PromiseWithResolvers<ComposedPicture>[]
  let reopened: string[]
  let pictured: string[]
  let inputs: Map<VideoSource, string>
  let timers: { ms: number; run: () => void }[]
  let changes: string[]
  let composition: Composition

  beforeEach(() => {
    pictures = []
    openings = []
    reopened = []
    pictured = []
    inputs = new Map()
    timers = []
    changes = []
    composition = new Composition({
      composers: {
        open: () => {
          const opening = Promise.withResolvers<ComposedPicture>()
          openings.push(opening)
          return opening.promise
        },
      },
      clock: {
        after: (ms, run) => {
          const timer = { ms, run }
          timers.push(timer)
          return {
            cancel: () => {
              timers = timers.filter((each) => each !== timer)
            },
          }
        },
      },
      onFault: (fault) => {
        throw fault
      },
      onChange: (reason) => changes.push(reason),
      openInput: ({ id, source }) => {
        inputs.set(source, id)
        return {
          resize: () => {},
          reopen: () => reopened.push(id),
          pictured: () => pictured.push(id),
          close: () => void inputs.delete(source),
        }
      },
    })
  })

  const opened = async (): Promise<FakePicture> => {
    const picture = new FakePicture()
    pictures.push(picture)
    openings.at(-1)!.resolve(picture)
    await settle()
    return picture
  }
  const failed = async (reason: string) => {
    openings.at(-1)!.reject(new Error(reason))
    await settle()
  }
  const next = () => {
    const timer = timers.shift()!
    timer.run()
    return timer.ms
  }

  it('opens with the first visible stream, receives visible streams alone, and closes with the last', async () => {
    composition.show([layer('a'), layer('b', blue, false)])
    expect([openings.length, composition.feed]).toEqual([0, undefined])
    composition.show([layer('a', red), layer('b', blue, false)])
    expect(openings.length).toBe(1)
    expect(composition.feed).toBeDefined()
    const picture = await opened()
    expect([...inputs]).toEqual([[red, 'a']])
    expect(composition.tiles).toBe(1)
    const shown = { x: 0, y: 0, width: 50, height: 50, z: 0 }
    expect(picture.layers).toEqual([
      { memberId: 'a', ...shown, isVisible: true },
      { memberId: 'b', ...shown, isVisible: false },
    ])
    composition.show([layer('a', red, false), layer('b', blue)])
    expect([[...inputs], picture.removed]).toEqual([[[blue, 'b']], ['a']])
    composition.show([layer('b', red)])
    expect([[...inputs], picture.removed]).toEqual([[[red, 'b']], ['a', 'b']])
    composition.show([])
    expect([inputs.size, picture.isClosed, composition.feed, composition.tiles]).toEqual([
      0,
      true,
      undefined,
      0,
    ])
    expect(changes).toEqual([])
  })

  it('opens a stream again whose packets give no picture', async () => {
    composition.show([layer('a', red)])
    const picture = await opened()
    picture.stall('a')
    picture.stall('unknown')
    expect([reopened, pictured]).toEqual([['a'], []])
    picture.picture('a')
    expect([reopened, pictured]).toEqual([['a'], ['a']])
  })

  it('closes a picture that opens too late', async () => {
    composition.show([layer('a', red)])
    composition.show([])
    const picture = await opened()
    expect([picture.isClosed, inputs.size]).toEqual([true, 0])
  })

  it('delivers the packets of the rendition high, and requests its key frames', async () => {
    composition.show([layer('a', red)])
    const packets: Buffer[] = []
    const detach = composition.feed!.attach((packet) => packets.push(packet))
    composition.feed!.requestKeyFrame()
    const picture = await opened()
    expect(picture.keyFrames).toBe(1)
    picture.deliver('high', Buffer.from('a'), 'rtp')
    picture.deliver('low', Buffer.from('b'), 'rtp')
    picture.deliver('high', Buffer.from('c'), 'rtcp')
    composition.feed!.requestKeyFrame()
    expect(picture.keyFrames).toBe(2)
    detach()
    picture.deliver('high', Buffer.from('d'), 'rtp')
    expect(packets.map(String)).toEqual(['a'])
  })

  it('has the rendition low encoded while it has listeners', async () => {
    composition.show([layer('a', red)])
    const packets: Buffer[] = []
    const low = composition.feed!.low!
    const detach = low.attach((packet) => packets.push(packet))
    const other = low.attach(() => {})
    const picture = await opened()
    expect(picture.low).toEqual([true])
    low.requestKeyFrame()
    expect(picture.lowKeyFrames).toBe(2)
    picture.deliver('high', Buffer.from('a'), 'rtp')
    picture.deliver('low', Buffer.from('b'), 'rtp')
    detach()
    detach()
    expect(picture.low).toEqual([true])
    other()
    expect(picture.low).toEqual([true, false])
    low.attach(() => {})
    expect(picture.low).toEqual([true, false, true])
    expect(packets.map(String)).toEqual(['b'])
  })

  it('reports a lost picture, opens another at once, and recovers when its streams are drawn', async () => {
    composition.show([layer('a', red)])
    const lost = await opened()
    const { feed } = composition
    lost.lose(new Error('killed'))
    expect([composition.failure, composition.feed, composition.tiles, changes.length]).toEqual([
      'killed',
      undefined,
      0,
      1,
    ])
    expect(next()).toBe(0)
    composition.show([layer('a', red), layer('b', blue)])
    const again = await opened()
    expect([again.layers.length, [...inputs.values()]]).toEqual([2, ['a', 'b']])
    again.picture('b')
    expect([composition.failure, timers.map(({ ms }) => ms)]).toEqual(['killed', [1500]])
    again.picture('a')
    expect(next()).toBe(0)
    expect([composition.failure, changes.length, changes[1]]).toEqual([
      undefined,
      2,
      'the composer works again',
    ])
    expect(composition.feed).not.toBe(feed)
    lost.lose(new Error('again'))
    expect([composition.failure, timers]).toEqual([undefined, []])
  })

  it('does not wait long for a stream that is silent, nor for one that has ended', async () => {
    composition.show([layer('a', red), layer('b', blue)])
    ;(await opened()).lose(new Error('killed'))
    next()
    const silent = await opened()
    silent.picture('a')
    expect(next()).toBe(1500)
    expect([composition.failure, changes.length]).toEqual([undefined, 2])
    silent.lose(new Error('killed'))
    next()
    const picture = await opened()
    picture.picture('a')
    composition.show([layer('a', red), layer('b')])
    expect([next(), composition.failure]).toEqual([0, undefined])
  })

  it('recovers without a picture if none is needed any more, and after a loss while it recovers', async () => {
    composition.show([layer('a', red)])
    ;(await opened()).lose(new Error('killed'))
    composition.show([layer('a')])
    expect([next(), composition.failure, openings.length]).toEqual([0, undefined, 1])
    composition.show([layer('a', red)])
    ;(await opened()).lose(new Error('killed'))
    next()
    ;(await opened()).lose(new Error('twice'))
    expect([composition.failure, timers.map(({ ms }) => ms)]).toEqual(['twice', [0]])
  })

  it('is prepared in the background for a room that is composed again', async () => {
    composition.prepare('composer load 20 %')
    composition.prepare('again')
    composition.show([layer('a', red)])
    expect([composition.failure, next()]).toEqual(['composer load 20 %', 0])
    const picture = await opened()
    picture.picture('a')
    next()
    expect([composition.failure, changes.at(-1)]).toEqual([undefined, 'composer load 20 %'])
    composition.prepare('no effect')
    expect(composition.failure).toBeUndefined()
  })

  it('waits longer after each opening that fails', async () => {
    composition.show([layer('a', red)])
    const waits: number[] = []
    for (let i = 0; i < 8; i++) {
      await failed('no')
      waits.push(next())
    }
    expect(waits).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000])
    expect([composition.failure, composition.feed]).toEqual(['no', undefined])
    const picture = await opened()
    picture.picture('a')
    expect([next(), composition.failure]).toEqual([0, undefined])
    picture.lose(new Error('killed'))
    expect(next()).toBe(0)
    composition.close()
    expect((await opened()).isClosed).toBe(true)
    expect([openings.length, timers]).toEqual([10, []])
  })

  it('opens nothing after its end', async () => {
    composition.show([layer('a', red)])
    await failed('no')
    composition.close()
    expect(timers).toEqual([])
  })
})
