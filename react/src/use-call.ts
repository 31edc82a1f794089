import type { Call, CallEvents } from '@trunkline/client'
import { useMemo, useSyncExternalStore } from 'react'
import { steady } from './steady.ts'

const watched = [
  'state',
  'active',
  'reason',
  'muted',
  'video',
  'localStream',
  'remoteStream',
  'members',
  'selfMember',
  'capabilities',
  'currentLayout',
] as const satisfies readonly (keyof Call)[]

/** Result of {@link useCall}: the properties of {@link Call} with these names. */
export type CallView = Pick<Call, (typeof watched)[number]>

/** Events that can change the view; `memberList.updated` follows every change of members except these. */
const events = [
  'state',
  'mute',
  'video',
  'track',
  'microphone.updated',
  'camera.updated',
  'destroy',
  'call.joined',
  'call.left',
  'memberList.updated',
  'member.talking',
  'layout.changed',
] as const satisfies readonly (keyof CallEvents)[]

const read = (call: Call): CallView =>
  Object.fromEntries(watched.map((name) => [name, call[name]])) as unknown as CallView

const none = (): undefined => undefined

const watch = (call: Call | undefined) => ({
  view: call ? steady(() => read(call)) : none,
  subscribe: (listener: () => void) => {
    for (const event of events) call?.on(event, listener)
    return () => {
      for (const event of events) call?.off(event, listener)
    }
  },
})

interface UseCall {
  (call: Call): CallView
  (call: Call | undefined): CallView | undefined
}

/**
 * Returns the current state of a call; undefined without a call. Commands go to the call itself:
 * `call.mute()`, `call.hangup()`.
 */
export const useCall = ((call: Call | undefined): CallView | undefined => {
  const { subscribe, view } = useMemo(() => watch(call), [call])
  return useSyncExternalStore(subscribe, view, view)
}) as UseCall
