/**
 * The browser client for React. All of `@trunkline/client` is here too.
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
export { useIncomingCalls } from './use-incoming-calls.ts'
export { useStream } from './use-stream.ts'

/**
 * The client of this component: connected after the component is mounted, disconnected when it is unmounted, and nothing on a server. Without a
 * token nobody is signed in. When options change: `token` renews that of the running connection; `host`, `project`, `topics` or `contexts` make
 * another client, which ends calls; functions are always those of the last render; anything else counts for the next client.
 */
export const useSignalWire = signalWireHook((options) => new Client(options, browserEnvironment()))
