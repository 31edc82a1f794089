import { isJsonObject } from '../../../core/json.ts'
import type { WireMessage } from './engine-socket.ts'

/** Returns a member that is an object; else an empty one. */
export const objectAt = (message: WireMessage, name: string): WireMessage => {
  const value = message[name]
  return isJsonObject(value) ? value : {}
}

/** Returns a member that is a text; else undefined. */
export const textAt = (message: WireMessage, name: string): string | undefined => {
  const value = message[name]
  return typeof value === 'string' ? value : undefined
}

/** Returns a member that is a finite number; else undefined. */
export const numberAt = (message: WireMessage, name: string): number | undefined => {
  const value = message[name]
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}

/** Returns the objects of a member that is an array; else none. */
export const objectsAt = (message: WireMessage, name: string): readonly WireMessage[] => {
  const value = message[name]
  return Array.isArray(value) ? value.filter(isJsonObject) : []
}

/** Longest audio of one message, in octets. */
const maxAudioBytes = 10 * 1024 * 1024

/**
 * Decodes base64 audio of one message. Throws an Error for more than 10 MiB, which no answer needs.
 */
export const audioOf = (base64: string): Buffer => {
  if (base64.length > (maxAudioBytes / 3) * 4 + 4) throw new Error('audio of more than 10 MiB in one message')
  return Buffer.from(base64, 'base64')
}
