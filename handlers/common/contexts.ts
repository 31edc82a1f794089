import type { HandlerContext } from '../handler.ts'

/** Returns a copy of a context that handles steps and faults differently. */
export const contextWith = (
  context: HandlerContext,
  changes: Partial<Pick<HandlerContext, 'warn' | 'step'>>,
): HandlerContext => ({
  envs: context.envs,
  ...(context.status && { status: context.status }),
  fetchDocument: (request) => context.fetchDocument(request),
  notify: (callback) => context.notify(callback),
  request: (request, signal) => context.request(request, signal),
  openSocket: (request, listener) => context.openSocket(request, listener),
  warn: (fault) => context.warn(fault),
  step: (step) => context.step(step),
  isOwnHost: (host) => context.isOwnHost(host),
  now: () => context.now(),
  ...changes,
})

/**
 * Returns a copy of a context without warnings, for a repeated document whose faults are in the log already.
 */
export const withoutWarnings = (context: HandlerContext): HandlerContext =>
  contextWith(context, { warn: () => {} })
