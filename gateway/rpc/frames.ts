import { jsonDepth, maxJsonDepth } from '../core/json.ts'

/** Id of a request. Browsers send UUIDs; numbers are also valid. */
export type FrameId = string | number

/** Code and message of an error (JSON-RPC 2.0 section 5.1). */
export interface RpcFault {
  readonly code: number
  readonly message: string
}

/**
 * Error codes of the gateway's responses. `busy`, `limit` and `auth` are in the range for server-defined
 * errors.
 */
export const rpcCodes = {
  parse: { code: -32700, message: 'Parse error' },
  request: { code: -32600, message: 'Invalid request' },
  method: { code: -32601, message: 'Method not found' },
  params: { code: -32602, message: 'Invalid params' },
  internal: { code: -32603, message: 'Internal error' },
  busy: { code: -32000, message: 'Too many requests at once' },
  /** A quota is used up. */
  limit: { code: -32001, message: 'Limit reached' },
  auth: { code: -32002, message: 'Authentication failed' },
} as const satisfies Record<string, RpcFault>

/** Error that a handler throws to answer a request with an error response. */
export class RpcError extends Error {
  readonly code: number

  /** `detail` is appended to the message of the fault. */
  constructor(fault: RpcFault, detail?: string) {
    super(detail === undefined ? fault.message : `${fault.message}: ${detail}`)
    this.name = 'RpcError'
    this.code = fault.code
  }
}

/** Result of parsing a frame. */
export type Frame =
  | {
      readonly kind: 'request'
      /** Undefined for a notification. */
      readonly id: FrameId | undefined
      readonly method: string
      readonly params: Readonly<Record<string, unknown>>
    }
  | { readonly kind: 'result'; readonly id: FrameId; readonly result: unknown }
  | { readonly kind: 'error'; readonly id: FrameId; readonly code: number }
  | { readonly kind: 'malformed'; readonly id: FrameId | undefined; readonly error: RpcFault }

/**
 * Parses the text of one frame. Batches (JSON-RPC 2.0 section 6) are malformed: no supported client sends
 * them.
 */
export const parseFrame = (text: string): Frame => {
  const value = parseJson(text)
  if (value === undefined) return { kind: 'malformed', id: undefined, error: rpcCodes.parse }
  const frame = asRecord(value)
  const id = typeof frame?.id === 'string' || typeof frame?.id === 'number' ? frame.id : undefined
  const malformed = { kind: 'malformed', id, error: rpcCodes.request } as const
  if (frame?.jsonrpc !== '2.0') return malformed
  if (typeof frame.method === 'string') {
    const params = frame.params === undefined ? {} : asRecord(frame.params)
    return params
      ? { kind: 'request', id, method: frame.method, params }
      : { ...malformed, error: rpcCodes.params }
  }
  if (id === undefined) return malformed
  if ('result' in frame) return { kind: 'result', id, result: frame.result }
  const code = asRecord(frame.error)?.code
  return typeof code === 'number' ? { kind: 'error', id, code } : malformed
}

/** Returns the value if it is an object other than an array; otherwise undefined. */
export const asRecord = (value: unknown): Readonly<Record<string, unknown>> | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined

/** Returns undefined if the text is not valid JSON or is nested too deeply. */
const parseJson = (text: string): unknown => {
  if (jsonDepth(text) > maxJsonDepth) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
