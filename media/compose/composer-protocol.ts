/** Messages between the gateway and a composing process, and their checks: both sides reject unknown ones. */
import type { CanvasSize, ComposedLayer, Rendition } from '../types.ts'
import type { RoomComposerOptions } from './room-composer.ts'
import type { Vp8StreamOptions } from './vp8-packetizer.ts'

/** Command to a composing process. */
export type ComposerCommand =
  | ({ readonly op: 'open'; readonly room: number } & RoomComposerOptions)
  | {
      readonly op: 'addSource'
      readonly room: number
      readonly id: string
      readonly ssrc: number
      readonly payloadType: number
      readonly port: number
    }
  | { readonly op: 'removeSource'; readonly room: number; readonly id: string }
  | {
      readonly op: 'draw'
      readonly room: number
      readonly layers: readonly ComposedLayer[]
      readonly canvas?: CanvasSize
    }
  | { readonly op: 'low'; readonly room: number; readonly isEnabled: boolean }
  | { readonly op: 'keyFrame'; readonly room: number; readonly rendition?: Rendition }
  | { readonly op: 'close'; readonly room: number }
  | { readonly op: 'end' }

/** Load of a room in a report: share of a core, and frames per second. */
export interface RoomUsage {
  readonly room: number
  readonly load: number
  readonly rate: number
}

/** Report of a composing process. */
export type ComposerReport =
  | { readonly op: 'ready' }
  | { readonly op: 'opened'; readonly room: number; readonly port: number }
  | { readonly op: 'failed'; readonly room: number; readonly reason: string }
  /** A new source has its first picture. */
  | { readonly op: 'pictured'; readonly room: number; readonly id: string }
  /** Packets of a source arrive, and give no picture. */
  | { readonly op: 'stalled'; readonly room: number; readonly id: string }
  /** Once in a second. `load`: share of a core. */
  | { readonly op: 'usage'; readonly load: number; readonly rooms: readonly RoomUsage[] }

/** Maximum number of layers of a picture. */
export const maxLayers = 128
/** Maximum number of sources of a picture. */
export const maxSources = 128
/** Maximum number of pictures in a process. */
export const maxRooms = 128

const maxIdLength = 256
const maxUint32 = 0xffff_ffff

type Fields = Readonly<Record<string, unknown>>

const fieldsOf = (value: unknown): Fields => {
  if (typeof value !== 'object' || value === null) throw new RangeError('an object expected')
  return value as Fields
}

const numberOf = (value: unknown, min: number, max: number, name: string): number => {
  if (typeof value !== 'number' || !(value >= min && value <= max))
    throw new RangeError(`${name}: a number from ${min} to ${max} expected`)
  return value
}

const integerOf = (value: unknown, min: number, max: number, name: string): number => {
  if (!Number.isInteger(value)) throw new RangeError(`${name}: an integer expected`)
  return numberOf(value, min, max, name)
}

const textOf = (value: unknown, name: string, max = maxIdLength): string => {
  if (typeof value !== 'string' || value.length > max)
    throw new RangeError(`${name}: a text of at most ${max} characters expected`)
  return value
}

const listOf = <T>(value: unknown, max: number, name: string, read: (each: unknown) => T): readonly T[] => {
  if (!Array.isArray(value) || value.length > max)
    throw new RangeError(`${name}: a list of at most ${max} expected`)
  return value.map(read)
}

const booleanOf = (value: unknown, name: string): boolean => {
  if (typeof value !== 'boolean') throw new RangeError(`${name}: true or false expected`)
  return value
}

const choiceOf = <T extends string>(value: unknown, choices: readonly T[], name: string): T => {
  const found = choices.find((each) => each === value)
  if (found === undefined) throw new RangeError(`${name}: ${choices.join(' or ')} expected`)
  return found
}

const roomOf = ({ room }: Fields): number => integerOf(room, 1, maxUint32, 'room')

const fits = ['cover', 'contain'] as const
const renditions = ['low', 'high'] as const

/** Maximum share of a canvas from its edges, in percent: layers may stand out. */
const maxPercent = 1000

const readLayer = (value: unknown): ComposedLayer => {
  const { memberId, x, y, width, height, z, isVisible, fit, name, isCaptioned } = fieldsOf(value)
  const percent = (each: unknown, name: string) => numberOf(each, -maxPercent, maxPercent, name)
  return {
    memberId: textOf(memberId, 'memberId'),
    x: percent(x, 'x'),
    y: percent(y, 'y'),
    width: percent(width, 'width'),
    height: percent(height, 'height'),
    z: numberOf(z, -maxUint32, maxUint32, 'z'),
    isVisible: booleanOf(isVisible, 'isVisible'),
    ...(fit !== undefined && { fit: choiceOf(fit, fits, 'fit') }),
    ...(name !== undefined && { name: textOf(name, 'name') }),
    ...(isCaptioned !== undefined && { isCaptioned: booleanOf(isCaptioned, 'isCaptioned') }),
  }
}

