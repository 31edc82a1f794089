import type { ClientError } from './errors.ts'
import type { Json } from './frames.ts'

/**
 * `disconnected`: until the next connect. `reconnecting`: the connection was lost, and is retried until it is
 * restored.
 */
export type ConnectionState = 'disconnected' | 'connecting' | 'connected' | 'reconnecting'

/** Owner of a session: its options and callbacks. */
export interface SessionOwner {
  /** Project that the token must belong to; undefined for any. */
  readonly project: string | undefined
  /** Sent with each handshake, if given. */
  readonly contexts: readonly string[] | undefined
  /** Returns the token for the next handshake. */
  token(): string
  /** Handles a rejected token; resolves with true once a new one is set. */
  renewToken(): Promise<boolean>
  /** Handles a server event. `nodeId`: id of the gateway, from the event's envelope. */
  event(type: string, params: Json, nodeId: string | undefined): void
  stateChanged(state: ConnectionState): void
  /**
   * Handles a successful handshake. `fresh`: the server knows no earlier connection, so its calls have ended.
   * `expiresAt` is the token's expiry in milliseconds since the epoch, if the server sent it.
   */
  connected(fresh: boolean, expiresAt: number | undefined): void
  /** Handles the end of the session: by disconnect(), or because the token was rejected. */
  ended(error: ClientError): void
}
