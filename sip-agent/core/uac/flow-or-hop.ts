import type { ChosenBy, Flow, Hop } from '../../transport/types.ts'
import type { Context } from '../context.ts'

/** Path of a request: an open flow, or a hop whose flow is opened when it is tried. */
export type FlowOrHop = Flow | Hop

/** Returns whether a path is a hop without a flow. */
export const isHop = (way: FlowOrHop): way is Hop => !('send' in way)

const noFlow = 'the host has no address, or none that a transport is bound for'

/**
 * Returns a closed flow. A request for it is built and returned to its application as usual, and then fails.
 */
const deadFlow = (context: Context): Flow => {
  const local = context.transports.addresses[0] ?? { protocol: 'udp', address: '', port: 0 }
  return {
    remote: { ...local, address: '', port: 0 },
    local,
    isReliable: true,
    isClosed: true,
    problem: noFlow,
    send: (_bytes, failed) => {
      if (failed) queueMicrotask(() => failed(noFlow))
    },
  }
}

/**
 * Opens the flow of a path. `by`: the origin of that path. Returns a flow that always fails if there is no
 * path, or no transport for it.
 */
export const openFlow = (way: FlowOrHop | undefined, context: Context, by: ChosenBy): Flow => {
  if (way && !isHop(way)) return way
  return (way && context.transports.flow(way, by)) ?? deadFlow(context)
}

/** Returns whether a path leads to one of the agent's own addresses. */
export const isOwn = (way: FlowOrHop, context: Context): boolean => {
  const { protocol, address, port } = isHop(way) ? way : way.remote
  return context.transports.isOwn(protocol, address, port)
}
