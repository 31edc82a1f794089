import type { Call, CallEvents, CallState, ClientError } from '@trunkline/client'
import { useMemo, useSyncExternalStore } from 'react'

/** What {@link useCall} tells of a call, as the properties of {@link Call} with the same names. */
export interface CallView {
  readonly state: CallState
  readonly active: boolean
  readonly muted: Call['muted']
  readonly reason: ClientError | undefined
  readonly localStream: MediaStream | undefined
  readonly remoteStream: MediaStream
}

const events = ['state', 'mute', 'track', 'destroy'] as const satisfies readonly (keyof CallEvents)[]

const read = (call: Call): CallView => {
  const { state, active, muted, reason, localStream, remoteStream } = call
  return { state, active, muted, reason, localStream, remoteStream }
}

/** The same object as long as nothing in it is another: React compares what it is given. */
const steady = <View extends object>(readView: () => View): (() => View) => {
  let kept: View | undefined
  return () => {
    const next = readView()
    const same = kept && Object.entries(next).every(([name, value]) => kept?.[name as keyof View] === value)
    if (!same) kept = next
    return kept as View
  }
}

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

/** What there is to see of a call, kept up to date; undefined without one. What it does, it is told itself: `call.mute()`, `call.hangup()`. */
export const useCall = ((call: Call | undefined): CallView | undefined => {
  const { subscribe, view } = useMemo(() => watch(call), [call])
  return useSyncExternalStore(subscribe, view, view)
}) as UseCall