const readCanvas = (value: unknown): CanvasSize => {
  const { width, height } = fieldsOf(value)
  const side = (each: unknown, max: number, name: string): number => {
    const length = integerOf(each, 16, max, name)
    if (length % 2 !== 0) throw new RangeError(`${name}: an even number expected`)
    return length
  }
  return { width: side(width, 1920, 'width'), height: side(height, 1080, 'height') }
}

const readStream = (value: unknown): Vp8StreamOptions => {
  const { ssrc, payloadType, cname, sequence, timestamp, pictureId } = fieldsOf(value)
  return {
    ssrc: integerOf(ssrc, 0, maxUint32, 'ssrc'),
    payloadType: integerOf(payloadType, 0, 127, 'payloadType'),
    cname: textOf(cname, 'cname', 255),
    sequence: integerOf(sequence, 0, 0xffff, 'sequence'),
    timestamp: integerOf(timestamp, 0, maxUint32, 'timestamp'),
    pictureId: integerOf(pictureId, 0, 0x7fff, 'pictureId'),
  }
}

const readOpen = (fields: Fields): ComposerCommand => {
  const streams = fieldsOf(fields.streams)
  const kbps = fieldsOf(fields.kbps)
  const rate = (value: unknown) => integerOf(value, 50, 10_000, 'kbps')
  return {
    op: 'open',
    room: roomOf(fields),
    streams: { low: readStream(streams.low), high: readStream(streams.high) },
    kbps: { low: rate(kbps.low), high: rate(kbps.high) },
  }
}

const readAddSource = (fields: Fields): ComposerCommand => ({
  op: 'addSource',
  room: roomOf(fields),
  id: textOf(fields.id, 'id'),
  ssrc: integerOf(fields.ssrc, 0, maxUint32, 'ssrc'),
  payloadType: integerOf(fields.payloadType, 0, 127, 'payloadType'),
  port: integerOf(fields.port, 1, 0xffff, 'port'),
})

const readDraw = (fields: Fields): ComposerCommand => ({
  op: 'draw',
  room: roomOf(fields),
  layers: listOf(fields.layers, maxLayers, 'layers', readLayer),
  ...(fields.canvas !== undefined && { canvas: readCanvas(fields.canvas) }),
})

/** Checks a command. Throws a RangeError with the name of the wrong field. */
export const readCommand = (value: unknown): ComposerCommand => {
  const fields = fieldsOf(value)
  switch (fields.op) {
    case 'open':
      return readOpen(fields)
    case 'addSource':
      return readAddSource(fields)
    case 'removeSource':
      return { op: 'removeSource', room: roomOf(fields), id: textOf(fields.id, 'id') }
    case 'draw':
      return readDraw(fields)
    case 'low':
      return { op: 'low', room: roomOf(fields), isEnabled: booleanOf(fields.isEnabled, 'isEnabled') }
    case 'keyFrame': {
      const { rendition } = fields
      return {
        op: 'keyFrame',
        room: roomOf(fields),
        ...(rendition !== undefined && { rendition: choiceOf(rendition, renditions, 'rendition') }),
      }
    }
    case 'close':
      return { op: 'close', room: roomOf(fields) }
    case 'end':
      return { op: 'end' }
    default:
      throw new RangeError('op: a known command expected')
  }
}

/** Maximum load of a process: all its threads on a large machine. */
const maxLoad = 1024

const readUsage = (value: unknown): RoomUsage => {
  const fields = fieldsOf(value)
  return {
    room: roomOf(fields),
    load: numberOf(fields.load, 0, maxLoad, 'load'),
    rate: numberOf(fields.rate, 0, 1000, 'rate'),
  }
}

/** Checks a report. Throws a RangeError with the name of the wrong field. */
export const readReport = (value: unknown): ComposerReport => {
  const fields = fieldsOf(value)
  switch (fields.op) {
    case 'ready':
      return { op: 'ready' }
    case 'opened':
      return { op: 'opened', room: roomOf(fields), port: integerOf(fields.port, 1, 0xffff, 'port') }
    case 'failed':
      return { op: 'failed', room: roomOf(fields), reason: textOf(fields.reason, 'reason', 1000) }
    case 'pictured':
    case 'stalled':
      return { op: fields.op, room: roomOf(fields), id: textOf(fields.id, 'id') }
    case 'usage':
      return {
        op: 'usage',
        load: numberOf(fields.load, 0, maxLoad, 'load'),
        rooms: listOf(fields.rooms, maxRooms, 'rooms', readUsage),
      }
    default:
      throw new RangeError('op: a known report expected')
  }
}
