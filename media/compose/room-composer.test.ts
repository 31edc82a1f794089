import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { TestClock } from '../edge/testing/test-clock.ts'
import { parseRtcp } from '../rtp/rtcp.ts'
import type { ComposedLayer, Rendition } from '../types.ts'
import { composerReason, loadPictures } from './pictures.ts'
import { RoomComposer } from './room-composer.ts'
import { Camera, type Colour } from './testing/camera.ts'
import { colourDistance, Screen } from './testing/screen.ts'

const reason = composerReason()
const plain: Colour = [48, 128, 128]
const background: Colour = [24, 128, 128]
const ssrcs = { low: 11, high: 22 } as const
const colours: readonly Colour[] = [
  [80, 90, 200],
  [150, 60, 60],
  [110, 200, 90],
  [200, 128, 128],
  [60, 180, 180],
  [130, 100, 140],
]

const layer = (memberId: string, more: Partial<ComposedLayer> = {}): ComposedLayer => ({
  memberId,
  x: 0,
  y: 0,
  width: 100,
  height: 100,
  z: 0,
  isVisible: true,
  ...more,
})

describe.skipIf(reason !== undefined)(`the picture of a room${reason ? ` (${reason})` : ''}`, () => {
  const addon = reason === undefined ? loadPictures() : (undefined as never)

  const open = () => {
    const clock = new TestClock()
    const feedback: { readonly port: number; readonly packet: Buffer }[] = []
    const reports: { readonly rendition: Rendition; readonly packet: Buffer }[] = []
    const screens = { low: new Screen(addon, ssrcs.low), high: new Screen(addon, ssrcs.high) }
    const stream = (ssrc: number) => ({
      ssrc,
      payloadType: 96,
      cname: 'room',
      sequence: 65_000,
      timestamp: 0xffff_0000,
      pictureId: 0x7ff0,
    })
    const pictured: string[] = []
    const stalled: string[] = []
    let cpuUs = 0
    const room = new RoomComposer(
      {
        addon,
        clock,
        cpuTime: () => (cpuUs += 100),
        send: (rendition, packets, kind) => {
          for (const packet of packets)
            if (kind === 'rtp') screens[rendition].receive(packet)
            else reports.push({ rendition, packet })
        },
        sendFeedback: (packet, port) => feedback.push({ packet, port }),
        onPictured: (id) => pictured.push(id),
        onStalled: (id) => stalled.push(id),
      },
      { streams: { low: stream(ssrcs.low), high: stream(ssrcs.high) }, kbps: { low: 400, high: 1500 } },
    )
    room.enableLow(true)
    onTestFinished(() => {
      room.close()
      screens.low.close()
      screens.high.close()
      expect(clock.running).toBe(0)
    })
    return { clock, room, screens, feedback, reports, pictured, stalled }
  }

  /** Adds a source that shows a colour from its first frame. */
  const join = (room: RoomComposer, at: number, size: readonly [number, number] = [320, 180]) => {
    const camera = new Camera({ addon, width: size[0], height: size[1], ssrc: 100 + at })
    onTestFinished(() => camera.close())
    camera.show(colours[at]!)
    room.addSource(`m${at}`, 100 + at, 96, 5000 + at)
    const send = (isKey = false) => {
      for (const packet of camera.packets(isKey)) room.receive(packet, 5000 + at)
    }
    send(true)
    return { camera, send }
  }

  it('has the colour of each member in its rectangle, in both renditions, for random layouts', () => {
    const { clock, room, screens } = open()
    for (const at of colours.keys()) join(room, at, at % 2 === 0 ? [320, 180] : [240, 320])
    const side = fc.integer({ min: 0, max: 4 })
    const slot = fc.record({ member: fc.integer({ min: 0, max: 5 }), isVisible: fc.boolean() })
    const grid = fc.record({
      columns: fc.integer({ min: 1, max: 4 }),
      rows: fc.integer({ min: 1, max: 3 }),
      gap: side,
    })
    fc.assert(
      fc.property(grid, fc.array(slot, { minLength: 12, maxLength: 12 }), ({ columns, rows, gap }, slots) => {
        const layers = slots.slice(0, columns * rows).map(({ member, isVisible }, at) =>
          layer(`m${member}`, {
            x: ((at % columns) * 100) / columns + gap,
            y: (Math.floor(at / columns) * 100) / rows + gap,
            width: 100 / columns - 2 * gap,
            height: 100 / rows - 2 * gap,
            isVisible,
          }),
        )
        room.draw(layers)
        // The encoder needs some frames for the final colours of a new picture.
        clock.advance(1500)
        const points = layers.map(({ x, y, width, height }) => [x + width / 2, y + height / 2] as const)
        const wanted = layers.map(({ memberId, isVisible }) =>
          isVisible ? colours[Number(memberId.slice(1))]! : plain,
        )
        for (const screen of [screens.high, screens.low]) {
          const distances = screen.coloursAt(points).map((colour, at) => colourDistance(colour, wanted[at]!))
          expect(Math.max(...distances)).toBeLessThanOrEqual(8)
        }
        if (gap > 1) {
          const [corner] = screens.high.coloursAt([[gap / 3, gap / 3]])
          expect(colourDistance(corner!, background)).toBeLessThanOrEqual(8)
        }
      }),
      { numRuns: 12 },
    )
    expect(screens.high.size).toEqual([1280, 720])
    expect(screens.low.size).toEqual([640, 360])
  })

  it('keeps a tile above another one, when only the lower one changes', () => {
    const { clock, room, screens } = open()
    const below = join(room, 0)
    join(room, 1)
    room.draw([layer('m1', { x: 75, y: 75, width: 22, height: 22, z: 1 }), layer('m0', { z: 0 })])
    clock.advance(1000)
    below.camera.show(colours[2]!)
    for (let frame = 0; frame < 5; frame++) below.send()
    clock.advance(1000)
    const [lower, upper] = screens.high.coloursAt([
      [50, 50],
      [86, 86],
    ])
    expect(colourDistance(lower!, colours[2]!)).toBeLessThanOrEqual(8)
    expect(colourDistance(upper!, colours[1]!)).toBeLessThanOrEqual(8)
  })

  it('shows a contained source whole, between plain bars', () => {
    const { clock, room, screens } = open()
    join(room, 0, [240, 320])
    room.draw([layer('m0', { fit: 'contain' })])
    clock.advance(1000)
    const [bar, middle] = screens.high.coloursAt([
      [10, 50],
      [50, 50],
    ])
    expect(colourDistance(bar!, plain)).toBeLessThanOrEqual(8)
    expect(colourDistance(middle!, colours[0]!)).toBeLessThanOrEqual(8)
  })

  it('is plain where a member has no source, none yet, or none any more', () => {
    const { clock, room, screens } = open()
    join(room, 0)
    room.draw([layer('m0', { width: 50 }), layer('phone', { x: 50, width: 50 })])
    clock.advance(1000)
    const halves = () =>
      screens.high.coloursAt([
        [25, 50],
        [75, 50],
      ])
    expect(colourDistance(halves()[1]!, plain)).toBeLessThanOrEqual(8)
    room.removeSource('m0')
    clock.advance(1000)
    expect(colourDistance(halves()[0]!, plain)).toBeLessThanOrEqual(8)
  })

  it.each([
    { visible: 1, rate: 30 },
    { visible: 4, rate: 30 },
    { visible: 5, rate: 20 },
  ])('has at most $rate frames per second with $visible moving sources', ({ visible, rate }) => {
    const { clock, room, screens } = open()
    const members = Array.from({ length: visible }, (_, at) => join(room, at))
    room.draw(members.map((_, at) => layer(`m${at}`, { x: at * 10, width: 10, height: 10 })))
    clock.advance(1000)
    const before = screens.high.frames.length
    for (let ms = 0; ms < 1000; ms += 20) {
      for (const { send } of members) send()
      clock.advance(20)
    }
    expect(screens.high.frames.length - before).toBeLessThanOrEqual(rate + 1)
    expect(screens.high.frames.length - before).toBeGreaterThanOrEqual(rate - 1)
    expect(room.takeUsage().frames).toBe(screens.high.frames.length)
    expect(room.takeUsage()).toEqual({ cpuUs: 0, frames: 0 })
  })

  it('has the name of a member in its plain tile, and over its picture if that is wanted', () => {
    const { clock, room, screens } = open()
    join(room, 0)
    const name = 'MMMMM'
    /** Lightest points of the middle, and of the lower left corner. */
    const lightest = () => {
      const row = (y: number, from: number) =>
        Math.max(
          ...screens.high
            .coloursAt(Array.from({ length: 60 }, (_, at) => [from + at / 6, y]))
            .map(([y]) => y),
        )
      return [row(50, 45) > 150, row(97.5, 1) > 150]
    }
    const shows = (isVisible: boolean, isCaptioned: boolean) => {
      room.draw([layer('m0', { name, isVisible, isCaptioned })])
      clock.advance(1000)
      return lightest()
    }
    expect(shows(false, true)).toEqual([true, false])
    expect(shows(false, false)).toEqual([true, false])
    expect(shows(true, true)).toEqual([false, true])
    expect(shows(true, false)).toEqual([false, false])
    room.draw([layer('m0', { name, isVisible: false })])
    clock.advance(1000)
    expect(colourDistance(screens.high.coloursAt([[50, 25]])[0]!, plain)).toBeLessThan(6)
  })

  it('has 5 frames per second while nothing changes, and none of an invisible source', () => {
    const { clock, room, screens } = open()
    const { send } = join(room, 0)
    room.draw([layer('m0', { isVisible: false })])
    clock.advance(1000)
    const before = screens.high.frames.length
    for (let ms = 0; ms < 1000; ms += 20) {
      send()
      clock.advance(20)
    }
    expect(screens.high.frames.length - before).toBe(5)
  })

  it('has 15 frames per second and a larger canvas for a screen', () => {
    const { clock, room, screens } = open()
    const { send } = join(room, 0)
    room.draw([layer('m0')], { width: 1920, height: 1080 })
    clock.advance(100)
    expect(screens.high.size).toEqual([1920, 1080])
    expect(screens.low.size).toEqual([640, 360])
    const before = screens.high.frames.length
    for (let ms = 0; ms < 1000; ms += 20) {
      send()
      clock.advance(20)
    }
    expect(screens.high.frames.length - before).toBeLessThanOrEqual(16)
    room.draw([layer('m0')])
    clock.advance(100)
    expect(screens.high.size).toEqual([1280, 720])
  })

  it('has a key frame soon after a request, at most every 500 ms, of the wanted rendition', () => {
    const { clock, room, screens } = open()
    room.draw([])
    clock.advance(5000)
    const keys = ({ frames }: Screen) => frames.filter(Boolean).length
    expect([keys(screens.high), keys(screens.low)]).toEqual([1, 1])
    room.requestKeyFrame('low')
    clock.advance(40)
    expect([keys(screens.high), keys(screens.low)]).toEqual([1, 2])
    for (let request = 0; request < 20; request++) {
      room.requestKeyFrame()
      clock.advance(10)
    }
    expect([keys(screens.high), keys(screens.low)]).toEqual([2, 2])
    clock.advance(600)
    expect([keys(screens.high), keys(screens.low)]).toEqual([3, 3])
    clock.advance(2000)
    expect([keys(screens.high), keys(screens.low)]).toEqual([3, 3])
  })

  it('answers the first request for a low rendition that was enabled again at once', () => {
    const { clock, room, screens } = open()
    room.draw([])
    clock.advance(5000)
    const keys = () => screens.low.frames.filter(Boolean).length
    room.requestKeyFrame('low')
    clock.advance(100)
    expect(keys()).toBe(2)
    room.enableLow(false)
    room.enableLow(true)
    clock.advance(100)
    expect(keys()).toBe(3)
    room.requestKeyFrame('low')
    clock.advance(100)
    expect(keys()).toBe(4)
    room.requestKeyFrame('low')
    clock.advance(100)
    expect(keys()).toBe(4)
  })

  it('has the low rendition while it is wanted, at most 20 frames in a second, from a key frame on', () => {
    const { clock, room, screens, reports } = open()
    const { send } = join(room, 0)
    room.draw([layer('m0')])
    const play = () => {
      const before = { low: screens.low.frames.length, high: screens.high.frames.length }
      for (let ms = 0; ms < 2000; ms += 20) {
        send()
        clock.advance(20)
      }
      return { low: screens.low.frames.length - before.low, high: screens.high.frames.length - before.high }
    }
    const both = play()
    expect(both.high).toBeGreaterThan(45)
    expect(both.low).toBeGreaterThanOrEqual(25)
    expect(both.low).toBeLessThanOrEqual(40)
    room.enableLow(false)
    const reported = reports.length
    expect(play().low).toBe(0)
    expect(new Set(reports.slice(reported).map(({ rendition }) => rendition))).toEqual(new Set(['high']))
    const { length } = screens.low.frames
    room.enableLow(true)
    expect(play().low).toBeGreaterThanOrEqual(25)
    expect(screens.low.frames[length]).toBe(true)
    expect(colourDistance(screens.low.coloursAt([[50, 50]])[0]!, colours[0]!)).toBeLessThanOrEqual(8)
  })

  it('reports the time of both renditions each second', () => {
    const { clock, room, reports } = open()
    room.draw([])
    clock.advance(3100)
    const of = (wanted: Rendition) => reports.filter(({ rendition }) => rendition === wanted)
    expect([of('low').length, of('high').length]).toEqual([4, 4])
    const [low, high] = [of('low')[0]!, of('high')[0]!].map(({ packet }) => parseRtcp(packet)![0]!)
    expect(low).toMatchObject({ kind: 'sender', ssrc: ssrcs.low, info: { timestamp: 0xffff_0000 } })
    expect(high).toMatchObject({ kind: 'sender', ssrc: ssrcs.high, info: { timestamp: 0xffff_0000 } })
    expect(low).toMatchObject({ info: { at: (high as typeof low & { info: { at: number } }).info.at } })
  })

  it('asks a source for a key frame at first and after a loss, at most every 500 ms', () => {
    const { clock, room, feedback } = open()
    const camera = new Camera({ addon, width: 320, height: 180, ssrc: 100 })
    onTestFinished(() => camera.close())
    camera.show(colours[0]!)
    room.addSource('m0', 100, 96, 5000)
    expect(feedback.map(({ port }) => port)).toEqual([5000])
    const { packet } = feedback[0]!
    expect([packet[0], packet[1], packet.readUInt16BE(2), packet.readUInt32BE(8)]).toEqual([
      0x81, 206, 2, 100,
    ])
    const send = (isKey = false) => {
      for (const each of camera.packets(isKey)) room.receive(each, 5000)
    }
    send(true)
    clock.advance(1000)
    send()
    camera.packets()
    for (let frame = 0; frame < 40; frame++) {
      send()
      clock.advance(20)
    }
    expect(feedback).toHaveLength(3)
    send(true)
    clock.advance(1000)
    send()
    expect(feedback).toHaveLength(3)
  })

  it('reports a source whose packets give no picture for 4 s', () => {
    const { clock, room, stalled } = open()
    const { camera, send } = join(room, 0)
    const during = (ms: number) => {
      for (let passed = 0; passed < ms; passed += 100) {
        send()
        clock.advance(100)
      }
    }
    during(5000)
    expect(stalled).toEqual([])
    // The frame is lost, and the source ignores the requests for a key frame.
    camera.packets()
    during(3900)
    expect(stalled).toEqual([])
    during(300)
    expect(stalled).toEqual(['m0'])
    send(true)
    during(5000)
    expect(stalled).toEqual(['m0'])
  })

  it('reports the first picture of each source, also of one that replaces another', () => {
    const { clock, room, pictured } = open()
    const { send } = join(room, 0)
    clock.advance(100)
    send()
    room.addSource('m1', 101, 96, 5001)
    clock.advance(100)
    expect(pictured).toEqual(['m0'])
    join(room, 0)
    expect(pictured).toEqual(['m0', 'm0'])
  })

  it('ignores packets from other ports, of unknown streams, and RTCP', () => {
    const { clock, room, screens } = open()
    const camera = new Camera({ addon, width: 320, height: 180, ssrc: 100 })
    onTestFinished(() => camera.close())
    camera.show(colours[0]!)
    room.addSource('m0', 100, 96, 5000)
    room.draw([layer('m0')])
    const packets = camera.packets(true)
    for (const packet of packets) {
      room.receive(packet, 5001)
      const unknown = Buffer.from(packet)
      unknown.writeUInt32BE(101, 8)
      room.receive(unknown, 5000)
    }
    room.receive(Buffer.from([0x80, 200, 0, 6, ...Array(24).fill(0)]), 5000)
    room.receive(Buffer.alloc(5), 5000)
    clock.advance(1000)
    expect(colourDistance(screens.high.coloursAt([[50, 50]])[0]!, plain)).toBeLessThanOrEqual(8)
    for (const packet of packets) room.receive(packet, 5000)
    clock.advance(1000)
    expect(colourDistance(screens.high.coloursAt([[50, 50]])[0]!, colours[0]!)).toBeLessThanOrEqual(8)
  })

  it('decodes at most 75 frames per second of a source, and recovers afterwards', () => {
    const { clock, room, screens } = open()
    const { camera, send } = join(room, 0)
    room.draw([layer('m0')])
    clock.advance(1000)
    for (let frame = 0; frame < 120; frame++) send()
    camera.show(colours[3]!)
    send(true)
    clock.advance(200)
    expect(colourDistance(screens.high.coloursAt([[50, 50]])[0]!, colours[0]!)).toBeLessThanOrEqual(8)
    clock.advance(1000)
    send(true)
    clock.advance(1000)
    expect(colourDistance(screens.high.coloursAt([[50, 50]])[0]!, colours[3]!)).toBeLessThanOrEqual(8)
  })
})
