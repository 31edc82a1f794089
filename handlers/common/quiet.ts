import type { HandlerContext } from '../handler.ts'

/** A context whose warnings go nowhere: for a document that runs again and again, and whose faults are in the log already. */
export const quiet = (context: HandlerContext): HandlerContext => ({
  envs: context.envs,
  fetchDocument: (request) => context.fetchDocument(request),
  notify: (callback) => context.notify(callback),
  request: (request, signal) => context.request(request, signal),
  step: (step) => context.step(step),
  room: (name) => context.room(name),
  isOwnHost: (host) => context.isOwnHost(host),
  now: () => context.now(),
  warn: () => {},
})
