import type { Log } from '../log.ts'

/** A handler's listener whose failure is logged and harms nobody else. */
export const guarded =
  <A extends readonly unknown[]>(listener: (...args: A) => unknown, log: Pick<Log, 'error'>) =>
  (...args: A): void => {
    try {
      listener(...args)
    } catch (error) {
      log.error({ err: error }, 'a listener of a handler failed')
    }
  }
