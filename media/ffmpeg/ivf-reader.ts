/** Frame of an IVF stream. */
export interface IvfFrame {
  /** Presentation time in ms from the start of the stream. */
  readonly atMs: number
  readonly data: Buffer
}

const fileHeaderBytes = 32
const frameHeaderBytes = 12
/** Maximum length of a frame in bytes; no picture of the permitted sizes needs more. */
const maxFrameBytes = 4_000_000

/** Reads the frames of an IVF stream of VP8 from chunks of any length. */
export class IvfReader {
  #rest: Buffer = Buffer.alloc(0)
  /** Duration of one unit of time in ms; undefined before the header. */
  #unitMs: number | undefined

  /** Returns the frames that are complete with this chunk. Throws an Error for another format. */
  push(chunk: Buffer): readonly IvfFrame[] {
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    const unitMs = this.#unitMs ?? this.#readHeader()
    const frames: IvfFrame[] = []
    while (unitMs !== undefined) {
      const data = this.#takeFrame()
      if (!data) break
      frames.push({ atMs: data.units * unitMs, data: data.bytes })
    }
    return frames
  }

  #readHeader(): number | undefined {
    const head = this.#rest
    if (head.length < fileHeaderBytes) return undefined
    const rate = head.readUInt32LE(16)
    const scale = head.readUInt32LE(20)
    const isKnown = head.toString('latin1', 0, 4) === 'DKIF' && head.toString('latin1', 8, 12) === 'VP80'
    if (!isKnown || rate === 0) throw new Error('IVF: a stream of VP8 expected')
    this.#rest = head.subarray(fileHeaderBytes)
    this.#unitMs = (scale * 1000) / rate
    return this.#unitMs
  }

  #takeFrame(): { readonly units: number; readonly bytes: Buffer } | undefined {
    const rest = this.#rest
    if (rest.length < frameHeaderBytes) return undefined
    const length = rest.readUInt32LE(0)
    if (length > maxFrameBytes) throw new Error(`IVF: a frame of at most ${maxFrameBytes} bytes expected`)
    const end = frameHeaderBytes + length
    if (rest.length < end) return undefined
    this.#rest = rest.subarray(end)
    return { units: Number(rest.readBigUInt64LE(4)), bytes: rest.subarray(frameHeaderBytes, end) }
  }
}
