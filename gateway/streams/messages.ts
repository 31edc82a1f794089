import type { StreamOptions } from '../../handlers/verbs.ts'
import { decode, encode } from '../../media/codecs/g711.ts'
import type { PcmRate, TapFrame } from '../../media/types.ts'
import { isJsonObject, readJsonObject } from '../json.ts'

/** How audio is written in messages. */
export interface StreamFormat {
  readonly codec: 'PCMU' | 'L16'
  readonly sampleRate: PcmRate
}

/** The format that the options ask for. */
export const formatOf = ({ codec = 'PCMU', sampleRate }: StreamOptions): StreamFormat =>
  codec === 'PCMU' ? { codec, sampleRate: 8000 } : { codec, sampleRate: sampleRate ?? 16_000 }

/** Whom the messages are about. */
export interface StreamFacts {
  readonly streamSid: string
  readonly callSid: string
  readonly accountSid: string
  readonly tracks: readonly string[]
  readonly parameters: Readonly<Record<string, string>>
  readonly format: StreamFormat
}

/** What the far side of a stream can ask for. */
export type StreamCommand =
  | { readonly kind: 'media'; readonly samples: Int16Array }
  | { readonly kind: 'mark'; readonly name: string }
  | { readonly kind: 'clear' }
  | { readonly kind: 'dtmf'; readonly digits: string }
  /** Of no meaning to us. */
  | { readonly kind: 'other' }

const trackNames = { in: 'inbound', out: 'outbound' } as const
const encodings = { PCMU: 'audio/x-mulaw', L16: 'audio/x-L16' } as const
const longestMark = 256
const mostDigits = 64

/** Writes the messages of one stream, which are numbered, as are the chunks of each track. */
export class StreamWriter {
  readonly #facts: StreamFacts
  #sequence = 0
  #chunks = { in: 0, out: 0 }

  constructor(facts: StreamFacts) {
    this.#facts = facts
  }

  connected(): string {
    return JSON.stringify({ event: 'connected', protocol: 'Call', version: '0.2.0' })
  }

  start(): string {
    const { streamSid, accountSid, callSid, tracks, parameters, format } = this.#facts
    const mediaFormat = { encoding: encodings[format.codec], sampleRate: format.sampleRate, channels: 1 }
    const start = { streamSid, accountSid, callSid, tracks, customParameters: parameters, mediaFormat }
    return this.#numbered('start', { start })
  }

  media({ track, atMs, samples }: TapFrame): string {
    const chunk = String(++this.#chunks[track])
    const payload = encoded(samples, this.#facts.format)
    return this.#numbered('media', {
      media: { track: trackNames[track], chunk, timestamp: String(atMs), payload },
    })
  }

  dtmf(digit: string): string {
    return this.#numbered('dtmf', { dtmf: { track: 'inbound_track', digit } })
  }

  mark(name: string): string {
    return this.#numbered('mark', { mark: { name } })
  }

  stop(): string {
    const { accountSid, callSid } = this.#facts
    return this.#numbered('stop', { stop: { accountSid, callSid } })
  }

  #numbered(event: string, body: object): string {
    const sequenceNumber = String(++this.#sequence)
    return JSON.stringify({ event, sequenceNumber, streamSid: this.#facts.streamSid, ...body })
  }
}

/** Reads a message of the far side. Throws an Error that says what is wrong with it. */
export const readCommand = (message: string, { streamSid, format }: StreamFacts): StreamCommand => {
  const read = readJsonObject(message)
  if (read.streamSid !== undefined && read.streamSid !== streamSid)
    throw new Error('streamSid: the one of this stream expected')
  switch (read.event) {
    case 'media':
      return { kind: 'media', samples: decoded(text(read, 'media', 'payload'), format) }
    case 'mark':
      return { kind: 'mark', name: text(read, 'mark', 'name').slice(0, longestMark) }
    case 'clear':
      return { kind: 'clear' }
    case 'dtmf': {
      const digits = text(read, 'dtmf', 'digit')
      if (!/^[0-9*#A-DwW]+$/.test(digits) || digits.length > mostDigits)
        throw new Error(`dtmf.digit: up to ${mostDigits} of 0-9 * # A-D w W expected`)
      return { kind: 'dtmf', digits }
    }
    default:
      if (typeof read.event !== 'string') throw new Error('event: a text expected')
      return { kind: 'other' }
  }
}

const text = (read: Record<string, unknown>, outer: string, name: string): string => {
  const object = read[outer]
  const value = isJsonObject(object) ? object[name] : undefined
  if (typeof value !== 'string') throw new Error(`${outer}.${name}: a text expected`)
  return value
}

const encoded = (samples: Int16Array, { codec }: StreamFormat): string =>
  codec === 'PCMU'
    ? Buffer.from(encode('PCMU', samples).buffer).toString('base64')
    : Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength).toString('base64')

const base64 = /^[A-Za-z0-9+/_-]*={0,2}$/

const decoded = (payload: string, { codec }: StreamFormat): Int16Array => {
  if (!base64.test(payload)) throw new Error('media.payload: base64 expected')
  const bytes = Buffer.from(payload, 'base64')
  if (codec === 'PCMU') return decode('PCMU', bytes)
  if (bytes.length % 2 !== 0) throw new Error('media.payload: two octets for each sample expected')
  // A copy, as a view of 16-bit numbers has to begin at an even place. Little-endian, as all machines that run this are.
  return new Int16Array(Uint8Array.from(bytes).buffer)
}
