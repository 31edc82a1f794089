import type { Hop } from '../../route/types.ts'
import type { ChosenBy, Flow } from '../../transport/types.ts'
import type { Context } from '../context.ts'

/** A way that a request may take: open already, or to be opened when its turn comes. */
export type FlowOrHop = Flow | Hop

/** True for a place that is still to be reached. */
export const isHop = (way: FlowOrHop): way is Hop => !('send' in way)

const noFlow = 'the host has no address, or none that a transport is bound for'

/** A flow that leads nowhere: the request is made, shown to its application, and then fails. */
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

/** Opens a way, which `by` chose. Where there is none, or no transport for it, the flow fails whatever is sent. */
export const openFlow = (way: FlowOrHop | undefined, context: Context, by: ChosenBy): Flow => {
  if (way && !isHop(way)) return way
  return (way && context.transports.flow(way, by)) ?? deadFlow(context)
}

/** True for one of the agent's own addresses. */
export const isOwn = (way: FlowOrHop, context: Context): boolean => {
  const { protocol, address, port } = isHop(way) ? way : way.remote
  return context.transports.isOwn(protocol, address, port)
}
