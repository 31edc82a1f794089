import type { TapFrame } from '../../media/types.ts'
import { isJsonObject, readJsonObject } from '../core/json.ts'
import { type Chunk, ChunkEncoder, type StreamFormat } from './stream-format.ts'

/** Facts in the messages of a stream. */
export interface StreamFacts {
  readonly streamSid: string
  readonly callSid: string
  readonly accountSid: string
  readonly tracks: readonly string[]
  readonly parameters: Readonly<Record<string, string>>
  readonly format: StreamFormat
}

/** Command that the far side sends. */
export type StreamCommand =
  | { readonly kind: 'media'; readonly payload: string }
  | { readonly kind: 'mark'; readonly name: string }
  | { readonly kind: 'clear' }
  | { readonly kind: 'dtmf'; readonly digits: string }
  /** Unknown command; it is ignored. */
  | { readonly kind: 'other' }

const trackNames = { in: 'inbound', out: 'outbound' } as const
const encodings = {
  PCMU: 'audio/x-mulaw',
  PCMA: 'audio/x-alaw',
  G722: 'audio/G722',
  L16: 'audio/x-L16',
} as const
const maxMarkLength = 256
const maxDigits = 64

/** Writes the messages of one stream, with sequence numbers for messages and for chunks of each track. */
export class StreamWriter {
  readonly #facts: StreamFacts
  readonly #encoders: Readonly<Record<TapFrame['track'], ChunkEncoder>>
  #sequence = 0
  #chunks = { in: 0, out: 0 }

  constructor(facts: StreamFacts) {
    this.#facts = facts
    this.#encoders = { in: new ChunkEncoder(facts.format), out: new ChunkEncoder(facts.format) }
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

  /** Encodes a frame. Returns a message when the track has enough audio for one. */
  media(frame: TapFrame): string | undefined {
    return this.#mediaOf(frame.track, this.#encoders[frame.track].take(frame))
  }

  /** Returns the last message of a track, if it has audio left. */
  rest(track: TapFrame['track']): string | undefined {
    return this.#mediaOf(track, this.#encoders[track].rest())
  }

  #mediaOf(track: TapFrame['track'], full: Chunk | undefined): string | undefined {
    if (!full) return undefined
    const chunk = String(++this.#chunks[track])
    return this.#numbered('media', {
      media: { track: trackNames[track], chunk, timestamp: String(full.atMs), payload: full.payload },
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

/** Reads a message from the server of a stream. Throws an Error that names the fault. */
export const readCommand = (message: string, { streamSid }: StreamFacts): StreamCommand => {
  const read = readJsonObject(message)
  if (read.streamSid !== undefined && read.streamSid !== streamSid)
    throw new Error('streamSid: the one of this stream expected')
  switch (read.event) {
    case 'media':
      return { kind: 'media', payload: text(read, 'media', 'payload') }
    case 'mark':
      return { kind: 'mark', name: text(read, 'mark', 'name').slice(0, maxMarkLength) }
    case 'clear':
      return { kind: 'clear' }
    case 'dtmf': {
      const digits = text(read, 'dtmf', 'digit')
      if (!/^[0-9*#A-DwW]+$/.test(digits) || digits.length > maxDigits)
        throw new Error(`dtmf.digit: up to ${maxDigits} of 0-9 * # A-D w W expected`)
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
