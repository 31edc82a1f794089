import type { HandlerContext } from '../handler.ts'

/** A context that is as another one, but for how it is told of steps and faults. */
export const contextWith = (
  context: HandlerContext,
  changes: Partial<Pick<HandlerContext, 'warn' | 'step'>>,
): HandlerContext => ({
  envs: context.envs,
  ...(context.status && { status: context.status }),
  fetchDocument: (request) => context.fetchDocument(request),
  notify: (callback) => context.notify(callback),
  request: (request, signal) => context.request(request, signal),
  warn: (fault) => context.warn(fault),
  step: (step) => context.step(step),
  room: (name) => context.room(name),
  isOwnHost: (host) => context.isOwnHost(host),
  now: () => context.now(),
  ...changes,
})

/** A context whose warnings go nowhere: for a document that runs again and again, and whose faults are in the log already. */
export const quiet = (context: HandlerContext): HandlerContext => contextWith(context, { warn: () => {} })
