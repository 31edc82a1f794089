import { brokenRtmp } from './rtmp-errors.ts'

/** Value of AMF0, as far as RTMP needs it. */
export type AmfValue =
  | string
  | number
  | boolean
  | null
  | undefined
  | readonly AmfValue[]
  | { readonly [key: string]: AmfValue }

const Marker = {
  number: 0,
  boolean: 1,
  string: 2,
  object: 3,
  nothing: 5,
  undefined: 6,
  array: 8,
  end: 9,
  strictArray: 10,
  date: 11,
  longString: 12,
} as const

/** Maximum depth of objects that are read. */
const maxDepth = 8

/** Returns values in AMF0 (Adobe, AMF 0 specification). Arrays are not written. */
export const writeAmf = (...values: readonly AmfValue[]): Buffer => Buffer.concat(values.map(valueBytes))

const valueBytes = (value: AmfValue): Buffer => {
  if (typeof value === 'number') {
    const bytes = Buffer.alloc(9)
    bytes.writeDoubleBE(value, 1)
    return bytes
  }
  if (typeof value === 'boolean') return Buffer.from([Marker.boolean, value ? 1 : 0])
  if (typeof value === 'string') return Buffer.concat([Buffer.from([Marker.string]), shortText(value)])
  if (value === null || value === undefined) return Buffer.from([Marker.nothing])
  const fields = Object.entries(value).flatMap(([key, each]) => [shortText(key), valueBytes(each)])
  return Buffer.concat([Buffer.from([Marker.object]), ...fields, Buffer.from([0, 0, Marker.end])])
}

const shortText = (text: string): Buffer => {
  const bytes = Buffer.from(text)
  if (bytes.length > 0xffff) throw new RangeError('AMF: a text of at most 65,535 bytes expected')
  const length = Buffer.alloc(2)
  length.writeUInt16BE(bytes.length)
  return Buffer.concat([length, bytes])
}

/** Reads all values of a message. Throws an RtmpError for a truncated message, and for other types. */
export const readAmf = (bytes: Buffer): readonly AmfValue[] => {
  const reader = new AmfReader(bytes)
  const values: AmfValue[] = []
  while (!reader.isAtEnd) values.push(reader.value(0))
  return values
}

class AmfReader {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length
  }

  value(depth: number): AmfValue {
    if (depth > maxDepth) throw brokenRtmp(`at most ${maxDepth} levels of values expected`)
    const marker = this.#take(1)[0]
    switch (marker) {
      case Marker.number:
        return this.#take(8).readDoubleBE()
      case Marker.boolean:
        return this.#take(1)[0] !== 0
      case Marker.string:
        return this.#text()
      case Marker.longString:
        return this.#take(this.#take(4).readUInt32BE()).toString()
      case Marker.object:
        return this.#object(depth)
      case Marker.array:
        this.#take(4)
        return this.#object(depth)
      case Marker.strictArray:
        return this.#list(depth)
      case Marker.date:
        // A time in ms, and two reserved bytes.
        return this.#take(10).readDoubleBE()
      case Marker.nothing:
      case Marker.undefined:
        return null
      default:
        throw brokenRtmp(`no value of the type ${marker} expected`)
    }
  }

  #object(depth: number): AmfValue {
    const fields: [string, AmfValue][] = []
    for (;;) {
      const key = this.#text()
      if (key === '' && this.#bytes[this.#at] === Marker.end) break
      fields.push([key, this.value(depth + 1)])
    }
    this.#at++
    return Object.fromEntries(fields)
  }

  #list(depth: number): AmfValue {
    const values: AmfValue[] = []
    // Each value takes a byte at least, so the message bounds the number.
    for (let count = this.#take(4).readUInt32BE(); count > 0; count--) values.push(this.value(depth + 1))
    return values
  }

  #text(): string {
    return this.#take(this.#take(2).readUInt16BE()).toString()
  }

  #take(length: number): Buffer {
    const end = this.#at + length
    if (end > this.#bytes.length) throw brokenRtmp('a whole value expected')
    const part = this.#bytes.subarray(this.#at, end)
    this.#at = end
    return part
  }
}
