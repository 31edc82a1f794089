import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { canvasBytes, composerReason, Decoded, loadPictures, maxFrameBytes } from './pictures.ts'
import { Camera } from './testing/camera.ts'
import { Screen } from './testing/screen.ts'

const reason = composerReason()

describe('the reason for a missing composer', () => {
  it('is one line that says what to install, or what the system reports', () => {
    expect(composerReason('/nowhere/compose.node')).toMatch(/^composer unavailable: .*libvpx-dev libyuv-dev/)
    const folder = mkdtempSync(join(tmpdir(), 'composer-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    writeFileSync(join(folder, 'broken.node'), 'no library')
    expect(composerReason(join(folder, 'broken.node'))).toMatch(
      /^composer unavailable: .*broken\.node[^\n]*$/,
    )
  })
})

describe.skipIf(reason !== undefined)(`pictures of the addon${reason ? ` (${reason})` : ''}`, () => {
  const addon = reason === undefined ? loadPictures() : (undefined as never)
  const whole = (width: number, height: number) => Int32Array.of(0, 0, width, height)
  const canvas = (width = 64, height = 48) => new Uint8Array(canvasBytes(width, height))
  const cameras: Camera[] = []
  const camera = (width: number, height: number) => {
    const made = new Camera({ addon, width, height, ssrc: 1 })
    cameras.push(made)
    return made
  }
  afterAll(() => {
    for (const each of cameras) each.close()
  })

  it('need a key frame first, and keep their size', () => {
    const small = camera(320, 180)
    small.show([100, 100, 150])
    const key = small.frame(true)
    const next = small.frame()
    const decoder = addon.decoder()
    expect(addon.decode(decoder, next)).toBe(Decoded.noKeyFrame)
    expect(addon.sizeOf(decoder)).toBe(0)
    expect(addon.decode(decoder, key)).toBe(Decoded.picture)
    expect(addon.decode(decoder, next)).toBe(Decoded.picture)
    expect(addon.sizeOf(decoder)).toBe(320 * 65536 + 180)
    const larger = camera(640, 360)
    larger.show([50, 128, 128])
    expect(addon.decode(decoder, larger.frame(true))).toBe(Decoded.picture)
    expect(addon.sizeOf(decoder)).toBe(640 * 65536 + 360)
    addon.release(decoder)
  })

  it('are refused above 1920 × 1080 before memory is allocated, and without a start code', () => {
    const decoder = addon.decoder()
    const header = (width: number, height: number) => {
      const frame = Buffer.from([0x10, 0, 0, 0x9d, 0x01, 0x2a, 0, 0, 0, 0, 0, 0])
      frame.writeUInt16LE(width, 6)
      frame.writeUInt16LE(height, 8)
      return frame
    }
    expect(addon.decode(decoder, header(1922, 100))).toBe(Decoded.tooLarge)
    expect(addon.decode(decoder, header(1920, 1920))).toBe(Decoded.tooLarge)
    expect(addon.decode(decoder, header(16_383, 16_383))).toBe(Decoded.tooLarge)
    expect(addon.decode(decoder, header(0, 100))).toBe(Decoded.corrupt)
    expect(addon.decode(decoder, Buffer.from([0, 0, 0, 1, 2, 3, 4, 5, 6, 7]))).toBe(Decoded.corrupt)
    expect(addon.decode(decoder, Buffer.from([0]))).toBe(Decoded.corrupt)
    expect(addon.decode(decoder, Buffer.alloc(maxFrameBytes + 1))).toBe(Decoded.corrupt)
    addon.release(decoder)
  })

  it('continue after a corrupt frame with the next key frame', () => {
    const source = camera(320, 180)
    const decoder = addon.decoder()
    source.move(0)
    expect(addon.decode(decoder, source.frame(true))).toBe(Decoded.picture)
    source.move(1)
    const cut = source.frame(true).subarray(0, 10)
    expect(addon.decode(decoder, cut)).not.toBe(Decoded.picture)
    expect(addon.decode(decoder, source.frame(true))).toBe(Decoded.picture)
    addon.release(decoder)
  })

  it('are cropped to the aspect ratio of their rectangle, not stretched', () => {
    const width = 640
    const height = 360
    const bytes = canvas(width, height)
    // Stripes: red left, grey in the middle third, blue right.
    for (const [at, u] of [60, 128, 220].entries())
      addon.fill(
        bytes,
        width,
        height,
        Int32Array.of(at * 214, 0, at === 2 ? 212 : 214, 360),
        Uint8Array.of(100, u, 128),
      )
    const encoder = addon.encoder(width, height, 2000, 8)
    const to = Buffer.alloc(maxFrameBytes)
    const frame = to.subarray(0, addon.encode(encoder, bytes, width, height, 0, true, to))
    const decoder = addon.decoder()
    expect(addon.decode(decoder, frame)).toBe(Decoded.picture)
    const square = canvas(200, 200)
    addon.draw(square, 200, 200, whole(200, 200), decoder)
    const blueAt = (x: number) => square[200 * 200 + 50 * 100 + x / 2]!
    // A square shows the middle 360 of 640 pixels: the stripes end at 20 % and 80 % of it.
    expect(blueAt(10)).toBeLessThan(90)
    expect(Math.abs(blueAt(60) - 128)).toBeLessThan(10)
    expect(Math.abs(blueAt(140) - 128)).toBeLessThan(10)
    expect(blueAt(190)).toBeGreaterThan(190)
    addon.release(encoder)
    addon.release(decoder)
  })

  it('are drawn from any size of source, odd ones too', () => {
    for (const [width, height] of [
      [16, 16],
      [1920, 1080],
      [1080, 1920],
      [178, 144],
    ] as const) {
      const source = camera(width, height)
      source.show([120, 90, 160])
      const screen = new Screen(addon, 1)
      screen.show(source.frame(true))
      expect(screen.size).toEqual([width, height])
      const [colour] = screen.coloursAt([[50, 50]])
      expect(Math.abs(colour![0] - 120)).toBeLessThan(6)
      screen.close()
    }
  })

  it('follow a change of the bit rate', () => {
    const width = 640
    const height = 360
    const source = new Camera({ addon, width, height, ssrc: 1, kbps: 300 })
    const bytesOf = () =>
      Array.from({ length: 60 }, (_, at) => {
        source.move(at)
        return source.frame(at === 0).length
      })
        .slice(20)
        .reduce((sum, each) => sum + each, 0)
    const slow = bytesOf()
    source.setRate(1500)
    expect(bytesOf()).toBeGreaterThan(2 * slow)
    source.close()
  })

  it.each<[string, () => unknown]>([
    [
      'an odd rectangle',
      () => addon.fill(canvas(), 64, 48, Int32Array.of(1, 0, 2, 2), Uint8Array.of(1, 2, 3)),
    ],
    [
      'a rectangle outside',
      () => addon.fill(canvas(), 64, 48, Int32Array.of(0, 0, 66, 2), new Uint8Array(3)),
    ],
    [
      'a rectangle that overflows',
      () => addon.fill(canvas(), 64, 48, Int32Array.of(2, 2, 2 ** 31 - 2, 2 ** 31 - 2), new Uint8Array(3)),
    ],
    [
      'a negative rectangle',
      () => addon.fill(canvas(), 64, 48, Int32Array.of(-2, 0, 2, 2), new Uint8Array(3)),
    ],
    ['three sides', () => addon.fill(canvas(), 64, 48, Int32Array.of(0, 0, 2), new Uint8Array(3))],
    ['two colours', () => addon.fill(canvas(), 64, 48, whole(2, 2), new Uint8Array(2))],
    ['a short canvas', () => addon.fill(canvas(), 64, 64, whole(2, 2), new Uint8Array(3))],
    ['a large canvas', () => addon.fill(canvas(2000, 16), 2000, 16, whole(2, 2), new Uint8Array(3))],
    [
      'a detached canvas',
      () => {
        const bytes = canvas()
        structuredClone(bytes.buffer, { transfer: [bytes.buffer] })
        addon.fill(bytes, 64, 48, whole(2, 2), new Uint8Array(3))
      },
    ],
    ['a fraction', () => addon.encoder(640.5, 360, 400, 8)],
    ['an odd encoder', () => addon.encoder(641, 360, 400, 8)],
    ['a large encoder', () => addon.encoder(1920, 1920, 400, 8)],
    ['a rate of zero', () => addon.encoder(640, 360, 0, 8)],
    ['a speed of zero', () => addon.encoder(640, 360, 400, 0)],
    ['NaN', () => addon.encoder(Number.NaN, 360, 400, 8)],
    ['no arguments', () => (addon.decode as () => unknown)()],
    ['a plain object', () => addon.decode({} as never, Buffer.alloc(10))],
    ['an encoder as a decoder', () => addon.decode(addon.encoder(64, 48, 100, 8) as never, Buffer.alloc(10))],
    [
      'a released decoder',
      () => {
        const decoder = addon.decoder()
        addon.release(decoder)
        addon.release(decoder)
        addon.decode(decoder, Buffer.alloc(10))
      },
    ],
    ['an empty frame', () => addon.decode(addon.decoder(), Buffer.alloc(0))],
    [
      'a canvas of another size',
      () => {
        const encoder = addon.encoder(64, 64, 100, 8)
        addon.encode(encoder, canvas(), 64, 48, 0, true, Buffer.alloc(1000))
      },
    ],
    [
      'a time that stands still',
      () => {
        const encoder = addon.encoder(64, 48, 100, 8)
        addon.encode(encoder, canvas(), 64, 48, 10, true, Buffer.alloc(10_000))
        addon.encode(encoder, canvas(), 64, 48, 10, true, Buffer.alloc(10_000))
      },
    ],
    [
      'the same canvas twice',
      () => {
        const bytes = canvas()
        addon.scale(bytes, 64, 48, bytes, 64, 48)
      },
    ],
  ])('throw for %s', (_name, run) => {
    expect(run).toThrow(
      expect.objectContaining({ code: expect.stringMatching(/ERR_(INVALID_ARG|OUT_OF_RANGE)/) }),
    )
  })

  it('throw if a frame does not fit', () => {
    const encoder = addon.encoder(64, 48, 100, 8)
    expect(() => addon.encode(encoder, canvas(), 64, 48, 0, true, Buffer.alloc(4))).toThrow(/library/)
    addon.release(encoder)
  })
})
