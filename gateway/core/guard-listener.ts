import type { Log } from './log.ts'

/** Wraps a listener: an error that it throws is logged and does not reach the caller. */
export const guardListener =
  <A extends readonly unknown[]>(listener: (...args: A) => unknown, log: Pick<Log, 'error'>) =>
  (...args: A): void => {
    try {
      listener(...args)
    } catch (error) {
      log.error({ event: 'gateway.listener-failed', err: error }, 'listener failed')
    }
  }
