import type { SendRequest } from '../../../../media/sound/http-voice.ts'
import { readJsonObject } from '../../../core/json.ts'
import type { EngineFailureKind } from '../../engine.ts'
import type { WireMessage } from './engine-socket.ts'
import { kindOfStatus } from './failures.ts'
import type { SessionDeps } from './session-link.ts'

/** Collaborators of an engine whose session begins with an HTTP request. */
export interface HttpSessionDeps extends SessionDeps {
  /** Sends requests to servers of the operator, without following redirects: `OperatorHttp.send`. */
  readonly send: SendRequest
}

/** Failure of the request that a session begins with. Its message contains no secret. */
export class SessionRequestFailed extends Error {
  readonly kind: EngineFailureKind

  constructor(kind: EngineFailureKind, message: string) {
    super(message)
    this.kind = kind
  }
}

const maxAnswerBytes = 1024 * 1024

/**
 * Sends the request that a session begins with, and returns the JSON object of the answer. Rejects with
 * {@link SessionRequestFailed}.
 */
export const requestSession = async (
  send: SendRequest,
  request: Parameters<SendRequest>[0],
  limits: { readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<WireMessage> => {
  const { status, bytes } = await send(request, { ...limits, maxBytes: maxAnswerBytes }).catch((error) => {
    const { message } = error as Error
    throw new SessionRequestFailed(message.startsWith('it took longer') ? 'timeout' : 'connection', message)
  })
  if (status < 200 || status > 299)
    throw new SessionRequestFailed(kindOfStatus(status), `the server answered with status ${status}`)
  try {
    return readJsonObject(Buffer.from(bytes).toString())
  } catch (error) {
    throw new SessionRequestFailed('protocol', (error as Error).message)
  }
}

/** Returns a WebSocket URL of an answer. Throws {@link SessionRequestFailed} for another one. */
export const socketUrlOf = (answer: WireMessage, name: string): string => {
  const url = answer[name]
  const protocol = typeof url === 'string' ? URL.parse(url)?.protocol : undefined
  if (typeof url !== 'string' || (protocol !== 'wss:' && protocol !== 'ws:'))
    throw new SessionRequestFailed('protocol', `${name}: a WebSocket URL expected`)
  return url
}
