import type { RawMessage } from './message.ts'

/** Returns whether a message has a session description. A part of a multipart body may be one. */
export const hasDescription = ({ headers, body }: RawMessage): boolean => {
  if (body.length === 0) return false
  const type = headers.first('content-type') ?? 'application/sdp'
  return /^(?:application\/sdp|multipart\/)/i.test(type)
}
