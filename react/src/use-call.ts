import type { Call, CallEvents } from '@trunkline/client'
import { useMemo, useSyncExternalStore } from 'react'

const shown = [
  ...(['state', 'active', 'reason', 'muted', 'video', 'localStream', 'remoteStream'] as const),
  ...(['members', 'selfMember', 'capabilities', 'currentLayout'] as const),
] as const satisfies readonly (keyof Call)[]

/** What {@link useCall} tells: the properties of {@link Call} with these names. */
export type CallView = Pick<Call, (typeof shown)[number]>

/** After which of them something of the view is another; `memberList.updated` follows every change of members but these. */
const events = [
  ...(['state', 'mute', 'video', 'track', 'microphone.updated', 'camera.updated', 'destroy'] as const),
  ...(['call.joined', 'call.left', 'memberList.updated', 'member.talking', 'layout.changed'] as const),
] as const satisfies readonly (keyof CallEvents)[]

const read = (call: Call): CallView =>
  Object.fromEntries(shown.map((name) => [name, call[name]])) as unknown as CallView

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
