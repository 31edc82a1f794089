import { availableParallelism } from 'node:os'
import { addonFailure, loadAddon } from './sockets-open.ts'

/** Priority of a media thread: real-time (`SCHED_RR` of sched(7)), or normal with the reason. */
export type ThreadPriority =
  | { readonly isRealtime: true }
  | { readonly isRealtime: false; readonly reason: string }

/**
 * Returns why media threads must keep the normal priority: threads with real-time priority could take every
 * core from SIP and HTTP. Undefined if they need not. `threads`: their number.
 */
export const realtimeObstacle = (threads: number, cores = availableParallelism()): string | undefined =>
  threads < cores ? undefined : `fewer media threads than cores are required, not ${threads} of ${cores}`

/** Gives this thread real-time priority, and returns the priority that it has then. */
export const enterRealtime = (): ThreadPriority => tried(() => loadAddon().enterRealtime())

/**
 * Returns the priority that media threads get if this user starts the gateway with the limits of this
 * process. The calling thread has real-time priority for a moment. `threads`: number of media threads.
 */
export const checkRealtime = (threads: number): ThreadPriority => {
  const reason = realtimeObstacle(threads)
  return reason === undefined ? tried(() => loadAddon().checkRealtime()) : { isRealtime: false, reason }
}

const tried = (enter: () => void): ThreadPriority => {
  try {
    enter()
    return { isRealtime: true }
  } catch (error) {
    return { isRealtime: false, reason: addonFailure(error) }
  }
}
