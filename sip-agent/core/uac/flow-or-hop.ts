import type { ChosenBy, Flow, Hop } from '../../transport/types.ts'
import type { Context } from '../context.ts'

/** Path of a request: an open flow, or a hop to which a flow is opened when the hop is tried. */
export type FlowOrHop = Flow | Hop

/** Returns whether a path is a hop rather than a flow. */
export const isHop = (way: FlowOrHop): way is Hop => !('send' in way)

const noFlow = 'the host has no address, or none that a transport is bound for'

/**
 * Returns a closed flow. A request on this flow is built and reported to the application like any other, and
 * then fails.
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
 * Returns the flow of a path, and opens it if the path is a hop. `by`: the party that chose the path. Without
 * a path, or without a transport for it, returns a flow on which every request fails.
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
