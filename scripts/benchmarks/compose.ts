/** `scripts/bench compose`. */
import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { createComposers } from '../../media/compose/composers.ts'
import { canvasBytes, composerReason, loadPictures, maxFrameBytes } from '../../media/compose/pictures.ts'
import { Camera } from '../../media/compose/testing/camera.ts'
import { composerPids } from '../../media/compose/testing/composer-pids.ts'
import type { ComposedLayer, ComposedPicture } from '../../media/types.ts'
import { cpuSeconds } from './processes.ts'

/** Frames of a recorded camera, which repeat; the first one is a key frame. */
const recordedFrames = 60

/** A recorded camera as the RTP packets of each frame; the header is renewed at each repetition. */
type Recording = readonly (readonly Buffer[])[]

const record = (): Recording => {
  const camera = new Camera({ addon: loadPictures(), width: 640, height: 360, ssrc: 1, kbps: 600 })
  const frames = Array.from({ length: recordedFrames }, (_, at) => {
    camera.move(at)
    return camera.packets(at === 0)
  })
  camera.close()
  return frames
}

/** Sends a recording as one member does, from its own frame on. */
export class Member {
  /** Times at which the frames were sent. */
  readonly sentAt: number[] = []
  readonly #socket: Socket
  readonly #ssrc: number
  readonly #port: number
  #sequence = 0
  #frame = 0

  constructor(socket: Socket, ssrc: number, port: number) {
    this.#socket = socket
    this.#ssrc = ssrc
    this.#port = port
  }

