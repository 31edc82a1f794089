import { PassThrough } from 'node:stream'
import { OggWriter } from '../../sound/testing/audio-files.ts'
import type { FfmpegEnd, FfmpegProcess, StartProcess } from '../ffmpeg.ts'

/** A process of ffmpeg that the test drives. */
export class FakeProcess implements FfmpegProcess {
  readonly args: readonly string[]
  readonly stdin = new PassThrough()
  readonly stdout = new PassThrough()
  readonly second = new PassThrough()
  readonly ended: Promise<FfmpegEnd>
  isKilled = false
  /** Whether it ends by {@link end} alone, not at once when it is killed. */
  isSlow = false
  readonly #settle: (end: FfmpegEnd) => void

  constructor(args: readonly string[]) {
    this.args = args
    const { promise, resolve } = Promise.withResolvers<FfmpegEnd>()
    this.ended = promise
    this.#settle = resolve
  }

  /** Ends with an exit code. `text`: its error output. */
  end(code: number, text = ''): void {
    this.#settle({ code, text })
  }

  kill(): void {
    this.isKilled = true
    if (!this.isSlow) this.#settle({ code: undefined, text: '' })
  }
}

/** Ffmpeg whose processes the test drives. */
export class FakeFfmpeg {
  /** Processes so far. */
  readonly processes: FakeProcess[] = []

  readonly run: StartProcess = (args) => {
    const process = new FakeProcess(args)
    this.processes.push(process)
    return process
  }

  /** The latest process. */
  get last(): FakeProcess {
    return this.processes.at(-1)!
  }
}

/** Returns the header of an IVF stream of VP8. `rate`: frames per second. */
export const ivfHeader = (rate: number): Buffer => {
  const header = Buffer.alloc(32)
  header.write('DKIF\0\0\x20\0VP80', 'latin1')
  header.writeUInt32LE(rate, 16)
  header.writeUInt32LE(1, 20)
  return header
}

/** Returns a frame of an IVF stream. `units`: its time. */
export const ivfFrame = (units: number, text: string): Buffer => {
  const header = Buffer.alloc(12)
  header.writeUInt32LE(text.length, 0)
  header.writeBigUInt64LE(BigInt(units), 4)
  return Buffer.concat([header, Buffer.from(text)])
}

/** Returns an Ogg stream with packets on pages of their own. */
export const opusPages = (packets: readonly string[]): Buffer => {
  const pages = new OggWriter()
  for (const [index, packet] of packets.entries()) pages.packets([Buffer.from(packet)], index * 960)
  return Buffer.concat(pages.all)
}
