import { type Json, record, text } from './frames.ts'

/** What a client presents when it connects. */
export interface Greeting {
  readonly token: string
  readonly contexts: readonly string[] | undefined
  /** Of the session to go on with. */
  readonly protocol: string | undefined
  readonly authorizationState: string | undefined
}

/** What the server answers. */
export interface Welcome {
  /** Project of the token. */
  readonly project: string | undefined
  /** The server's name for the session. */
  readonly protocol: string | undefined
  /** TURN servers; undefined where it names none. */
  readonly iceServers: readonly RTCIceServer[] | undefined
  /** End of the token, in milliseconds since the epoch. */
  readonly expiresAt: number | undefined
}

/** Params of `signalwire.connect`. */
export const greetingParams = ({ token, contexts, protocol, authorizationState }: Greeting): Json => ({
  version: { major: 4, minor: 0, revision: 0 },
  event_acks: true,
  agent: '@trunkline/client/0.1.0',
  authentication: { jwt_token: token },
  ...(contexts && { contexts }),
  ...(protocol && { protocol }),
  ...(protocol && authorizationState && { authorization_state: authorizationState }),
})

/** Reads the result of `signalwire.connect`, and what `signalwire.reauthenticate` repeats of it. */
export const welcomeOf = (result: Json): Welcome => {
  const authorization = record(result.authorization)
  const { ice_servers: servers } = result
  const seconds = record(authorization.fabric_subscriber).expires_at
  return {
    project: text(authorization.project_id),
    protocol: text(result.protocol),
    iceServers: Array.isArray(servers) ? (servers as RTCIceServer[]) : undefined,
    expiresAt: typeof seconds === 'number' && seconds > 0 ? seconds * 1000 : undefined,
  }
}
