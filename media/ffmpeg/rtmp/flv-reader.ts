/** Tag of an FLV stream: audio 8, video 9, or data 18. */
export interface FlvTag {
  readonly type: number
  readonly timestamp: number
  readonly body: Buffer
}

const headerBytes = 9
const tagHeaderBytes = 11
/** Length of the size that follows the header and each tag. */
const sizeBytes = 4

/** Reads the tags of an FLV stream (Adobe, FLV file format 10.1) from chunks of any length. */
export class FlvReader {
  #rest: Buffer = Buffer.alloc(0)
  #isStarted = false

  /** Returns the tags that are complete. Throws an Error for another format. */
  push(chunk: Buffer): readonly FlvTag[] {
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    if (!this.#isStarted && !this.#readHeader()) return []
    const tags: FlvTag[] = []
    for (let tag = this.#takeTag(); tag; tag = this.#takeTag()) tags.push(tag)
    return tags
  }

  #readHeader(): boolean {
    if (this.#rest.length < headerBytes + sizeBytes) return false
    if (this.#rest.toString('latin1', 0, 3) !== 'FLV') throw new Error('FLV: a stream of FLV expected')
    this.#rest = this.#rest.subarray(headerBytes + sizeBytes)
    this.#isStarted = true
    return true
  }

  #takeTag(): FlvTag | undefined {
    const rest = this.#rest
    if (rest.length < tagHeaderBytes) return undefined
    const end = tagHeaderBytes + rest.readUIntBE(1, 3)
    if (rest.length < end + sizeBytes) return undefined
    this.#rest = rest.subarray(end + sizeBytes)
    const timestamp = rest[7]! * 0x100_0000 + rest.readUIntBE(4, 3)
    return { type: rest[0]! & 0x1f, timestamp, body: rest.subarray(tagHeaderBytes, end) }
  }
}
