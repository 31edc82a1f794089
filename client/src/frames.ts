import { ClientError } from './errors.ts'

/** JSON object of unknown content. */
export type Json = Readonly<Record<string, unknown>>

/** Returns `value` if it is an object, else an empty one: no shape of the server's data is trusted. */
export const record = (value: unknown): Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {}

/** Returns `value` if it is a string, else undefined. */
export const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

/** Received JSON-RPC 2.0 frame. */
export type Frame =
  | { readonly kind: 'request'; readonly id: string | number; readonly method: string; readonly params: Json }
  | { readonly kind: 'reply'; readonly id: string | number; readonly result: unknown }
  | { readonly kind: 'failure'; readonly id: string | number; readonly error: ClientError }

const failure = (error: Json): ClientError =>
  new ClientError('server', text(error.message) ?? 'The server refused the request.', {
    serverCode: error.code === undefined ? undefined : String(error.code),
  })

/** Parses a frame; returns undefined if the data is none. */
export const parseFrame = (data: unknown): Frame | undefined => {
  if (typeof data !== 'string') return undefined
  let frame: Json
  try {
    frame = record(JSON.parse(data))
  } catch {
    return undefined
  }
  const id = frame.id
  if (typeof id !== 'string' && typeof id !== 'number') return undefined
  if (typeof frame.method === 'string')
    return { kind: 'request', id, method: frame.method, params: record(frame.params) }
  if ('error' in frame) return { kind: 'failure', id, error: failure(record(frame.error)) }
  if ('result' in frame) return { kind: 'reply', id, result: frame.result }
  return undefined
}

/**
 * Returns the content of a reply. A `code` other than 2xx is a failure.
 * A `result` inside the result replaces it. A JSON-RPC reply inside that (the answer to a verto message) is
 * opened as well, and keeps the outer `node_id`.
 *
 * @throws ClientError `server`
 */
export const unwrap = (result: unknown): Json => {
  const outer = record(result)
  if (outer.code !== undefined && !/^2\d\d$/.test(String(outer.code))) throw failure(outer)
  if (!('result' in outer)) return outer
  const inner = record(outer.result)
  if (inner.jsonrpc === undefined) return inner
  if ('error' in inner) throw failure(record(inner.error))
  return { node_id: outer.node_id, ...record(inner.result) }
}
