import type { ClientError } from './errors.ts'
import type { Json } from './frames.ts'

/** `disconnected`: nothing is tried until the next connect. `reconnecting`: lost, and being tried again until it is back. */
export type ConnectionState = 'disconnected' | 'connecting' | 'connected' | 'reconnecting'

/** What the session tells its owner. */
export interface SessionOwner {
  /** Project that the token must be of; undefined: any. */
  readonly project: string | undefined
  /** Sent with each handshake where it is given. */
  readonly contexts: readonly string[] | undefined
  /** The token of the next handshake. */
  token(): string
  /** The token was refused: true once there is a new one. */
  renewToken(): Promise<boolean>
  /** A server event; `nodeId` is the envelope's. */
  event(type: string, params: Json, nodeId: string | undefined): void
  stateChanged(state: ConnectionState): void
  /**
   * The handshake succeeded. `fresh`: the server knows nothing of an earlier connection, so calls of that one are over. `expiresAt` is the
   * token's end in milliseconds since the epoch, where the server says it.
   */
  connected(fresh: boolean, expiresAt: number | undefined): void
  /** The session ended for good: by disconnect(), or because the token was refused. */
  ended(error: ClientError): void
}
