import { createHash, randomUUID } from 'node:crypto'
import type { StatusCallback } from '../../handlers/handler.ts'
import type { CallbackRow } from '../directory/tables/callbacks.ts'

/**
 * Origin of a callback. Callbacks of one call reach a server in order, as long as each succeeds at its first
 * attempt.
 */
export interface CallbackFrom {
  readonly projectId: string
  /** Id of the call, or of the room session. */
  readonly callId: string
}

/**
 * Returns the row of a callback that is due at `now`. `createdAt` determines its place in the queue. Both are
 * in ms since 1970.
 */
export const callbackRow = (
  { projectId, callId }: CallbackFrom,
  { url, method, body, kind, ends }: StatusCallback,
  { now, createdAt }: { readonly now: number; readonly createdAt: number },
): CallbackRow => ({
  id: ends === undefined ? randomUUID() : idOfEnd(ends),
  project_id: projectId,
  call_id: callId,
  kind,
  method,
  url,
  server: serverOf(url),
  content_type: body?.contentType ?? null,
  body: body?.text ?? null,
  tries: 0,
  created_at: createdAt,
  due_at: now,
})

/** Returns scheme, host and port of a URL; empty for a malformed one. */
export const serverOf = (url: string): string => URL.parse(url)?.origin ?? ''

/**
 * Returns the same id for the end of the same call on every node, so that a server recognises a repeated
 * callback. A UUID of version 8 (RFC 9562).
 */
const idOfEnd = (of: string): string => {
  const hex = createHash('sha256').update(`end of ${of}`).digest('hex')
  const parts = [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`]
  return [...parts, hex.slice(20, 32)].join('-')
}
