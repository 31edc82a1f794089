/**
 * React hooks for the browser client. Re-exports all of `@trunkline/client`.
 *
 * ```tsx
 * const { client, state, error } = useSignalWire({ token, host: 'gw.example.com' })
 * const { invites } = useIncomingCalls(client)
 * ```
 */
import { browserEnvironment, Client } from '@trunkline/client'
import { signalWireHook } from './use-signalwire.ts'

export * from '@trunkline/client'
export type { IncomingCalls } from './incoming.ts'
export type { SignalWireConnection, SignalWireOptions } from './sign-in.ts'
export { type CallView, useCall } from './use-call.ts'
export { type CallHistoryOptions, type CallHistoryView, useCallHistory } from './use-call-history.ts'
export { useIncomingCalls } from './use-incoming-calls.ts'
export { type PresenceView, usePresence } from './use-presence.ts'
export { type RoomView, useRoom } from './use-room.ts'
export { useRoomTracks } from './use-room-tracks.ts'
export { useStream } from './use-stream.ts'

/**
 * Returns the client of this component: connected after mounting, disconnected on unmounting, and never on a
 * server.
 * Without a token no client connects.
 * A new `token` renews the token of the running connection.
 * New `host`, `project`, `topics` or `contexts` create another client, which ends calls.
 * Functions are always those of the last render; other options apply to the next client.
 */
export const useSignalWire = signalWireHook((options) => new Client(options, browserEnvironment()))