  send(recording: Recording): void {
    for (const packet of recording[this.#frame % recording.length]!) {
      const copy = Buffer.from(packet)
      copy.writeUInt16BE(this.#sequence++ & 0xffff, 2)
      copy.writeUInt32BE(this.#frame * 3000, 4)
      copy.writeUInt32BE(this.#ssrc, 8)
      this.#socket.send(copy, this.#port, '127.0.0.1')
    }
    this.#frame++
    this.sentAt.push(performance.now())
  }
}

/** Returns the layers of a square grid of `count` cameras. */
export const grid = (count: number, hasNames: boolean): ComposedLayer[] => {
  const columns = Math.ceil(Math.sqrt(count))
  const share = 100 / columns
  return Array.from({ length: count }, (_, at) => ({
    memberId: `m${at}`,
    x: (at % columns) * share,
    y: Math.floor(at / columns) * share,
    width: share,
    height: share,
    z: 0,
    isVisible: true,
    ...(hasNames && { name: `Member ${at} of the Room`, isCaptioned: true }),
  }))
}

/** Runs `each` at a rate for some seconds. */
const pace = (rate: number, seconds: number, each: () => void): Promise<void> =>
  new Promise((resolve) => {
    const began = performance.now()
    let count = 0
    const timer = setInterval(() => {
      const due = Math.floor(((performance.now() - began) * rate) / 1000)
      while (count < due) {
        count++
        each()
      }
      if (count < rate * seconds) return
      clearInterval(timer)
      resolve()
    }, 5)
  })

/** A case: members that send, at this many frames per second; 0: none moves. */
interface Case {
  readonly name: string
  readonly members: number
  readonly rate: number
  /** Whether names stand over the pictures. */
  readonly hasNames?: boolean
}

const cases: readonly Case[] = [
  { name: 'static picture of 4', members: 4, rate: 0 },
  { name: '2 members', members: 2, rate: 30 },
  { name: '4 members at 20', members: 4, rate: 20 },
  { name: '4 members at 30', members: 4, rate: 30 },
  { name: '9 members at 30', members: 9, rate: 30 },
  { name: '9 of them with names', members: 9, rate: 30, hasNames: true },
]

const counterOf = (picture: ComposedPicture) => {
  const counter = { frames: 0, bytes: 0 }
  picture.onPacket((rendition, packet, kind) => {
    if (rendition !== 'high' || kind !== 'rtp') return
    counter.bytes += packet.length
    // The marker ends a frame.
    if (packet[1]! & 0x80) counter.frames++
  })
  return counter
}

const measure = async (
  { name, members, rate, hasNames = false }: Case,
  recording: Recording,
  seconds: number,
): Promise<void> => {
  const composers = createComposers({ processes: 1 })
  const picture = await composers.open()
  const socket = createSocket('udp4')
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  const senders: Member[] = []
  for (let at = 0; at < members; at++) {
    const stream = { ssrc: 100 + at, payloadType: 96, from: socket.address() }
    const { port } = await picture.addSource(`m${at}`, stream)
    senders.push(new Member(socket, stream.ssrc, port))
  }
  picture.draw(grid(members, hasNames))
  const sendAll = () => {
    for (const sender of senders) sender.send(recording)
  }
  await pace(20, 2, sendAll)
  if (rate === 0) await pace(20, 2, () => {})
  const counter = counterOf(picture)
  const pids = composerPids()
  const own = process.cpuUsage()
  const cpu = cpuSeconds(pids)
  const began = performance.now()
  await pace(rate || 20, seconds, rate > 0 ? sendAll : () => {})
  const elapsed = (performance.now() - began) / 1000
  const used = (cpuSeconds(pids) - cpu) / elapsed
  const { user, system } = process.cpuUsage(own)
  console.log(
    `${name.padEnd(22)} ${used.toFixed(3)} core, ${(counter.frames / elapsed).toFixed(1)} frames/s, ` +
      `${((counter.bytes * 8) / 1000 / elapsed).toFixed(0)} kbit/s in 720p; ` +
      `sender and receiver here ${((user + system) / 1e6 / elapsed).toFixed(3)}`,
  )
  socket.close()
  await composers.close()
}

/** Returns the CPU time of `run` in ms: the mean of some repetitions. */
const msOf = (repetitions: number, run: (at: number) => void): number => {
  run(0)
  const before = process.cpuUsage()
  for (let at = 1; at <= repetitions; at++) run(at)
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000 / repetitions
}

/** Prints the CPU time of single frames. */
const printFrames = (): void => {
  const addon = loadPictures()
  for (const [width, height, kbps] of [
    [1280, 720, 1500],
    [640, 360, 400],
  ] as const) {
    const bytes = canvasBytes(width, height)
    const scene = new Camera({ addon, width, height, ssrc: 1, kbps })
    const canvases = Array.from({ length: 30 }, (_, at) => {
      scene.move(at)
      return Uint8Array.from(scene.picture)
    })
    const frames = canvases.map((_, at) => {
      scene.move(at)
      return scene.frame(at === 0)
    })
    const to = Buffer.alloc(maxFrameBytes)
    const encoded = [4, 8, 12, 16].map((speed) => {
      const encoder = addon.encoder(width, height, kbps, speed)
      const ms = msOf(90, (at) =>
        addon.encode(encoder, canvases[at % 30]!, width, height, at * 4500, at === 0, to),
      )
      addon.release(encoder)
      return `speed ${speed} ${ms.toFixed(1)}`
    })
    const decoder = addon.decoder()
    const decoding = msOf(90, (at) => {
      const frame = frames[at % 30]!
      if (frame.length > 0) addon.decode(decoder, frame)
    })
    const small = new Uint8Array(canvasBytes(640, 360))
    const at = Int32Array.of(0, 0, 640, 360)
    const scaling = msOf(200, () => addon.draw(small, 640, 360, at, decoder))
    console.log(
      `${width}x${height} (${(bytes / 1e6).toFixed(2)} MB): encode ${encoded.join(', ')} ms; ` +
        `decode ${decoding.toFixed(2)} ms; scale to 640x360 ${scaling.toFixed(2)} ms`,
    )
    addon.release(decoder)
    scene.close()
  }
}

/** Prints the CPU time of composed pictures and of single frames. */
export const compose = async (seconds = 10): Promise<void> => {
  const reason = composerReason()
  if (reason !== undefined) {
    console.log(`skipped: ${reason}`)
    return
  }
  printFrames()
  const recording = record()
  console.log('CPU time of a composing process: VP8 640x360 in, 720p and 360p out')
  for (const each of cases) await measure(each, recording, seconds)
}
