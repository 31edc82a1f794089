/** Program of `scripts/fuzz composer`: `composer-frames.ts ADDON COUNT SEED`. */
import { canvasBytes, Decoded, loadPictures } from '../../media/compose/pictures.ts'
import { RoomComposer } from '../../media/compose/room-composer.ts'
import { Camera } from '../../media/compose/testing/camera.ts'
import { TestClock } from '../../media/edge/testing/test-clock.ts'

const [file = '', count = 0, seed = 1] = process.argv
  .slice(2)
  .map((word, at) => (at === 0 ? word : Number(word))) as [string, number, number]
const addon = loadPictures(file)

let state = seed >>> 0 || 1
/** Returns an integer from 0 to below `limit`. */
const random = (limit: number): number => {
  state ^= state << 13
  state >>>= 0
  state ^= state >>> 17
  state ^= state << 5
  state >>>= 0
  return state % limit
}

const sizes = [
  [16, 16],
  [320, 180],
  [178, 144],
  [640, 360],
] as const

const cameras = sizes.map(
  ([width, height]) => new Camera({ addon, width, height, ssrc: 9, kbps: 100 + random(900) }),
)

/** Frames and packets of all sizes: key frames and others. */
const samples = cameras.map((camera) =>
  Array.from({ length: 12 }, (_, at) => {
    camera.move(at * 7)
    const packets = camera.packets(at % 6 === 0)
    camera.move(at * 7 + 3)
    return { frame: camera.frame(at % 6 === 0), packets, isKey: at % 6 === 0 }
  }),
)

const any = <T>(list: readonly T[]): T => list[random(list.length)]!

/** Damages a copy: flipped bits, other bytes, a cut, a splice, or another size in the header. */
const damage = (original: Buffer, other: Buffer, headAt: number): Buffer => {
  let bytes = Buffer.from(original)
  for (let step = 0; step <= random(4) && bytes.length > 0; step++) {
    // Most of the structure is in the first bytes.
    const at = random(2) === 0 ? random(Math.min(bytes.length, 60)) : random(bytes.length)
    const kind = random(7)
    if (kind === 0) bytes[at]! ^= 1 << random(8)
    else if (kind === 1) bytes[at] = random(256)
    else if (kind === 2) bytes = bytes.subarray(0, at)
    else if (kind === 3)
      bytes = Buffer.concat([bytes.subarray(0, at), other.subarray(random(other.length + 1))])
    else if (kind === 4) bytes.fill(any([0, 0xff, 0x80]), at, Math.min(bytes.length, at + random(16)))
    else if (bytes.length > headAt + 10) {
      if (kind === 5) bytes.writeUInt16LE(random(0x10000), headAt + 6 + 2 * random(2))
      // The length of the first partition.
      else bytes[headAt + random(3)] = random(256)
    }
  }
  return bytes
}

const canvas = new Uint8Array(canvasBytes(640, 360))
const decoder = addon.decoder()
const results = new Map<number, number>()

const goodKeys = samples
  .flat()
  .filter(({ isKey, frame }) => isKey && frame.length > 0)
  .map(({ frame }) => frame)

/** Throws unless an undamaged key frame is decoded: damage must not last. */
const decodeGood = (): void => {
  const result = addon.decode(decoder, any(goodKeys))
  if (result !== Decoded.picture) throw new Error(`a good key frame is decoded with ${result}`)
}

const decodeDamaged = (): void => {
  const from = any(samples)
  const frame = damage(any(from).frame, any(any(samples)).frame, 0)
  if (frame.length === 0) return
  const result = addon.decode(decoder, frame)
  results.set(result, (results.get(result) ?? 0) + 1)
  const width = 2 * (1 + random(320))
  const height = 2 * (1 + random(180))
  const at = Int32Array.of(2 * random((642 - width) / 2), 2 * random((362 - height) / 2), width, height)
  addon.draw(canvas, 640, 360, at, decoder)
  // Without a key frame, the next damaged frames would be rejected by their header.
  if (result < 0) decodeGood()
}

const clock = new TestClock()
const stream = { payloadType: 96, cname: 'fuzz', sequence: 0, timestamp: 0, pictureId: 0 }
let sent = 0
const room = new RoomComposer(
  {
    addon,
    clock,
    cpuTime: () => 0,
    send: (_rendition, packets) => {
      sent += packets.length
    },
    sendFeedback: () => {},
    onPictured: () => {},
    onStalled: () => {},
  },
  {
    streams: { low: { ...stream, ssrc: 1 }, high: { ...stream, ssrc: 2 } },
    kbps: { low: 100, high: 300 },
  },
)
room.addSource('a', 9, 96, 5000)
room.draw([{ memberId: 'a', x: 0, y: 0, width: 100, height: 100, z: 0, isVisible: true }], {
  width: 320,
  height: 180,
})

let sequence = 0
const packetDamaged = (): void => {
  for (const packet of any(any(samples)).packets) {
    const bytes = random(3) === 0 ? damage(packet, any(any(any(samples)).packets), 16) : Buffer.from(packet)
    // Most packets keep the place of their stream, so that damage reaches the decoder.
    if (bytes.length >= 12 && random(50) > 0) {
      bytes.writeUInt16BE(sequence++ & 0xffff, 2)
      bytes.writeUInt32BE(9, 8)
    }
    room.receive(bytes, 5000)
  }
  clock.advance(random(40))
}

for (let at = 0; at < count; at++) {
  if (at % 2 === 0) decodeDamaged()
  else packetDamaged()
}
const memory = Math.round(process.memoryUsage.rss() / 2 ** 20)
console.log(
  `seed ${seed}: ${count} damaged frames and packets, results of the decoder`,
  Object.fromEntries(results),
  `${sent} packets composed, ${memory} MiB resident`,
)
room.close()
for (const camera of cameras) camera.close()
